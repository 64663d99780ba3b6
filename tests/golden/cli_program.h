// Runs the qsim program (or a launcher of it) as a child and collects what it printed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace qsim::test {

/// How a child's standard output is connected.
enum class StdoutTo { kPipe, kClosed, kFullDisk, kClosedPipe };

struct ProgramRun {
  int exit_code = -1;  // 128 + signal when one ended it; -1 when it took longer than the limit and was ended
  std::string out, err;
};

/// Runs `command` with `input` as standard input; ended after 60 s.
ProgramRun run_command(const std::vector<std::string>& command, const std::string& input = "",
                       StdoutTo stdout_to = StdoutTo::kPipe);
/// Runs qsim with `arguments`.
ProgramRun run_qsim(std::vector<std::string> arguments, const std::string& input = "",
                    StdoutTo stdout_to = StdoutTo::kPipe);
/// The words of a command that starts qsim as `ranks` MPI processes; check mpi_is_here() first.
std::vector<std::string> mpi_command(int ranks, const std::vector<std::string>& arguments);
/// Runs it.
ProgramRun run_mpi(int ranks, const std::vector<std::string>& arguments, const std::string& input = "");
bool mpi_is_here();

/// A folder of its own for a test, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// Path of `name` in it, with `text` written there when some is given.
  std::string file(const std::string& name, const std::string& text = "") const;
  std::string path() const { return path_; }
  /// How many files are in it.
  std::size_t count() const;

 private:
  std::string path_;
};

/// The process is in that folder meanwhile: values without a folder name files there.
class InFolder {
 public:
  explicit InFolder(const std::string& path);
  ~InFolder();
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  std::filesystem::path before_;
};

std::string read_text(const std::string& path);

}  // namespace qsim::test
