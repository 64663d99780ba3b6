// Tables of outcomes as maps from bit strings, and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "document/outcomes.h"

namespace qsim::test {

/// By what people read; without registers all bits are one.
template <typename Value>
std::map<std::string, Value> by_text(const Outcomes<Value>& outcomes, std::span<const Register> registers = {}) {
  const Register all{"c", 0, outcomes.bits};
  std::map<std::string, Value> texts;
  for (const auto& [words, value] : outcomes) {
    texts.emplace(bits_text(words, registers.empty() ? std::span(&all, 1) : registers), value);
  }
  return texts;
}

/// Texts of one length; spaces do not count.
template <typename Value>
Outcomes<Value> outcomes_of(const std::map<std::string, Value>& texts) {
  Outcomes<Value> outcomes;
  for (const auto& [text, value] : texts) {
    std::string bits(text.rbegin(), text.rend());
    std::erase(bits, ' ');
    outcomes.bits = static_cast<std::uint32_t>(bits.size());
    outcomes.words.resize(outcomes.words.size() + (bits.size() + 63) / 64);
    std::uint64_t* const words = outcomes.words.data() + outcomes.words.size() - (bits.size() + 63) / 64;
    for (std::size_t bit = 0; bit < bits.size(); ++bit) {
      if (bits[bit] == '1') words[bit / 64] |= std::uint64_t{1} << bit % 64;
    }
    outcomes.values.push_back(value);
  }
  return outcomes;
}

}  // namespace qsim::test
