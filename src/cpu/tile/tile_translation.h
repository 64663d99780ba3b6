// Translates a sweep into a tile machine's program: passes, micro-operations, tables.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "cpu/items/tile_items.h"
#include "cpu/line_vector.h"
#include "cpu/tile/tile_geometry.h"
#include "kernels/cpu/tile_program.h"
#include "plan/plan.h"

namespace qsim::cpu {

/// What a pass does: numbers of items that are done by it, in order.
struct PassPlan {
  std::vector<std::uint8_t> registers;  // vector bits, ascending
  std::vector<std::size_t> items;       // matrices and terms
  bool dense = false;                   // the one item is a matrix on three or more targets
};

/// A pass, and what it was chosen by.
struct ScheduledPass {
  PassPlan plan;
  std::vector<int> position;  // of each tile bit
};

/// |c|^2 as a coefficient of the machine.
template <typename T>
double rounded_square(Complex c) {
  const double re = static_cast<T>(c.real()), im = static_cast<T>(c.imag());
  return re * re + im * im;
}

/// What a program owns; `view()` is what the machine reads.
template <typename T>
struct TileProgram {
  TileProgram(TileGeometry where, int lanes, int registers)
      : geometry(std::move(where)), lane_bits(lanes), register_bits(registers) {}

  TileGeometry geometry;
  int lane_bits = 0, register_bits = 0, position_bits = 0;
  Load load = Load::kUnits;
  bool store_units = true, stream = false;
  int batch_bits = 0;  // at most 2^batch_bits tiles are loaded and stored together
  int pieces = 1;
  std::vector<Index> load_offsets, store_offsets;
  LineVector<T> start, coefficients;
  std::vector<Pass> passes;
  std::vector<MicroOp> ops;
  std::vector<TileDiagonal> tile_diagonals;
  std::vector<double> scalar_pieces;
  // What the passes were made from: the items, as far as passes are chosen by them, and the passes.
  std::vector<ItemShape> items;
  std::vector<ScheduledPass> schedule;
  std::vector<TileScale> tile_scales;
  /// Of everything stored. In more digits than the amplitudes have: one factor repeated a hundred thousand times must
  /// not add up what its own rounding leaves.
  std::complex<long double> scale{1};

  /// Tiles of a batch inside chunks that fix `chunk_mask`.
  std::uint64_t batch(Index chunk_mask) const {
    if (batch_bits == 0) return 1;
    const Index batch_mask = low_mask(static_cast<unsigned>(batch_bits)) << std::countr_zero(geometry.tile_mask);
    return (batch_mask & chunk_mask) == 0 ? std::uint64_t{1} << batch_bits : 1;
  }
  /// Coefficients as they are rounded multiply norms by sqrt(mean_square) where they act, on a `share` of all
  /// amplitudes, and exactly they would not: the scale takes it back, on average over amplitudes.
  void keep_norm(double mean_square, double share) {
    constexpr double kNear = 1e-5;  // what is left out of the series is below a long double's last place
    const long double power = -0.5L * share, off = mean_square - 1.0L;
    if (std::abs(mean_square - 1) <= kNear) {
      scale *= 1 + power * off * (1 + (power - 1) / 2 * off * (1 + (power - 2) / 3 * off));
    } else if (mean_square > 0) {
      scale *= std::pow(static_cast<long double>(mean_square), power);
    }
  }
  void reserve_as(const TileProgram& like) {
    coefficients.reserve(like.coefficients.size());
    ops.reserve(like.ops.size());
  }
  std::uint64_t vectors() const { return std::uint64_t{1} << (position_bits - lane_bits); }
  /// Reals of one tile diagonal's table in a thread's scratch.
  std::uint64_t table_reals() const {
    const std::uint64_t lanes = std::uint64_t{1} << lane_bits;
    const std::uint64_t groups = (2 * (vectors() >> register_bits) + lanes - 1) / lanes * lanes;
    return (2 * lanes << register_bits) + groups;
  }
  TileProgramView<T> view() const;
};

/// For a machine with these lanes and registers. The sweep must mention local bits only. `like`: the program of a sweep
/// that was the same but for numbers; it spares the search for passes where they are as they were.
template <typename T>
TileProgram<T> translate_sweep(const Sweep& sweep, std::uint32_t local_bits, int lane_bits, int register_bits,
                               const TileProgram<T>* like = nullptr);

/// Where tile bits are: tile bit -> position (a lane bit or lane_bits + a vector bit), and what a pass has in
/// registers.
struct Placement {
  int lane_bits = 0, register_bits = 0, position_bits = 0;
  std::vector<int> position;                      // of each tile bit
  std::uint8_t registers[kMaxRegisterBits] = {};  // vector bits of the pass, ascending

  bool is_lane(Bit tile_bit) const { return position[tile_bit] < lane_bits; }
  /// Register bit that holds the tile bit, or -1.
  int register_of(Bit tile_bit) const {
    for (int b = 0; b < register_bits; ++b) {
      if (position[tile_bit] == lane_bits + registers[b]) return b;
    }
    return -1;
  }
};

/// Writes tables of merged phases.
template <typename T>
class DiagonalWriter {
 public:
  DiagonalWriter(TileProgram<T>& program, const Placement& placement) : program_(program), placement_(placement) {}

  /// Emits micro-operations that multiply by all `terms`, which must have tile bits. `last`: terms may be on bits
  /// outside registers and lanes.
  void emit(const std::vector<Term>& terms, bool last);
  /// A term without tile bits: phase of whole tiles.
  void emit_scalar(const Term& term);

 private:
  struct Table {
    std::uint64_t data = 0;
    std::uint32_t stride = 0, group_mask = 0;
    std::uint8_t vectors = 0;
  };
  bool separable(const Term& term) const;
  int piece_of(const TileCondition& condition) const;
  Table write_table(const std::vector<Term>& terms, bool all_vectors, double share);
  static MicroOp diagonal_op(const Table& table);
  void emit_tile_diagonal(const std::vector<Term>& terms, const std::vector<Term>& fixed, bool last);
  void write_pieces(const std::vector<Term>& terms, TileDiagonal& diagonal);

  TileProgram<T>& program_;
  const Placement& placement_;
};

}  // namespace qsim::cpu
