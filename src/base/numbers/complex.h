// Products of complex numbers that are known to be finite.
#pragma once

#include "qsim/types.h"

namespace qsim {

/// a b, without operator*'s care for infinities, which costs a comparison and keeps loops from becoming vectors.
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace qsim
