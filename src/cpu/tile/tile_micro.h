// Writes micro-operations for matrices, where controls and targets are by then: in lanes, registers or groups.
#pragma once

#include <span>
#include <vector>

#include "cpu/items/tile_items.h"
#include "cpu/tile/tile_schedule.h"
#include "cpu/tile/tile_translation.h"
#include "plan/matrix_forms.h"

namespace qsim::cpu {

/// Appends to a program's operations and coefficients.
template <typename T>
class MicroWriter {
 public:
  MicroWriter(TileProgram<T>& program, Placement& placement) : program_(program), placement_(placement) {}

  /// A matrix on one target that is in a lane or a register, in the given form.
  void add_two_by_two(const MatrixItem& item, const Factored& form);
  /// A matrix on two targets in lanes or registers; lanes that must not stay ones change places first with registers
  /// that `order` can spare.
  void add_four_by_four(const MatrixItem& item, const PassOrder& order);
  /// The one operation of a dense pass.
  void add_dense(const MatrixItem& item);
  /// Exchanges a lane bit with a register bit; the placement says so from now on.
  void exchange(int lane, int register_bit);

 private:
  MicroOp conditioned(const MatrixItem& item, unsigned target_registers, int register_bits) const;
  bool all_lanes(const MicroOp& op) const { return op.lanes == (1u << (1u << program_.lane_bits)) - 1; }
  std::uint64_t write(std::span<const T> values);
  void add_beside_lane(const MatrixItem& item, ParityKind kind);
  void write_parity(const std::vector<Complex>& both, ParityKind kind, MicroOp& op);
  void add_on_register(const MatrixItem& item, const Factored& form);
  void add_on_lane(const MatrixItem& item, const Factored& form);
  void write_lanes(MicroOp& op, const Complex* own, const Complex* other);

  TileProgram<T>& program_;
  Placement& placement_;
};

}  // namespace qsim::cpu
