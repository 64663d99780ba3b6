// The command line's frame: picks the command, keeps ranks together, turns failures into messages and exit codes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ranks/communicator.h"
#include "base/ranks/failure.h"
#include "cli/io/output.h"
#include "document/result.h"

namespace qsim::cli {

/// A failure that every rank knows: thrown by Context::together on all of them.
struct AgreedFailure {
  Failure failure;
};

/// A file that a flag asked for beside the output.
struct FurtherFile {
  std::string path, text;
};

/// What a command gives back: text for standard output, or for `file` when one was named.
struct Output {
  std::string text, file;
  int exit_code = 0;                      // of a command that did its work and reports what it found
  TextSource source = {};                 // instead of `text`, where that may be long
  bool prose = false;                     // for a person: a terminal's width and colours count
  std::vector<FurtherFile> further = {};  // written first
};

class Flags;

/// What a command runs in.
class Context {
 public:
  /// CommunicatorError when the launcher and this build do not go together.
  explicit Context(const Streams& streams);
  /// The MPI ranks, or null when no launcher started this process.
  const std::shared_ptr<Communicator>& communicator() const { return communicator_; }
  bool launched() const { return communicator_ != nullptr; }
  const Streams& streams() const { return streams_; }
  /// FileError where what the command makes has nowhere to go: said on rank 0, which writes, before a long run.
  void require_outputs(const Flags& flags);
  double start_seconds() const { return start_seconds_; }  // spent on joining the launcher's other ranks
  bool root() const { return communicator_ == nullptr || communicator_->rank() == 0; }
  bool may_leave_kernels = false;  // a run need not wait for what it asked the compiler for

  /// Runs `work` on this rank; if it fails on any rank, throws AgreedFailure on all (the worst code, then the lowest
  /// rank, wins).
  void together(const std::function<void()>& work);
  /// The text of `data` of rank 0 on every rank.
  void broadcast(std::string& data);

  // Set by commands as soon as they are known, so that a failure can be reported in the form that was asked for.
  bool json = false;
  bool outputs_refused = false;  // files cannot be written: nor is a failure's document to --output
  std::string output_file;
  std::vector<std::string> outputs;                          // every file that is to be made
  Result partial;                                            // what is known before the run
  std::string (*failure_document)(const Result&) = nullptr;  // JSON form of a failed command

 private:
  const Streams& streams_;
  std::shared_ptr<Communicator> communicator_;
  double start_seconds_ = 0;
};

/// A command: `arguments` are what follows its name.
using CommandFunction = Output (*)(std::span<const std::string> arguments, Context& context);

Output command_run(std::span<const std::string> arguments, Context& context);
Output command_plan(std::span<const std::string> arguments, Context& context);
Output command_bench(std::span<const std::string> arguments, Context& context);
Output command_gram(std::span<const std::string> arguments, Context& context);
Output command_draw(std::span<const std::string> arguments, Context& context);
Output command_convert(std::span<const std::string> arguments, Context& context);
Output command_gen(std::span<const std::string> arguments, Context& context);
Output command_info(std::span<const std::string> arguments, Context& context);

/// The whole program; returns the exit code. Where it is the `whole_process`, it may end that.
int run_command_line(const std::vector<std::string>& arguments, bool whole_process = false);

}  // namespace qsim::cli
