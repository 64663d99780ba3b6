// How much of a campaign runs: a small share in CI, more where an environment variable says so.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace qsim::test {

inline std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// Seeds [first, first + count): QSIM_CAMPAIGN is the count, QSIM_CAMPAIGN_FIRST the first, so that parts can run side
/// by side.
struct Campaign {
  explicit Campaign(std::uint64_t without)
      : first(number_from("QSIM_CAMPAIGN_FIRST", 1)), count(number_from("QSIM_CAMPAIGN", without)) {}
  std::uint64_t first, count;
};

}  // namespace qsim::test
