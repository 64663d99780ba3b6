// Stretches of a circuit that are rotations about Pauli strings, one after the other.
//
// Gates of the Clifford group on one wire are moved behind the rotations that follow them: rotations about Z become
// rotations about what such gates make of Z. A wire is in a string by its letter: X (x alone), Z (z alone) or Y (both).
#pragma once

#include <cstdint>
#include <vector>

#include "base/numbers/matrix2.h"
#include "plan/lower/lower.h"

namespace qsim {

/// exp(i angle (1 - P) / 2) with P the product of the letters.
struct StringRotation {
  Index x = 0, z = 0;  // wires
  OpenAngle angle = 0;
  std::vector<std::uint32_t> members;  // operations of the Lowered that it stands for
};

/// What is left of the Clifford gates of a wire, behind the rotations.
struct StringRest {
  Qubit wire = 0;
  Matrix2 matrix{};
  std::vector<std::uint32_t> members;
};

/// Operations [first, last) of a Lowered: those in `before`, on one wire each, the rotations in order, then the rests,
/// and a phase of everything.
struct StringStretch {
  std::size_t first = 0, last = 0;
  std::vector<std::uint32_t> before;
  std::vector<StringRotation> rotations;
  std::vector<StringRest> rests;
  OpenAngle phase = 0;
};

/// The stretches of at least two rotations, in order. An operation is in one where it has no control and is a Clifford
/// gate on one wire, a diagonal of terms on one or two wires or of parities, or a fixed matrix that is diagonal in the
/// basis of X, Y or Z on every target. `zero`: the start is |0...0>, on which gates on one wire cost nothing, so that
/// those before all strings are left as they are; so they are where operations come before the stretch. `open`: the
/// lowered circuit's, to which the rotations' sums are added.
std::vector<StringStretch> string_stretches(const Lowered& lowered, bool zero, OpenNumbers& open);

/// The same stretch with its rests before the rotations: those about what the rests make of their strings.
void put_rests_first(StringStretch& stretch, OpenNumbers& open);

}  // namespace qsim
