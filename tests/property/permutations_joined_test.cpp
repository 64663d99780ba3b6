// Gates with several controls one behind the other, of which compilers have cancelled or merged what met: the Hadamard
// gates, phases and flips that they ended with. Each is found again, and everything stays what it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "support/ancilla_circuit.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/passes.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

using test::recognise_lightest;

constexpr double kPi = std::numbers::pi;

void expect_same(const Circuit& circuit, const Rewritten& rewritten, std::uint64_t seed) {
  const dense::State start = dense::random_state(circuit.qubits(), seed);
  EXPECT_LE(dense::max_difference(dense::run(circuit, start), dense::run(rewritten.circuit, start)),
            test::rounding_tolerance(Precision::kDouble, circuit.operations().size()));
}

std::size_t turns_of(const Circuit& circuit) {
  return static_cast<std::size_t>(
      std::ranges::count_if(circuit.operations(), [](const Operation& op) { return op.gate == Gate::kH; }));
}

/// The operations from `first` to `end`.
Circuit part_of(const Circuit& circuit, std::size_t first, std::size_t end) {
  Circuit part(circuit.qubits());
  for (std::size_t i = first; i < end; ++i) part.append(circuit, circuit.operations()[i]);
  return part;
}

TEST(PermutationsJoined, AGateThatLacksItsLastTurnIsFound) {
  Circuit whole(5);
  test::append_chain(whole, 3, test::append_margolus, test::append_toffoli);
  // The last Hadamard gate of the gate that gives the ancilla back.
  std::size_t last = whole.operations().size() - 1;
  while (whole.operations()[last].gate != Gate::kH) --last;
  ASSERT_EQ(whole.targets(whole.operations()[last])[0], 3U);
  for (const bool phase : {false, true}) {
    for (const bool flip : {false, true}) {
      Circuit circuit = part_of(whole, 0, last);
      for (std::size_t i = last + 1; i < whole.operations().size(); ++i) circuit.append(whole, whole.operations()[i]);
      if (phase) circuit.rz(0.3, 3);
      if (flip) circuit.x(3);
      Rewritten rewritten;
      ASSERT_TRUE(recognise_lightest(circuit, rewritten)) << phase << flip;
      expect_same(circuit, rewritten, 3);
      EXPECT_EQ(turns_of(rewritten.circuit), 1U);
      EXPECT_LE(3 * circuit_cost(rewritten.circuit), 2 * circuit_cost(circuit));
    }
  }
}

TEST(PermutationsJoined, PhasesBeforeTheFirstTurnStayThere) {
  Circuit circuit(3);
  circuit.t(2).cp(kPi / 8, 2, 0).h(2);
  test::append_toffoli(circuit, 0, 1, 2);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_lightest(circuit, rewritten));
  expect_same(circuit, rewritten, 4);
  EXPECT_LE(turns_of(rewritten.circuit), 1U);
  EXPECT_LE(rewritten.circuit.operations().size(), 5U);
}

/// Gates with two controls as they are written with T gates, on neighbours of a line that goes to and fro: a sum that
/// went on over all of them would be too large.
TEST(PermutationsJoined, LongRowsAreFoundToTheirEnd) {
  constexpr Qubit kQubits = 9;
  Circuit circuit(kQubits);
  std::mt19937_64 random(5);
  constexpr std::size_t kGates = 120;
  for (std::size_t i = 0; i < kGates; ++i) {
    std::vector<Qubit> q(kQubits);
    for (Qubit each = 0; each < kQubits; ++each) q[each] = each;
    std::ranges::shuffle(q, random);
    test::append_toffoli(circuit, q[0], q[1], q[2]);
  }
  Rewritten rewritten;
  ASSERT_TRUE(recognise_lightest(circuit, rewritten));
  expect_same(circuit, rewritten, 6);
  EXPECT_LE(turns_of(rewritten.circuit), kGates / 10);
}

