// Outcomes as words: written by measurements, added up, put in order, compared and turned into text.
#include "document/outcomes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/read_out/classical_bits.h"
#include "runtime/read_out/outcome_sums.h"
#include "support/outcomes.h"

namespace qsim {
namespace {

/// A text of `bits` random characters, few of them 1 where there are many, so that some come twice.
std::string random_bits(std::mt19937_64& random, std::uint32_t bits) {
  std::string text(bits, '0');
  for (int i = 0; i < 3 && bits > 0; ++i) text[random() % bits] = '1';
  return text;
}

std::vector<std::uint64_t> words_of(const std::string& text, std::uint32_t beside = 0) {
  ClassicalBits bits(text.size() + beside);
  for (std::size_t bit = 0; bit < text.size(); ++bit) bits.set(bit, text[text.size() - 1 - bit] == '1');
  for (std::size_t bit = text.size(); bit < text.size() + beside; ++bit) bits.set(bit, true);
  return {bits.words().begin(), bits.words().end()};
}

// In any order, with settling in between, with bits beside them that are not theirs.
TEST(OutcomeSums, AddUpAsAMapDoes) {
  std::mt19937_64 random(7);
  for (const std::uint32_t bits : {0u, 1u, 5u, 63u, 64u, 65u, 130u}) {
    for (const int added : {0, 1, 2, 300}) {
      OutcomeSums<double> sums(bits);
      std::map<std::string, double> wanted;
      for (int i = 0; i < added; ++i) {
        const std::string text = random_bits(random, bits);
        const double value = 1 / static_cast<double>(i + 3);
        wanted[text] += value;
        sums.add(words_of(text, 7), value);
        if (i % 37 == 0) {
          EXPECT_LE(sums.settle_much(), wanted.size());
        }
      }
      const Outcomes<double> found = sums.take();
      EXPECT_EQ(test::by_text(found), wanted) << bits << " bits, " << added;
      if (added > 0) {
        EXPECT_EQ(found, test::outcomes_of(wanted)) << "to the last digit, in the order of the texts";
      }
      EXPECT_EQ(sums.take().size(), 0u);
    }
  }
}

// Enough for buckets, in the order of other bits.
TEST(OutcomeSums, SortMany) {
  constexpr std::uint32_t kBits = 18;
  for (const std::uint32_t beside : {0u, 60u}) {
    OutcomeSums<std::uint64_t> sums(kBits + beside);
    for (Index value = 0; value < Index{1} << kBits; ++value) {
      const Index turned = reverse_bits(value, kBits);
      const std::vector<std::uint64_t> words = {turned << beside, beside == 0 ? 0 : turned >> (64 - beside)};
      sums.add(words, value + 1);
    }
    const Outcomes<std::uint64_t> found = sums.take();
    ASSERT_EQ(found.size(), std::size_t{1} << kBits);
    for (Index value = 0; value < Index{1} << kBits; ++value) {
      ASSERT_EQ(found[value][0], value << beside);
      if (beside > 0) {
        ASSERT_EQ(found[value][1], value >> (64 - beside));
      }
      ASSERT_EQ(found.values[value], reverse_bits(value, kBits) + 1);
    }
  }
}

TEST(OutcomeTables, AreVisitedSideBySide) {
  const auto first = test::outcomes_of<double>({{"001", 1}, {"010", 2}, {"111", 3}});
  const auto second = test::outcomes_of<double>({{"000", 4}, {"010", 5}});
  std::vector<std::tuple<std::uint64_t, double, double>> visited;
  visit_both(first, second, [&](OutcomeWords words, double a, double b) { visited.emplace_back(words[0], a, b); });
  const std::vector<std::tuple<std::uint64_t, double, double>> wanted = {{0, 0, 4}, {1, 1, 0}, {2, 2, 5}, {7, 3, 0}};
  EXPECT_EQ(visited, wanted);
}

TEST(OutcomeTexts, AreQiskits) {
  const std::vector<Register> registers = {{"a", 0, 2}, {"none", 2, 0}, {"b", 2, 63}, {"", 65, 4}};
  EXPECT_EQ(shown_bits(registers), 65u);
  const std::vector<std::uint64_t> words = {0b101, 1};  // bits 0, 2 and 64
  EXPECT_EQ(bits_text(words, registers), "1" + std::string(61, '0') + "1 01");
  std::string text = "x";
  append_bits(text, words, std::span(registers).first(1));
  EXPECT_EQ(text, "x01") << "no space before the first";
  EXPECT_EQ(bits_text(words, {}), "");
}

TEST(TerminalMeasurements, WriteEveryBitOfTheirQubits) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t qubits = 1 + static_cast<std::uint32_t>(random() % 62);
    const std::size_t clbits = 1 + random() % 150;
    std::vector<std::pair<Qubit, Clbit>> measures;
    std::map<Clbit, Qubit> last;
    for (int i = 0; i < 40; ++i) {
      measures.emplace_back(static_cast<Qubit>(random() % qubits), static_cast<Clbit>(random() % clbits));
      last[measures.back().second] = measures.back().first;
    }
    const TerminalMeasurements terminal(measures, clbits);
    ClassicalBits bits(clbits), before(clbits);
    for (std::size_t bit = 0; bit < clbits; ++bit) before.set(bit, random() % 2 == 1);
    bits = before;
    for (int draw = 0; draw < 3; ++draw) {
      const Index logical = random() >> (64 - qubits);
      terminal.write(logical, bits);
      for (Clbit bit = 0; bit < clbits; ++bit) {
        const bool wanted = last.contains(bit) ? test_bit(logical, last.at(bit)) : before[bit];
        ASSERT_EQ(bits[bit], wanted) << "bit " << bit;
      }
    }
  }
}

}  // namespace
}  // namespace qsim
