// What passes ask of operations, and the building of their results.
#pragma once

#include <optional>

#include "base/numbers/matrix2.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"

namespace qsim {

/// Barriers and terminal measurements: no pass sees them and no plan needs them.
inline bool skipped(const Operation& op) { return op.kind == OpKind::kBarrier || op.kind == OpKind::kMeasure; }

inline bool is_cx(const Operation& op) { return op.kind == OpKind::kGate && op.gate == Gate::kX && op.controls == 1; }
inline bool is_cz(const Operation& op) { return op.kind == OpKind::kGate && op.gate == Gate::kZ && op.controls == 1; }

/// Of gates on one qubit and CX gates, as compilers leave that have no others.
bool is_of_cx(const Circuit& circuit);

/// Operations, those on one qubit with nothing else on it between them counted once: however a compiler writes a gate
/// on one qubit, it is one.
std::size_t count_runs(const Circuit& circuit);

/// Controls first, then targets.
template <typename Visit>
void for_each_qubit(const Circuit& circuit, const Operation& op, const Visit& visit) {
  for (const Qubit q : circuit.controls(op)) visit(q);
  for (const Qubit q : circuit.targets(op)) visit(q);
}

/// The qubits of an operation, as masks, and those on which it is block-diagonal: controls, letters Z, all qubits of a
/// diagonal gate.
struct Support {
  Index all = 0, diagonal = 0;
  bool is_diagonal() const { return all == diagonal; }
};
Support support_of(const Circuit& circuit, const Operation& op);

/// Whether an angle of the operation is open. Passes neither multiply nor compare what is: its number stands for any.
bool is_open(const Circuit& circuit, const Operation& op);
/// The angle of an operation that has one, with what is open of it.
Angle whole_angle(const Circuit& circuit, const Operation& op);

/// The matrix of an operation on one qubit alone; of none that is open.
std::optional<Matrix2> single_qubit_matrix(const Circuit& circuit, const Operation& op);

/// Appends `op` of a unitary `circuit` with each qubit q renamed to wire_of[q].
void append_renamed(Circuit& out, const Circuit& circuit, const Operation& op, std::span<const Qubit> wire_of);

/// Fills a Rewritten, operation by operation.
class Rewriter {
 public:
  Rewriter(const Circuit& circuit, Rewritten& result);

  /// Appends operation `i` as it is.
  void copy(std::uint32_t i);
  /// Appends operation `i` with each qubit q renamed to wire_of[q].
  void copy_renamed(std::uint32_t i, std::span<const Qubit> wire_of);
  /// Appends a matrix on one qubit in the place of operation `i`.
  void add_matrix(std::uint32_t i, Qubit qubit, const Matrix2& matrix);
  /// Operation `i` is counted on the one appended last.
  void count_here(std::uint32_t i) { count_on(i, last()); }
  void count_on(std::uint32_t i, std::uint32_t place) { result_.place[i] = place; }
  void remove(std::uint32_t i, const char* reason) { result_.removed.emplace_back(i, reason); }
  /// Appends to the new circuit directly; what follows carries the source line of operation `i`.
  Circuit& append_for(std::uint32_t i);
  std::uint32_t last() const { return static_cast<std::uint32_t>(result_.circuit.operations().size() - 1); }

 private:
  const Circuit& circuit_;
  Rewritten& result_;
};

}  // namespace qsim
