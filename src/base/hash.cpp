#include "base/hash.h"

#include <xxhash.h>

namespace qsim {

std::uint64_t xxh3(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

}  // namespace qsim
