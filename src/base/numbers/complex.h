// Products of complex numbers that are known to be finite.
#pragma once

#include <complex>

namespace qsim {

/// a b, without operator*'s care for infinities, which costs a comparison and keeps loops from becoming vectors.
template <typename T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace qsim
