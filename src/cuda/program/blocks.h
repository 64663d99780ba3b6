// Dense blocks among a sweep's items: what they take in of their neighbours, and what of them is left to phases.
#pragma once

#include <array>

#include "cuda/program/items.h"

namespace qsim::cuda {

/// A matrix on two targets that is done everywhere.
bool is_pair_block(const Item& item);

/// Moves items that act within a block's targets into its matrix: later items to its left, earlier ones to its right.
/// Light blocks take in what does not make more numbers of them than it saves.
void take_in_neighbours(ItemList& list, Blocks blocks);

/// Multiplies the item into the block's matrix, which stays unitary: what a rotation lacks for that goes to the scale.
void take_in(ItemList& list, Item& block, const Item& item, bool after);

/// Blocks with fewer numbers in them. `full`: those that lanes could do, too.
void divide_out(ItemList& list, Blocks blocks, bool full);

/// A matrix on one target, done everywhere, and such an item as a rotation between phases; a matrix that is not unitary
/// to rounding stays one.
Item local_item(std::uint8_t target, const std::array<Complex, 4>& matrix);
void add_rotation(ItemList& list, Item item);

/// `factor` where the coordinate is 1; exp(i angle) where both coordinates are 1. Nothing where those are 1.
void add_bit_phase(ItemList& list, unsigned coordinate, Complex factor);
void add_both_phase(ItemList& list, unsigned a, unsigned b, double angle);

}  // namespace qsim::cuda
