// Shorter networks of CX gates against the maps of the given ones.
#include "optimizer/cx_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "base/bits.h"

namespace qsim {
namespace {

constexpr std::uint64_t kPlenty = 1'000'000'000;

Index image_of(std::span<const Cx> gates, Index state) {
  for (const Cx& gate : gates)
    if (test_bit(state, gate.control)) state ^= bit_mask(gate.target);
  return state;
}

Index image_of(const CxNetwork& network, Index state) {
  state = image_of(network.before, state);
  Index renamed = 0;
  for (std::size_t j = 0; j < network.from.size(); ++j)
    if (test_bit(state, network.from[j])) renamed |= bit_mask(static_cast<unsigned>(j));
  return image_of(network.after, renamed);
}

// A map is linear: it is known by what it does to single bits.
void expect_same_map(std::span<const Cx> gates, unsigned places, const CxNetwork& network) {
  ASSERT_EQ(network.from.size(), places);
  for (unsigned j = 0; j < places; ++j)
    EXPECT_EQ(image_of(network, bit_mask(j)), image_of(gates, bit_mask(j))) << "bit " << j;
}

// Every pair once, in the order of Qiskit's "full" entanglement of the places as they are in `order`.
std::vector<Cx> full_entanglement(std::span<const unsigned> order) {
  std::vector<Cx> gates;
  for (std::size_t a = 0; a < order.size(); ++a)
    for (std::size_t b = a + 1; b < order.size(); ++b) gates.push_back({order[a], order[b]});
  return gates;
}

TEST(CxNetwork, RandomNetworksKeepTheirMapAndGetShorter) {
  std::mt19937_64 random(1);
  int found = 0;
  for (int trial = 0; trial < 600; ++trial) {
    const auto places = static_cast<unsigned>(2 + random() % (trial % 20 == 0 ? 63 : 9));
    std::vector<Cx> gates(1 + random() % (3 * places));
    for (Cx& gate : gates) {
      gate.control = static_cast<unsigned>(random() % places);
      gate.target = static_cast<unsigned>((gate.control + 1 + random() % (places - 1)) % places);
    }
    std::uint64_t steps = kPlenty;
    const auto shorter = shorter_network(gates, places, steps);
    if (!shorter) continue;
    ++found;
    EXPECT_LT(shorter->gates(), gates.size());
    expect_same_map(gates, places, *shorter);
    if (HasFailure()) FAIL() << "trial " << trial;
  }
  EXPECT_GT(found, 300);
}

// Passes use no network that does not pass this.
TEST(CxNetwork, AnotherMapIsSeen) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const auto places = static_cast<unsigned>(3 + random() % 6);
    const auto any = [&] {
      const auto control = static_cast<unsigned>(random() % places);
      return Cx{control, static_cast<unsigned>((control + 1 + random() % (places - 1)) % places)};
    };
    std::vector<Cx> gates(4 * places);
    std::generate(gates.begin(), gates.end(), any);
    std::uint64_t steps = kPlenty;
    const auto shorter = shorter_network(gates, places, steps);
    if (!shorter) continue;
    EXPECT_TRUE(same_map(gates, *shorter, places));
    CxNetwork other = *shorter;
    other.before.insert(other.before.begin(), any());
    EXPECT_FALSE(same_map(gates, other, places));
    other = *shorter;
    other.after.push_back(any());
    EXPECT_FALSE(same_map(gates, other, places));
    other = *shorter;
    std::swap(other.from[0], other.from[1]);
    EXPECT_FALSE(same_map(gates, other, places));
    gates.push_back(any());
    EXPECT_FALSE(same_map(gates, *shorter, places));
  }
}

TEST(CxNetwork, FullEntanglementIsAChain) {
  std::mt19937_64 random(2);
  for (const unsigned places : {3U, 4U, 12U, 30U, 64U}) {
    std::vector<unsigned> order(places);
    for (unsigned j = 0; j < places; ++j) order[j] = j;
    for (int mixed = 0; mixed < 3; ++mixed) {
      const std::vector<Cx> gates = full_entanglement(order);
      std::uint64_t steps = kPlenty;
      const auto shorter = shorter_network(gates, places, steps);
      ASSERT_TRUE(shorter);
      EXPECT_EQ(shorter->gates(), places - 1);
      expect_same_map(gates, places, *shorter);
      std::shuffle(order.begin(), order.end(), random);
    }
  }
}

TEST(CxNetwork, ThreeCxAreTwoNamesThatChange) {
  std::uint64_t steps = kPlenty;
  const auto shorter = shorter_network(std::vector<Cx>{{0, 1}, {1, 0}, {0, 1}}, 2, steps);
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->gates(), 0U);
  EXPECT_EQ(shorter->from, (std::vector<unsigned>{1, 0}));
}

TEST(CxNetwork, ALadderStaysAndSoDoesWhatThereAreNoStepsFor) {
  std::uint64_t steps = kPlenty;
  EXPECT_FALSE(shorter_network(std::vector<Cx>{{0, 1}, {1, 2}, {2, 3}}, 4, steps));
  const std::vector<unsigned> order{0, 1, 2, 3, 4, 5};
  steps = 5 * 36 - 1;  // five gates are needed
  EXPECT_FALSE(shorter_network(full_entanglement(order), 6, steps));
  steps = 5 * 36;
  EXPECT_TRUE(shorter_network(full_entanglement(order), 6, steps));
  EXPECT_EQ(steps, 0U);
}

TEST(CxNetwork, OfStepsThatLeaveAsFewOnesTheFirstIsTaken) {
  std::uint64_t steps = kPlenty;
  const auto shorter = shorter_network(std::vector<Cx>{{0, 1}, {0, 2}, {1, 0}}, 3, steps);
  ASSERT_TRUE(shorter);
  const auto pairs = [](const std::vector<Cx>& gates) {
    std::vector<std::pair<unsigned, unsigned>> found;
    for (const Cx& gate : gates) found.emplace_back(gate.control, gate.target);
    return found;
  };
  EXPECT_EQ(pairs(shorter->before), (std::vector<std::pair<unsigned, unsigned>>{{0, 2}}));
  EXPECT_EQ(shorter->from, (std::vector<unsigned>{1, 0, 2}));
  EXPECT_EQ(pairs(shorter->after), (std::vector<std::pair<unsigned, unsigned>>{{0, 1}}));
}

// The choice of the next gate decides the length alone, never the map: the reached lengths may only fall.
TEST(CxNetwork, RandomNetworksAreNoLongerThanWasReached) {
  std::mt19937_64 random(7);
  std::size_t total = 0, refused = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const auto places = static_cast<unsigned>(4 + random() % 13);
    std::vector<Cx> gates(places * places);
    for (Cx& gate : gates) {
      gate.control = static_cast<unsigned>(random() % places);
      gate.target = static_cast<unsigned>((gate.control + 1 + random() % (places - 1)) % places);
    }
    std::uint64_t steps = kPlenty;
    const auto shorter = shorter_network(gates, places, steps);
    refused += shorter ? 0 : 1;
    total += shorter ? shorter->gates() : gates.size();
  }
  EXPECT_LE(total, 11027u);
  EXPECT_LE(refused, 18u);
}

}  // namespace
}  // namespace qsim
