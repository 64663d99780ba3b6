// OpenQASM files from a random state on the CPU: as planned and gate by gate by the same code, in turns, so that a busy
// machine is busy for both; and what a run's clock counts beside sweeps. Prints a qsim.table/1 document.
// Run: qsim_against_naive FILE.qasm... [--rounds N]
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "benchmarks/table_document.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "qsim/target.h"
#include "simulator/simulator.h"

namespace {

using namespace qsim;

/// Seconds of everything around the sweeps that a run's clock counts: as many sweeps that compute nothing. That backend
/// has no random states; without known zeros a start from |0...0> has the same sweeps.
double overhead_seconds(const Circuit& circuit, Precision precision) {
  RunOptions options;
  options.backend = BackendKind::kNull;
  options.precision = precision;
  options.known_zeros = false;
  options.verify = Verify::kOff;  // there is no norm to take
  options.warm_ups = 10;
  options.repeats = 101;
  BenchTimes times;
  times.seconds = simulate(circuit, options).time.simulate_repeats;
  return times.median();
}

/// One file as `qsim bench` measures it, checks included; VerificationError when one failed.
BenchRow planned_row(const std::string& file, Precision precision) {
  BenchRequest request;
  request.names = {file};
  request.precisions = {precision};
  request.starts = {Start::kRandom};
  request.run.backend = BackendKind::kCpu;
  const BenchReport report = run_bench(request);
  const BenchRow& row = report.rows.front();
  if (row.status != BenchStatus::kOk) throw VerificationError(file + ": " + report.verdict() + " " + row.reason);
  return row;
}

/// The same circuit with a sweep for every gate.
Result naive_run(const Circuit& circuit, Precision precision) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  options.precision = precision;
  options.start = Start::kRandom;
  options.strategy = Strategy::kNaive;
  options.repeats = 2;
  options.repeat_seconds = 5;
  return simulate(circuit, options);
}

std::string seconds_as_ms(double seconds) { return table::number(1e3 * seconds); }

void measure(const std::string& file, Precision precision, int rounds, table::Document& document) {
  const Circuit circuit = parse_qasm_file(file).circuit;
  BenchTimes planned, naive;
  std::uint64_t sweeps = 0, naive_sweeps = 0;
  for (int round = 0; round < rounds; ++round) {
    const BenchRow ours = planned_row(file, precision);
    planned.seconds.insert(planned.seconds.end(), ours.simulate.seconds.begin(), ours.simulate.seconds.end());
    const Result plain = naive_run(circuit, precision);
    const std::vector<double>& seconds = plain.time.simulate_repeats;
    naive.seconds.insert(naive.seconds.end(), seconds.begin(), seconds.end());
    sweeps = ours.work.sweeps;
    naive_sweeps = plain.work.sweeps;
  }
  document.row({{"circuit", table::quoted(file.substr(file.find_last_of('/') + 1))},
                {"qubits", std::to_string(circuit.qubits())},
                {"gates", std::to_string(circuit.operation_count())},
                {"precision", table::quoted(precision == Precision::kSingle ? "single" : "double")},
                {"sweeps", std::to_string(sweeps)},
                {"naive_sweeps", std::to_string(naive_sweeps)},
                {"ms", seconds_as_ms(planned.median())},
                {"fastest_ms", seconds_as_ms(planned.minimum())},
                {"naive_ms", seconds_as_ms(naive.median())},
                {"naive_fastest_ms", seconds_as_ms(naive.minimum())},
                {"overhead_ms", seconds_as_ms(overhead_seconds(circuit, precision))}});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::string> files;
    int rounds = 3;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--rounds" && i + 1 < argc) {
        rounds = std::max(1, std::atoi(argv[++i]));
      } else {
        files.push_back(word);
      }
    }
    if (files.empty()) throw UsageError("no circuits", "qsim_against_naive FILE.qasm... [--rounds N]");
    table::Document document("naive");
    for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
      for (const std::string& file : files) measure(file, precision, rounds, document);
    }
    document.print();
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.code());
  }
}
