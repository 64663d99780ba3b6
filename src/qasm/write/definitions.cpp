#include "qasm/write/definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "qasm/write/expand.h"

namespace qsim {

// By dividing its 64-bit words by ten until nothing is left.
std::string condition_number(const Condition& condition) {
  std::vector<Index> words{condition.value};
  words.insert(words.end(), condition.high.begin(), condition.high.end());
  std::string digits;
  while (!words.empty()) {
    Index rest = 0;
    for (std::size_t i = words.size(); i-- > 0;) {
      const Index upper = rest << 32 | words[i] >> 32;
      const Index lower = (upper % 10) << 32 | (words[i] & 0xffffffffu);
      words[i] = (upper / 10) << 32 | lower / 10;
      rest = lower % 10;
    }
    digits += static_cast<char>('0' + rest);
    while (!words.empty() && words.back() == 0) words.pop_back();
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string_view GateDefinitions::of(const Operation& op) {
  const std::string body = expand_operation(circuit_, op, version_);
  if (body.empty()) return {};
  const std::uint32_t arguments = op.controls + op.targets;
  const auto [place, is_new] = names_.try_emplace(fmt::format("{}:{}", arguments, body));
  if (is_new) {
    place->second = fmt::format("{}gate{}", prefix_, names_.size());
    text_ += "gate " + place->second;
    for (std::uint32_t i = 0; i < arguments; ++i) text_ += fmt::format("{}a{}", i == 0 ? ' ' : ',', i);
    text_ += " {" + body + " }\n";
  }
  return place->second;
}

}  // namespace qsim