/// Pieces that permute, and Hadamard gates, flips and phases between them, of which neighbours that undo each other are
/// left out as compilers do it.
Circuit joined(std::uint32_t qubits, unsigned pieces, std::mt19937_64& random) {
  Circuit circuit(qubits);
  std::vector<Qubit> q(qubits);
  for (Qubit each = 0; each < qubits; ++each) q[each] = each;
  for (unsigned piece = 0; piece < pieces; ++piece) {
    std::ranges::shuffle(q, random);
    const double part = kPi / static_cast<double>(1 << random() % 6);
    switch (random() % 8) {
      case 0:
      case 1:
        test::append_toffoli(circuit, q[0], q[1], q[2]);
        break;
      case 2:
        test::append_margolus(circuit, q[0], q[1], q[2]);
        break;
      case 3:
        circuit.h(q[0]).cp(part, q[1], q[0]).cp(part, q[2], q[0]).h(q[0]);
        break;
      case 4:
        circuit.h(q[0]).cp(-part, q[2], q[0]).cp(-part, q[1], q[0]).h(q[0]);
        break;
      case 5:
        circuit.h(q[0]).h(q[1]);
        break;
      case 6:
        circuit.x(q[0]).p(part, q[1]).cx(q[1], q[2]);
        break;
      default:
        circuit.h(q[0]).cp(part, q[0], q[1]).h(q[2]);
        break;
    }
  }
  Rewritten cancelled;
  return cancel_inverses(circuit, cancelled) ? cancelled.circuit : circuit;
}

struct Found {
  std::uint64_t any = 0, from_zero = 0;
};

Circuit joined(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto qubits = static_cast<std::uint32_t>(3 + seed % 6);
  return joined(qubits, static_cast<unsigned>(seed % 16 == 0 ? 300 : 3 + random() % 40), random);
}

void expect_unchanged(std::uint64_t seed, Found& found) {
  const Circuit circuit = joined(seed);
  const std::vector<Rewritten> any = recognise_permutations(circuit, false);
  for (const Rewritten& each : any) expect_same(circuit, each, seed);
  if (!any.empty()) ++found.any;
  const std::vector<Rewritten> known = recognise_permutations(circuit, true);
  for (const Rewritten& each : known) {
    const dense::State start = dense::zero_state(circuit.qubits());
    EXPECT_LE(dense::max_difference(dense::run(circuit, start), dense::run(each.circuit, start)),
              test::rounding_tolerance(Precision::kDouble, circuit.operations().size()));
  }
  if (!known.empty()) ++found.from_zero;
}

TEST(PermutationsJoined, RandomRowsStayWhatTheyAre) {
  const test::Campaign campaign(1500);
  Found found;
  for (std::uint64_t i = campaign.first; i < campaign.first + campaign.count; ++i) {
    expect_unchanged(i, found);
    ASSERT_FALSE(HasFailure()) << i;
  }
  EXPECT_GT(found.any, campaign.count / 2);
  EXPECT_GT(found.from_zero, campaign.count / 2);
}

/// Whatever sums make of a circuit, the passes behind them go on with each.
TEST(PermutationsJoined, EveryChoiceIsTheSameCircuit) {
  const test::Campaign campaign(300);
  std::uint64_t several = 0;
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    std::mt19937_64 random(seed);
    const auto qubits = static_cast<std::uint32_t>(3 + seed % 6);
    const Circuit circuit = joined(qubits, static_cast<unsigned>(3 + random() % 60), random);
    for (const bool from_zero : {false, true}) {
      Optimizer optimizer(circuit, from_zero);
      const std::size_t choices = optimizer.choices({});
      for (std::size_t choice = 0; choice < choices; ++choice) {
        Rewritten rewritten;
        if (!optimizer.run({}, rewritten, choice)) continue;
        const dense::State start = from_zero ? dense::zero_state(qubits) : dense::random_state(qubits, seed);
        ASSERT_LE(dense::max_difference(dense::run(circuit, start), test::run_rewritten(rewritten, start)),
                  test::rounding_tolerance(Precision::kDouble, circuit.operations().size()))
            << seed << " choice " << choice;
      }
      several += choices > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(several, campaign.count / 4);
}

/// A sum that became too large begins again with the Hadamard gates that what it found lacks: the same gates of what
/// comes next were cancelled against them. Without those the lightest is 141.
TEST(PermutationsJoined, SumsBeginAgainWithTheTurnsThatAreLacking) {
  const Circuit circuit = joined(1203);
  Rewritten rewritten;
  ASSERT_TRUE(recognise_lightest(circuit, rewritten));
  expect_same(circuit, rewritten, 1203);
  EXPECT_LE(circuit_cost(rewritten.circuit), 120);
}

/// Several gates lack their last turns at one place, and one of those changes what the others' qubits hold.
TEST(PermutationsJoined, SeveralTurnsMayBeLackingAtOnce) {
  Found found;
  expect_unchanged(55309, found);
  EXPECT_EQ(found.from_zero, 1U);
}

}  // namespace
}  // namespace qsim
