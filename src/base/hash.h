// The hash that names a circuit's text.
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

}  // namespace qsim
