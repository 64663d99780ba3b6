// The hash that names a circuit's text.
#pragma once

#include <cstdint>
#include <string_view>

namespace qsim {

/// XXH3, 64 bits, seed 0.
std::uint64_t xxh3(std::string_view text);

}  // namespace qsim
