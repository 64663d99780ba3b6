// Polynomials over GF(2).
#pragma once

#include <vector>

namespace qsim {

/// The sum modulo 2 of products of variables, which are bits of a mask; ascending, each once. The product of none is 1.
template <typename Mask>
using Boolean = std::vector<Mask>;

/// Adds a product to the polynomial, or takes it away.
template <typename Mask>
void toggle(Boolean<Mask>& polynomial, Mask product) {
  auto place = polynomial.begin();
  while (place != polynomial.end() && *place < product) ++place;
  if (place != polynomial.end() && *place == product) {
    polynomial.erase(place);
  } else {
    polynomial.insert(place, product);
  }
}

}  // namespace qsim
