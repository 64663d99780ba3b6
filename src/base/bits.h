// Arithmetic on amplitude indices: picking and spreading bits. All constexpr; masks are over an Index.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "qsim/types.h"

namespace qsim {

__extension__ using Wide = unsigned __int128;

constexpr Index bit_mask(unsigned bit) { return Index{1} << bit; }
/// The `count` lowest bits set; count may be 64.
constexpr Index low_mask(unsigned count) { return count >= 64 ? ~Index{0} : (Index{1} << count) - 1; }
constexpr bool test_bit(Index index, unsigned bit) { return (index >> bit & 1) != 0; }
constexpr bool is_power_of_two(Index value) { return std::has_single_bit(value); }
/// log2 of a power of two.
constexpr unsigned log2_exact(Index value) { return static_cast<unsigned>(std::countr_zero(value)); }
/// Whether an odd number of bits is set; as popcount, without a call.
constexpr bool odd_parity(Index value) { return __builtin_parityll(value) != 0; }
/// How many bits are set. Written out: without the instruction, std::popcount is a call of the compiler's library.
constexpr int popcount(Index value) {
  value -= value >> 1 & 0x5555555555555555u;
  value = (value & 0x3333333333333333u) + (value >> 2 & 0x3333333333333333u);
  return static_cast<int>(((value + (value >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}
constexpr unsigned count_bits(Index value) { return static_cast<unsigned>(popcount(value)); }

/// Whether no sum (XOR) of some of the masks is 0.
inline bool linearly_independent(std::vector<Index> masks) {
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i] == 0) return false;
    const Index lowest = masks[i] & (~masks[i] + 1);
    for (std::size_t k = i + 1; k < masks.size(); ++k)
      if ((masks[k] & lowest) != 0) masks[k] ^= masks[i];
  }
  return true;
}

/// Spreads the low bits of `value` over the set bits of `mask`, lowest first (pdep).
constexpr Index deposit_bits(Index value, Index mask) {
  Index result = 0;
  for (; mask != 0; mask &= mask - 1, value >>= 1) {
    if (value & 1) result |= mask & (~mask + 1);
  }
  return result;
}

/// Packs the bits of `value` under `mask` into the low bits, lowest first (pext).
constexpr Index extract_bits(Index value, Index mask) {
  Index result = 0;
  for (Index out = 1; mask != 0; mask &= mask - 1, out <<= 1) {
    if (value & mask & (~mask + 1)) result |= out;
  }
  return result;
}

/// Counts up by one in the bits under `mask` alone; wraps to zeros there.
constexpr Index next_under_mask(Index index, Index mask) { return (((index | ~mask) + 1) & mask) | (index & ~mask); }

/// Sums and products that stay at 2^64 - 1 where they would pass it.
constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}
constexpr std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}

/// The lowest `count` bits of `index` in the opposite order.
constexpr Index reverse_bits(Index index, unsigned count) {
  Index result = 0;
  for (unsigned bit = 0; bit < count; ++bit) result |= (index >> bit & 1) << (count - 1 - bit);
  return result;
}

/// The bits of `mask`, lowest first: calls visit(bit).
template <typename Visitor>
constexpr void for_each_bit(Index mask, Visitor&& visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<unsigned>(std::countr_zero(mask)));
}

}  // namespace qsim
