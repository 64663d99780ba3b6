// Lowering: a circuit's operations in the three forms of a plan, over wires instead of physical bits.
//
// A wire is a qubit that is never swapped: the optimizer renames qubits for SWAP gates. At the start wire w is qubit w;
// at the end qubit q sits on wire Lowered::wire_of[q]. All masks and targets here name wires.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/layout.h"
#include "base/numbers/matrix2.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/types.h"

namespace qsim {

/// An operation with wires for bits and Lowered's pools. A gate that becomes several operations counts on one of them.
struct LoweredOp : PlanOp {
  std::uint32_t source = 0;  // operation of the circuit that was lowered; Lowered::sources() says what it stands for
  // Wires on which the operation is block-diagonal in the basis of Z, X or Y; a wire may be in several or in none.
  Index z_mask = 0, x_mask = 0, y_mask = 0;
  Index support = 0;  // all wires it depends on or changes
};

/// A gate that needs no operation, and why.
struct RemovedGate {
  std::uint32_t source = 0;  // index in the caller's Circuit::operations()
  const char* reason = "";   // "relabelled", "identity"
};

struct Lowered {
  std::uint32_t qubits = 0;
  std::vector<LoweredOp> ops;
  std::vector<Complex> matrices;
  std::vector<PhaseTerm> phases;
  std::vector<Qubit> wire_of;  // at the end: wire of each qubit
  std::uint64_t gates = 0;     // gates of the circuit: the ops' counts plus `removed`
  std::vector<RemovedGate> removed;
  std::vector<std::string_view> recognised;  // the passes that have given back structure
  double weight = 0;                         // circuit_cost(), where the optimizer stands before
  OpenNumbers open;           // of the circuit's open angles: what its phases and matrices say with numbers in it
  std::uint64_t refused = 0;  // rewrites that were not made: put together again they were not what they stood for
  // Where the optimizer has rewritten the circuit: by its operation, the caller's that it stands for.
  std::vector<std::uint32_t> source_begin, source_items;

  /// The caller's operations that operation `source` of the lowered circuit stands for.
  std::span<const std::uint32_t> sources(const std::uint32_t& source) const {
    if (source_begin.empty()) return {&source, 1};
    return {source_items.data() + source_begin[source], source_begin[source + 1] - source_begin[source]};
  }
  /// Notes that the gates counted on an operation need none.
  void remove(const LoweredOp& op, const char* reason) {
    if (op.gates == 0) return;
    for (const std::uint32_t source : sources(op.source)) removed.push_back({source, reason});
  }
  std::span<const Complex> matrix(const LoweredOp& op) const {
    return {matrices.data() + op.data_begin, op.data_count};
  }
  /// None where it is not diagonal.
  std::span<const PhaseTerm> terms(const LoweredOp& op) const {
    if (op.form != Form::kPhases) return {};
    return {phases.data() + op.data_begin, op.data_count};
  }
};

/// Whether a rotation about the string is one matrix on its qubits: without a letter Z, whose wire would have to become
/// active, and small. Else it is turns around a parity.
bool is_one_matrix(std::span<const std::uint32_t> letters);

/// Lowers a unitary circuit gate by gate; barriers and terminal measurements are skipped. UnsupportedError for other
/// measurements, resets, conditions and matrices on more than 6 qubits that have no cheaper form.
Lowered lower(const Circuit& circuit);

/// Sets the basis masks and the support from the operation's form, targets, controls and data.
void set_basis_masks(LoweredOp& op, std::span<const Complex> matrix, std::span<const PhaseTerm> terms);

/// True only if the two operations commute: on every shared wire both are block-diagonal in the same basis. (May be
/// false for operations that happen to commute.)
inline bool commute(const LoweredOp& a, const LoweredOp& b) {
  const Index matching = (a.z_mask & b.z_mask) | (a.x_mask & b.x_mask) | (a.y_mask & b.y_mask);
  return (a.support & b.support & ~matching) == 0;
}

/// Operations, as what commute() asks of each of them.
class CommutingWith {
 public:
  void add(const LoweredOp& op) {
    support_ |= op.support;
    not_z_ |= op.support & ~op.z_mask;
    not_x_ |= op.support & ~op.x_mask;
    not_y_ |= op.support & ~op.y_mask;
  }
  /// Whether commute() holds with all of them.
  bool all(const LoweredOp& op) const {
    const Index matching = (op.z_mask & ~not_z_) | (op.x_mask & ~not_x_) | (op.y_mask & ~not_y_);
    return (support_ & op.support & ~matching) == 0;
  }
  /// Wires on which no operation can commute with all of them.
  Index closed() const { return not_z_ & not_x_ & not_y_; }

 private:
  Index support_ = 0, not_z_ = 0, not_x_ = 0, not_y_ = 0;
};

/// Wires by their first use as a target; those that are never one last.
std::vector<Qubit> wires_by_first_use(const Lowered& lowered);

/// Appends the operation to a sweep, its matrix or terms copied and wire w replaced by bit layout.bit_of[w].
void append_to_sweep(Sweep& sweep, const Lowered& lowered, const LoweredOp& op, const Layout& layout);
/// Mask over wires -> mask over bits.
Index map_mask(Index wires, const Layout& layout);
/// Layout of the qubits at the end, from the wires' layout.
Layout qubit_layout(const Lowered& lowered, const Layout& wire_layout);

}  // namespace qsim
