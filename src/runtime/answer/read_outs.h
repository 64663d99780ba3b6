// The table of read-outs, a row each: what may be asked, how it is read from states, what that takes, and how it is
// shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bits.h"
#include "classical/variables.h"
#include "document/show/answers.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "runtime/answer/comparison.h"
#include "runtime/distributed_state.h"
#include "runtime/exchange/exchange_pipeline.h"
#include "runtime/read_out/answers.h"
#include "runtime/read_out/classical_bits.h"
#include "runtime/read_out/sampling.h"

namespace qsim {

/// Where a branch of a program has ended.
struct BranchEnd {
  DistributedState& state;
  ExchangePipeline& exchanges;
  const Circuit& circuit;
  bool measures = false;  // the circuit does
  const VariableReader& variables;
  const Variables& memory;
  const ClassicalBits bits;  // before the terminal measurements
  const TerminalMeasurements& terminal;
  double weight = 1, norm = 1;           // of the branch; total probability of its scaled state
  double drift = 0;                      // what rounding may have done to that
  std::uint64_t shots = 0;               // that ended here
  std::span<const ShotList> lists = {};  // which
  double factor() const { return weight / norm; }
};

/// Where read-outs work.
struct ReadOutPlace {
  const Circuit& circuit;
  const PlannedCircuit& program;
  std::uint32_t qubits = 0, rank_bits = 0;
  Precision precision = Precision::kDouble;
  int threads = 1;      // of a rank
  bool on_host = true;  // sums and candidates are the CPU backend's, in host memory
};

/// Read-outs one after the other in a rank's host memory.
class HostAccount {
 public:
  /// One that holds `working` bytes at most besides what is kept, and leaves `answer` of them.
  void read(const std::string& name, std::uint64_t working, std::uint64_t answer) {
    if (const std::uint64_t held = saturating_add(kept_, working); held > bytes_) {
      bytes_ = held;
      of_ = name;
    }
    kept_ = saturating_add(kept_, answer);
  }
  std::uint64_t bytes() const { return bytes_; }  // the most at a time
  const std::string& of() const { return of_; }   // the read-out during which that is

 private:
  std::uint64_t kept_ = 0, bytes_ = 0;
  std::string of_;
};

/// What answers it.
enum class Answered : std::uint8_t {
  kByShots,   // the branches that they fall on
  kExactly,   // every branch, however unlikely
  kAtTheEnd,  // the one final state
  kByAFile,   // the same, written
};

/// How an answer is shown, and which of them it is in the document and in the text.
struct ShownAnswer {
  bool (*computed)(const Results&);
  int json_place;
  void (*json)(JsonStream&, const Result&);
  int text_place;
  void (*text)(const Result&, const ReportScope&, std::vector<Section>&);
};

/// A row of the table; functions that it does without are null.
struct ReadOut {
  const char* name;      // of its member of the results
  const char* argument;  // that asks for it
  Answered answered;
  ShownAnswer shown;
  bool (*wanted)(const ReadOuts&);
  /// Adds what a branch says.
  void (*read)(const BranchEnd&, const ReadOuts&, Answers&);
  /// Reads the state of the last branch.
  void (*finish)(DistributedState&, ExchangePipeline&, const ReadOuts&, Results&) = nullptr;
  /// What it takes.
  void (*hold)(const ReadOuts&, const ReadOutPlace&, HostAccount&) = nullptr;
  /// UsageError where no circuit like this can be asked so.
  void (*require)(const ReadOuts&, const Circuit&) = nullptr;
  /// Holds the answers of two walks against each other.
  void (*compare)(const Comparison&, const Results& first, const Results& second) = nullptr;
};

/// In the order in which they are read.
std::span<const ReadOut> read_out_table();

/// UsageError or UnsupportedError for what `circuit` cannot be asked.
void require_read_outs(const ReadOuts& asked, const Circuit& circuit);
/// Ends what branches add up, when the last one has been read.
void end_sums(Answers& answers);
/// Ends the answers of a run: those by files, or the others.
void finish_read_outs(DistributedState& state, ExchangePipeline& exchanges, const ReadOuts& asked, bool files,
                      Results& results);
/// Of outcomes that cannot be known before the run, as many are counted as a uniform state would give. Saturates.
HostAccount read_out_account(const ReadOuts& asked, const ReadOutPlace& place);

}  // namespace qsim
