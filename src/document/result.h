// What a run returns: the value behind `qsim.result/1` (docs/json.md names the keys).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ranks/failure.h"
#include "classical/control.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/session.h"
#include "qsim/types.h"

namespace qsim {

struct CircuitSummary {
  std::string file, xxh3, language;
  std::uint32_t qubits = 0, clbits = 0;
  std::uint64_t operations = 0, depth = 0;
  std::vector<Register> qregs, cregs;
};

/// Sizes, depth and registers; the names of file and language are the caller's.
CircuitSummary summarize(const Circuit& circuit);

struct RunSummary {
  std::string backend, device, exchange;
  std::string reason;  // why this backend and this exchange, one line
  Precision precision = Precision::kDouble;
  int ranks = 1, threads = 1;
  std::uint64_t seed = 0;
  bool seed_given = false;
  std::uint64_t shots = 0;
};

struct QubitProbabilities {
  std::vector<Qubit> qubits;  // first = least significant bit of the position in `values`
  std::vector<double> values;
};

struct PauliTermValue {
  std::string pauli;  // sparse form, "Z0 X3"
  double coefficient = 0;
  double value = 0;  // expectation of the string alone
};

struct ExpectationValue {
  std::string name;  // as given on the command line
  double value = 0;  // sum of coefficient * value
  std::vector<PauliTermValue> terms;
};

struct OutputFile {
  std::string kind, path, dtype;
  std::vector<std::uint64_t> shape;
};

/// Values of all variables of a program that results hold by value, one after the other.
using VariableValues = std::vector<Scalar>;
struct VariableOrder {
  bool operator()(const VariableValues& a, const VariableValues& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](const Scalar& x, const Scalar& y) { return x.word < y.word; });
  }
};

/// The variables of a program of OpenQASM 3 when it ends: those declared as output; without any, all classical ones of
/// global scope.
struct VariableResults {
  std::vector<FlowOutput> variables;  // what the values belong to; their own values mean nothing here
  std::optional<std::map<VariableValues, std::uint64_t, VariableOrder>> counts;
  std::optional<std::map<VariableValues, double, VariableOrder>> distribution;  // of a run without measurements always
};

/// Not computed = nullopt.
struct Results {
  std::optional<Outcomes<std::uint64_t>> counts;
  std::optional<Outcomes<double>> distribution;
  std::optional<VariableResults> variables;  // nullopt where the classical bits say all
  std::optional<std::vector<QubitProbabilities>> probabilities;
  std::optional<std::vector<double>> marginals;  // P(qubit = 1)
  std::optional<std::vector<AmplitudeEntry>> amplitudes;
  std::optional<std::vector<ExpectationValue>> expectation;
  std::optional<std::vector<OutputFile>> files;
};

struct Verification {
  std::optional<double> norm;
  std::uint64_t gates_planned = 0, gates_applied = 0;
  std::string status = "off";  // "off", "ok", "failed"
};

struct MemorySummary {
  std::uint64_t predicted_bytes_per_rank = 0, state_bytes = 0;
  std::uint64_t read_out_bytes_per_rank = 0;  // predicted of answers and their reading, in host memory
  std::vector<std::uint64_t> peak_bytes_per_rank;
};

struct Times {  // seconds
  double start = 0, parse = 0, plan = 0, init = 0, simulate = 0, exchange = 0, read_out = 0, output = 0, total = 0;
  std::vector<double> simulate_repeats, read_out_repeats;  // every timed repeat, in order; the last is also above
};

struct WorkSummary {
  std::uint64_t sweeps = 0, exchanges = 0, bytes_swept_per_rank = 0, bytes_exchanged_per_rank = 0;
  double memory_gbps = 0, link_gbps = 0;
  bool known_zeros = true;
};

struct EnvironmentSummary {
  std::string version, commit, compiler, cuda, driver, mpi, nccl, host;
  std::vector<std::string> devices;
};

/// Pictures of a run, as SVG; a text is empty where there is nothing to draw.
struct RunPictures {
  std::string plan, time_line, sweeps;
};

struct Result {
  CircuitSummary circuit;
  RunSummary run;
  Results results;
  Verification verification;
  MemorySummary memory;
  Times time;
  WorkSummary work;
  EnvironmentSummary environment;
  std::optional<RunPictures> pictures;  // in no document
  std::vector<std::string> warnings;
  std::optional<Failure> error;
};

}  // namespace qsim
