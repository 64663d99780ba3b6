// What a name of `qsim bench` stands for: a circuit, and what is known of the state that it makes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "qsim/circuit.h"
#include "qsim/pauli.h"

namespace qsim::bench {

/// Amplitude at a logical index.
using ClosedForm = std::function<Complex(Index)>;

/// Published values, printed with 6 decimals.
struct Reference {
  std::vector<double> marginals;    // P(qubit = 1)
  std::vector<Complex> amplitudes;  // of indices 0, 1, ...
  double tolerance = 0.51e-6;       // more where the angles that made them were printed with few digits
};

/// A circuit with what is known of its state when it starts from |0...0>.
struct Workload {
  std::string name;
  Circuit circuit;
  ClosedForm amplitude;        // empty: no closed form
  std::vector<Index> indices;  // where it is compared (and, with `statistics`, what is sampled)
  // Amplitudes look Gaussian (Porter-Thomas) but for the second moment, which this shallow circuit may have above 2.
  std::optional<double> statistics;
  std::optional<Circuit> companion;  // the same circuit from a basis state, whose phases show what |0...0> hides
  ClosedForm companion_amplitude;
  std::optional<Reference> reference;
  std::optional<PauliSum> observable;    // read out after the circuit
  std::vector<double> observable_terms;  // published coefficient x expectation, 6 decimals
  std::vector<std::string> unchecked;
};

/// One thing to benchmark, before its size is chosen.
struct Item {
  enum class Kind : std::uint8_t { kFamily, kChallenge, kFile, kGateList } kind = Kind::kFamily;
  std::string name;  // family, challenge name or path
  bool sized() const { return kind == Kind::kFamily; }
};

/// Checks the names of `request`; UsageError with the nearest name.
std::vector<Item> resolve_items(const BenchRequest& request);
/// The folder that holds asc/: `given`, $QSIM_SHARED/workloads, or ../shared/workloads of the working folder; empty
/// when there is none.
std::string workloads_folder(const std::string& given);

/// Makes the circuit; `qubits` counts for families alone. Throws UsageError and what readers of files throw.
Workload make_workload(const Item& item, std::uint32_t qubits, const BenchRequest& request);

/// Names the operations of `circuit`: 16 hex digits.
std::string circuit_hash(const Circuit& circuit);

}  // namespace qsim::bench
