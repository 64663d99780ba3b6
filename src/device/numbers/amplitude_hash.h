// The hash behind Backend::checksum: of an amplitude's bits and its place, so that a sum of hashes notices what a sum
// of values does not: two amplitudes that changed places, a sign, a last bit.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "base/hash.h"
#include "qsim/types.h"

namespace qsim {

/// `place`: the amplitude's index without the bits that its view fixes.
template <typename T>
std::uint64_t amplitude_hash(const std::complex<T>& amplitude, Index place) {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const std::uint64_t re = std::bit_cast<Word>(amplitude.real()), im = std::bit_cast<Word>(amplitude.imag());
  return mix_bits(mix_bits((place + 1) * 0x9e3779b97f4a7c15ull ^ re) + im);
}

}  // namespace qsim
