// Benchmarks that check themselves: what `qsim bench` runs, measures and compares (`qsim.bench/1`).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ranks/communicator.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "simulator/simulator.h"

namespace qsim {

struct BenchRequest {
  /// Generators, `asc:NAME` (the ASC20-21 challenge) and OpenQASM files; nothing at all is the default suite.
  std::vector<std::string> names;
  std::vector<std::string> gate_files;  // the challenge's lists: `op qubits... [angles]` a line
  std::string pauli_file;               // Pauli sum read out after every gate list; a dense string's first letter is
                                        // qubit 0 there, as in the challenge
  std::string expected_file;            // the values of coefficient x expectation, one a line, for pauli_file
  std::vector<std::uint32_t> qubits;    // sizes of generators; empty: 24 on a CPU, 28 on a GPU
  std::uint32_t depth = 0;              // 0: the family's own
  std::uint64_t seed = 1;               // of seeded families
  std::vector<int> ranks;               // thread ranks or GPUs; empty: 1, or the communicator's
  bool weak = false;                    // a generator's size grows by one qubit with every doubling of the ranks
  std::vector<Precision> precisions = {Precision::kDouble};
  std::vector<Start> starts = {Start::kZero};
  std::uint32_t warm_ups = 1, repeats = 5;
  double budget_seconds = 5;     // no further repeat is begun after that; at least one is made
  RunOptions run;                // backend, communicator, exchange, threads, ... of every run
  std::string workloads_folder;  // holds asc/; empty: looked for as docs/testing.md says
  /// Called on rank 0 after every row.
  std::function<void(const struct BenchRow&)> on_row;
};

enum class BenchStatus : std::uint8_t { kOk, kFailed, kSkipped };

/// What was compared with what is known of the circuit.
struct BenchCheck {
  std::string name;  // "two amplitudes", "closed form", "circuit then inverse", "Porter-Thomas", "reference", "norm"
  bool passed = false;
  std::string detail;  // the largest difference and what is allowed
};

/// Median, smallest and largest of some seconds.
struct BenchTimes {
  std::vector<double> seconds;
  double median() const;
  double minimum() const;
  double maximum() const;
  /// (maximum - minimum) / median
  double spread() const;
};

/// One circuit, start state, precision and number of ranks.
struct BenchRow {
  std::string name, circuit_hash;  // a file's name without its folder; the hash names the operations, wherever from
  std::uint32_t qubits = 0, depth = 0;
  std::uint64_t operations = 0;
  Start start = Start::kZero;
  Precision precision = Precision::kDouble;
  int ranks = 1;
  BenchStatus status = BenchStatus::kSkipped;
  std::string reason;  // of a skipped or failed row
  BenchTimes simulate, read_out;
  bool reads_out = false;  // marginals or expectation values belong to the workload
  std::vector<BenchCheck> checks;
  std::vector<std::string> unchecked;  // what could not be checked, and why
  RunSummary run;
  WorkSummary work;
  Times time;  // of the last repeat
  MemorySummary memory;
  std::optional<double> copy_gbps, link_gbps;  // measured ceilings, a rank
  /// Part of simulate's seconds that is not the device's work: clocks, barriers, counting. Measured on a backend that
  /// computes nothing; absent on several ranks and for circuits that take long to plan.
  std::optional<double> overhead_seconds;
  /// Bytes swept (exchanged) a second by a rank over the measured rate; simulate's median counts.
  std::optional<double> memory_fraction() const;
  std::optional<double> link_fraction() const;
  double memory_gbps() const;
  double link_rate_gbps() const;
};

/// A row beside the same row of an earlier run.
struct BenchComparison {
  std::string baseline_file, baseline_machine, baseline_date;
  std::optional<double> max_ratio;
  struct Pair {
    std::size_t row = 0;
    double baseline_seconds = 0, ratio = 0;
    bool too_slow = false;
  };
  std::vector<Pair> pairs;
};

struct BenchReport {
  std::string date;     // ISO 8601, UTC
  std::string machine;  // host and device, in words
  EnvironmentSummary environment;
  std::uint32_t warm_ups = 0, repeats = 0;
  std::vector<BenchRow> rows;
  std::optional<BenchComparison> comparison;
  std::optional<Failure> error;

  /// 8 when a check failed or a row is slower than allowed, 5 when nothing could run, else 0.
  ExitCode exit_code() const;
  /// One line: what ran, whether every check passed.
  std::string verdict() const;
};

/// Runs the request; collective where its runs have a communicator (the launcher's ranks), else every rank count gets
/// threads or GPUs of this process. UsageError for names and numbers that mean nothing; what does not fit is a skipped
/// row.
BenchReport run_bench(const BenchRequest& request);

/// Compares with an earlier `qsim.bench/1` file. FileError when it cannot be read; UsageError when it is of another
/// schema, has no row of these circuits, or another circuit under the same name.
void compare_bench(BenchReport& report, const std::string& file, std::optional<double> max_ratio);

/// Host, processor and GPUs, as documents name the machine.
std::string machine_words(const EnvironmentSummary& environment);

/// A circuit from the challenge's list format; FileError, CircuitError with the line.
Circuit read_gate_list(const std::string& path);

std::string bench_json(const BenchReport& report);
/// The table for a terminal, and below it skipped rows, failed checks, the comparison and the verdict.
std::string bench_text(const BenchReport& report, std::size_t columns = 0);
/// Time against ranks, and the share of the measured memory and link rates, as a drawing.
std::string bench_svg(const BenchReport& report);

}  // namespace qsim
