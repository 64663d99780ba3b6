// X, Y and Z, what gates on one qubit make of them, where that points, and the gates between them.
#pragma once

#include <array>
#include <numbers>

#include "base/numbers/matrix2.h"
#include "qsim/circuit.h"

namespace qsim {

inline constexpr unsigned kLetterX = 1, kLetterY = 2, kLetterZ = 3;
inline constexpr double kPi = std::numbers::pi, kQuarterPi = std::numbers::pi / 4;
inline constexpr Complex kImaginary{0, 1};

/// Whether the angle is a whole number of `parts`-ths of a turn.
bool is_of_parts(double angle, unsigned parts);

/// exp(-i angle/2 P).
Matrix2 letter_rotation(unsigned letter, double angle);

/// x, y, z: of x X + y Y + z Z.
using Axis = std::array<double, 3>;
/// Of gate P gate^-1.
Axis axis_behind(const Matrix2& gate, unsigned letter);
/// The place of the part that is largest.
unsigned largest_of(const Axis& axis);

/// A letter, or its opposite.
struct SignedLetter {
  unsigned letter = 0;
  int sign = 1;
};
SignedLetter nearest_letter(const Axis& axis);

/// Appends the gates that take one letter to another, which is X or Z; and those that take it back.
void append_to_letter(Circuit& out, Qubit wire, unsigned from, unsigned to);
void append_from_letter(Circuit& out, Qubit wire, unsigned from, unsigned to);

}  // namespace qsim
