// Names for long polynomials: what is written out again is what was named, and sums over paths with names are those
// without.
#include "optimizer/sums/named_polynomials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "optimizer/paths/path_steps.h"
#include "optimizer/sums/path_sum.h"
#include "support/ancilla_circuit.h"

namespace qsim {
namespace {

constexpr Wide kVariables = (Wide{1} << 20) - 1, kOpen = 0b111;

Boolean<Wide> random_polynomial(std::mt19937_64& random, std::size_t products, Wide of) {
  Boolean<Wide> polynomial;
  while (polynomial.size() < products) toggle(polynomial, Wide{random() & random()} & of);
  return polynomial;
}

TEST(NamedPolynomials, WhatIsWrittenOutIsWhatWasNamed) {
  std::mt19937_64 random(1);
  NamedPolynomials named;
  for (int round = 0; round < 300; ++round) {
    if (round % 20 == 0) named.forget_all_but(0);
    // Of variables and of names that there are.
    const Wide of = kVariables | named.names();
    const Boolean<Wide> polynomial = random_polynomial(random, 1 + random() % 12, of);
    Boolean<Wide> expected = polynomial, written = named.shortened(polynomial, kOpen, kVariables);
    EXPECT_EQ(written, named.shortened(polynomial, kOpen, kVariables));
    EXPECT_TRUE(std::ranges::all_of(written, [&](Wide p) { return (p & ~(kVariables | named.names())) == 0; }));
    std::uint64_t work = 0;
    const bool one = named.write_out(expected, 2048, work), other = named.write_out(written, 2048, work);
    ASSERT_EQ(one, other);
    if (one) {
      EXPECT_EQ(written, expected);
    }
  }
}

TEST(NamedPolynomials, LongPolynomialsAreShortAndConstantsStayOutside) {
  std::mt19937_64 random(2);
  NamedPolynomials named;
  Boolean<Wide> polynomial = random_polynomial(random, 30, kVariables & ~kOpen);
  if (polynomial.front() == 0) polynomial.erase(polynomial.begin());
  const Boolean<Wide> name = named.shortened(polynomial, kOpen, kVariables);
  ASSERT_EQ(name.size(), 1U);
  toggle(polynomial, Wide{0});
  EXPECT_EQ(named.shortened(polynomial, kOpen, kVariables), (Boolean<Wide>{0, name.front()}));
  EXPECT_EQ(named.holds(name.front()) & kVariables & kOpen, Wide{0});
  // Without a bit for a name they stay long.
  polynomial.pop_back();
  EXPECT_EQ(named.shortened(polynomial, kOpen, ~named.names()), polynomial);
  named.forget_all_but(name.front());
  EXPECT_EQ(named.names(), name.front());
  named.forget_all_but(0);
  EXPECT_EQ(named.names(), Wide{0});
}

/// A sum over the circuit; nothing where it has become too large.
std::optional<PathSum> sum_over(const Circuit& circuit, bool names) {
  PathSum sum(circuit.qubits(), 0, names);
  std::vector<PathStep> steps;
  for (const Operation& op : circuit.operations()) {
    if (!append_steps(circuit, op, steps)) return std::nullopt;
  }
  for (const PathStep& step : steps) {
    if (!append_to(sum, step)) return std::nullopt;
  }
  return sum;
}

/// What the circuit of flips makes of the bits.
Index flipped(const Circuit& circuit, Index bits) {
  for (const Operation& op : circuit.operations()) {
    Index controls = 0;
    for (const Qubit c : circuit.controls(op)) controls |= bit_mask(c);
    if ((bits & controls) == controls) bits ^= bit_mask(circuit.targets(op)[0]);
  }
  return bits;
}

TEST(NamedPolynomials, LaddersGiveBackWhatTheyUseAndAreWrittenOut) {
  std::mt19937_64 random(4);
  constexpr unsigned kQubits = 24;
  int closed = 0, with_names_alone = 0;
  for (int round = 0; round < 300; ++round) {
    Circuit computed(kQubits);
    Qubit last = 0;
    for (std::uint64_t i = 8 + random() % 12; i > 0; --i) {
      const Qubit other = static_cast<Qubit>(random() % (kQubits - 1)),
                  t = static_cast<Qubit>(random() % (kQubits - 1));
      if (random() % 2 == 0) computed.x(t);
      if (other != t && other != last && last != t) computed.ccx(last, other, std::exchange(last, t));
    }
    Circuit circuit = computed;
    circuit.ccx(last, last == 0 ? 1 : 0, kQubits - 1);
    const Circuit back = computed.inverse();
    for (const Operation& op : back.operations()) circuit.append(back, op);
    const std::optional<PathSum> sum = sum_over(circuit, true);
    const std::optional<PhasedPermutation> permutation = sum ? sum->permutation() : std::nullopt;
    if (!permutation) continue;
    ++closed;
    with_names_alone += sum_over(circuit, false).has_value() ? 0 : 1;
    for (Qubit q = 0; q + 1 < kQubits; ++q) EXPECT_EQ(permutation->values[q], Boolean<Index>{bit_mask(q)});
    for (int draw = 0; draw < 50; ++draw) {
      const Index bits = (random() | random()) & low_mask(kQubits);
      const auto holds = [&](Index product) { return (bits & product) == product; };
      const bool value = std::ranges::count_if(permutation->values[kQubits - 1], holds) % 2 != 0;
      ASSERT_EQ(value, test_bit(flipped(circuit, bits), kQubits - 1)) << round;
    }
  }
  EXPECT_GT(closed, 200);
  EXPECT_GT(with_names_alone, 0);
}

TEST(NamedPolynomials, SumsWithNamesAreThoseWithout) {
  std::mt19937_64 random(3);
  int closed = 0, with_names_alone = 0;
  for (int round = 0; round < 600; ++round) {
    constexpr unsigned kQubits = 9;
    Circuit computed(kQubits);
    for (std::uint64_t i = 4 + random() % 8; i > 0; --i) {
      const Qubit t = static_cast<Qubit>(random() % kQubits);
      const Qubit a = static_cast<Qubit>((t + 1 + random() % (kQubits - 1)) % kQubits);
      const Qubit b = static_cast<Qubit>((t + 1 + random() % (kQubits - 1)) % kQubits);
      if (random() % 3 == 0) computed.x(a);
      if (a != b) (random() % 2 == 0 ? test::append_toffoli : test::append_margolus)(computed, a, b, t);
    }
    Circuit circuit = computed;
    test::append_toffoli(circuit, 0, 1, 2);
    const Circuit back = computed.inverse();
    for (const Operation& op : back.operations()) circuit.append(back, op);
    const std::optional<PathSum> named = sum_over(circuit, true), plain = sum_over(circuit, false);
    if (!named) continue;
    const std::optional<PhasedPermutation> permutation = named->permutation();
    if (!permutation) continue;
    ++closed;
    const std::optional<PhasedPermutation> expected = plain ? plain->permutation() : std::nullopt;
    if (!expected) {
      ++with_names_alone;
      continue;
    }
    EXPECT_EQ(permutation->values, expected->values) << round;
    EXPECT_EQ(permutation->phases, expected->phases) << round;
  }
  EXPECT_GT(closed, 100);
  EXPECT_GT(with_names_alone, 0);
}

}  // namespace
}  // namespace qsim
