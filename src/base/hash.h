// Hashes: of texts, and of numbers.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace qsim {

/// XXH3, 64 bits, seed 0.
std::uint64_t xxh3(std::string_view text);

/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): nobody without the key
/// finds a text and its digest.
std::array<std::uint64_t, 2> keyed_digest(const std::array<std::uint64_t, 2>& key, std::string_view text);

/// A bijection of 64 bits in which every input bit moves half of the output bits (the finish of splitmix64).
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

}  // namespace qsim
