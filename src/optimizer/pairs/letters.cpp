#include "optimizer/pairs/letters.h"

#include <cmath>

namespace qsim {
namespace {

/// S^-1 takes Y to X; H takes X and Z to each other.
bool needs_hadamard(unsigned from, unsigned to) { return (from == kLetterY ? kLetterX : from) != to; }

}  // namespace

bool is_of_parts(double angle, unsigned parts) {
  const double part = 2 * kPi / parts;
  return std::abs(std::remainder(angle, part)) <= 1e-9;
}

Matrix2 letter_rotation(unsigned letter, double angle) {
  const double c = std::cos(angle / 2);
  const Complex turn(0, -std::sin(angle / 2));
  const Matrix2& p = kLetterMatrices[letter - 1];
  return {c + turn * p[0], turn * p[1], turn * p[2], c + turn * p[3]};
}

Axis axis_behind(const Matrix2& gate, unsigned letter) {
  const Matrix2 m = product(gate, product(kLetterMatrices[letter - 1], adjoint(gate)));
  return {m[2].real(), m[2].imag(), m[0].real()};
}

unsigned largest_of(const Axis& axis) {
  unsigned most = 0;
  for (unsigned i = 1; i < 3; ++i) most = std::abs(axis[i]) > std::abs(axis[most]) ? i : most;
  return most;
}

SignedLetter nearest_letter(const Axis& axis) {
  const unsigned most = largest_of(axis);
  return {most + 1, axis[most] < 0 ? -1 : 1};
}

void append_to_letter(Circuit& out, Qubit wire, unsigned from, unsigned to) {
  if (from == kLetterY) out.sdg(wire);
  if (needs_hadamard(from, to)) out.h(wire);
}

void append_from_letter(Circuit& out, Qubit wire, unsigned from, unsigned to) {
  if (needs_hadamard(from, to)) out.h(wire);
  if (from == kLetterY) out.s(wire);
}

}  // namespace qsim
