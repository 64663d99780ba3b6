// A matrix on two targets as few multiplications as are found: with phases of rows and columns left out of it, and with
// the bases of its targets changed.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "cuda/factor/canonical.h"
#include "cuda/factor/side_phases.h"

namespace qsim::cuda {

/// A rotation of one target, in multiplications of a matrix on two: two an amplitude.
constexpr double kRotationNumbers = 4;

/// The parts by row_phases() and, where they are asked for, by side_phases() that are lightest.
struct LightParts {
  std::optional<SidePhases> sides;  // none: the matrix as it is
  double weight = 0;                // its numbers, and what phases beside it may take: they mostly join others
};
LightParts light_parts(std::span<const Complex> matrix, bool columns);

/// U = (left[1] x left[0]) matrix (right[1] x right[0]), each of them none or a basis change between X or Y and Z.
struct TurnedPair {
  std::array<std::optional<Local>, 2> left, right;  // [b]: on bit b of the matrix index
  std::vector<Complex> matrix;
};

/// Turned where that is lighter with the rotations that it takes.
TurnedPair turned_pair(std::span<const Complex> matrix);

}  // namespace qsim::cuda
