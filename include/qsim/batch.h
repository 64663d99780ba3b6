// Many small circuits of one shape, and states compared with states.
#pragma once

#include "qsim/session.h"

namespace QSIM_PUBLIC qsim {

constexpr std::uint32_t kMaxBatchQubits = 20;

struct BatchOptions {
  Target target = {};  // one device: its backend, precision, threads, instruction set and at most one of gpu_ids
  bool marginals = true;
  std::uint32_t shots = 0;  // samples of all qubits an evaluation
  std::uint64_t seed = 1;
  bool states = false;
  /// Called by the calling thread, at most ten times a second. What it throws ends the batch.
  std::function<void(const Progress&)> progress = {};
};

/// Evaluation e's values stand together, in the order of the evaluations.
struct BatchResult {
  std::uint32_t qubits = 0;
  std::size_t evaluations = 0;
  std::vector<double> marginals;        // [e * qubits + q] = P(qubit q = 1)
  std::vector<std::uint32_t> outcomes;  // [e * shots + s]: qubit 0 is the least significant bit
  std::vector<Complex> states;          // [e << qubits | index]
  BackendKind backend = BackendKind::kAuto;
  double seconds = 0;  // from values to answers, both in host memory
};

/// Evaluates `circuit`, of at most kMaxBatchQubits qubits, from |0...0> with sets of values of its parameters, one
/// behind the other (without parameters `evaluations` says how many times; 0: once). Evaluation e's draw s depends on
/// (seed, e, s) alone. Measurements at the end are left out; open may be the angles of any gate. The circuit is planned
/// once a call, before `seconds` begin. UsageError where the values are no whole number of sets, where an angle is not
/// finite with them and for targets of several ranks; UnsupportedError, also for a matrix on more than 3 qubits that
/// the planner finds no smaller gates for.
BatchResult run_batch(const Circuit& circuit, std::span<const double> values, const BatchOptions& options,
                      std::size_t evaluations = 0);

/// Inner products of states with states.
struct GramResult {
  std::size_t states = 0;
  std::uint32_t qubits = 0;
  std::vector<Complex> gram;  // [i * states + j] = <i|j>
  BackendKind backend = BackendKind::kAuto;
  double prepare_seconds = 0, product_seconds = 0;

  Complex at(std::size_t i, std::size_t j) const { return gram[i * states + j]; }
  double fidelity(std::size_t i, std::size_t j) const;   // |<i|j>|^2
  double euclidean(std::size_t i, std::size_t j) const;  // || |i> - |j> ||
  double cosine(std::size_t i, std::size_t j) const;     // 1 - Re <i|j>
  double trace(std::size_t i, std::size_t j) const;      // sqrt(1 - |<i|j>|^2), the trace distance of pure states
};
/// The states that `circuits` (all of one number of qubits) prepare from |0...0> on one device. All states are held at
/// once: CapacityError says what would fit. UsageError, UnsupportedError for circuits that have no single final state.
GramResult gram(std::span<const Circuit> circuits, const Target& target);
/// The same for the evaluations of one circuit, prepared as a batch.
GramResult gram(const Circuit& circuit, std::span<const double> values, const Target& target);

}  // namespace qsim
