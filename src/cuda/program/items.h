// A sweep's operations as atoms that can be reordered: rotations, matrices, flips and phase terms over coordinates.
#pragma once

#include <vector>

#include "cuda/tile/tile_program.h"
#include "plan/plan.h"

namespace qsim::cuda {

/// A phase: exp(i angle) where (v & mask) == value, (base & tile_mask) == tile_value and, if `has_parity`, the parity
/// of (v & parity) and (base & tile_parity) together is odd.
struct Term {
  Coordinate mask = 0, value = 0, parity = 0;
  Index tile_mask = 0, tile_value = 0, tile_parity = 0;
  bool has_parity = false, open = false;
  double angle = 0;
  /// An AND of ones only: the kind that merges best.
  bool plain() const { return !has_parity && value == mask && tile_value == tile_mask; }
};

struct Item {
  enum class Kind : std::uint8_t { kRotate, kMatrix, kFlip, kTerm } kind = Kind::kTerm;
  Coordinate moves = 0;  // coordinates it changes
  Coordinate looks = 0;  // coordinates it is diagonal on
  std::vector<std::uint8_t> targets;
  Coordinate control_mask = 0, control_value = 0;
  TileGuard guard;
  Rotation rotation = Rotation::kNone;
  double tangent = 0;
  bool open = false;  // numbers may be put in again: what is made of them does not hang on what they are
  std::vector<Complex> matrix;
  Term term;

  /// A matrix of two targets that is done everywhere and is so full that lanes do it faster than registers.
  bool lane_block() const;
  /// A flip that is an affine map of coordinates.
  bool foldable() const;
};

/// True when a and b may change places.
bool commute(const Item& a, const Item& b);

struct ItemList {
  std::vector<Item> items;
  /// What every amplitude must still be multiplied with: the items' growth, undone. In more digits than amplitudes
  /// have: one factor repeated a hundred thousand times must not add up what its own rounding leaves.
  std::complex<long double> scale{1, 0};
  Coordinate frame = 0;  // coordinates flipped at the very end
};

/// What dense blocks of two targets become: matrices with all in them that acts within their targets (kLanes: to be
/// multiplied on lanes), single-qubit rotations around their canonical parts, or matrices of as few numbers as can be,
/// with phases and rotations left beside them.
enum class Blocks : std::uint8_t { kWhole, kLanes, kCanonical, kLight };

/// `coordinate_of[bit]`: the coordinate of a local index bit, or -1 outside the tile. `precision` says how far
/// amplitudes may grow on the way, in whatever order items that commute are run.
ItemList make_items(const Sweep& sweep, const std::vector<int>& coordinate_of, Blocks blocks, Precision precision);

}  // namespace qsim::cuda
