// Contract: read-outs, packing, snapshots and random filling.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "backend_contract.h"
#include "base/bits.h"
#include "base/layout.h"
#include "base/philox.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "runtime/read_out/sampling.h"
#include "support/sweep_reference.h"

namespace qsim::test {
namespace {

std::uint64_t units(const Complex& a) {
  return static_cast<std::uint64_t>(std::llrint((a.real() * a.real() + a.imag() * a.imag()) * 0x1p62));
}

/// Bits of `index` at the places `bits`, packed.
Index pick(Index index, const std::vector<Bit>& bits) {
  Index value = 0;
  for (std::size_t j = 0; j < bits.size(); ++j) value |= (index >> bits[j] & 1) << j;
  return value;
}

}  // namespace

TEST_P(BackendContract, RandomAmplitudesBelongToLogicalIndices) {
  reserve(6);
  Layout layout = Layout::identity(8);
  std::swap(layout.bit_of[0], layout.bit_of[7]);
  std::swap(layout.bit_of[3], layout.bit_of[5]);
  const Philox philox(99, 0);
  for (const std::uint32_t rank : {0u, 2u, 3u}) {
    backend_->fill_random(layout, rank, 99, 0.5);
    const std::vector<Complex> values = read();
    for (Index i = 0; i < values.size(); ++i) {
      const auto [re, im] = philox.gaussian_pair(layout.to_logical(i | Index{rank} << 6));
      EXPECT_NEAR(std::abs(values[i] - 0.5 * Complex(re, im)), 0, single() ? 1e-6 : 1e-14);
    }
  }
}

TEST_P(BackendContract, NormAndProbabilitiesOfBitsAreSums) {
  for (const std::uint32_t bits : {0u, 1u, 3u, 7u, 13u, 14u}) {
    reserve(bits);
    const std::vector<Complex> a = start(5 + bits);
    std::vector<double> expected(bits + 1), out(bits + 1);
    for (Index i = 0; i < a.size(); ++i) {
      for_each_bit(i, [&](unsigned bit) { expected[bit] += std::norm(a[i]); });
      expected[bits] += std::norm(a[i]);
    }
    EXPECT_NEAR(backend_->reader().norm(), expected[bits], 1e-13);
    backend_->reader().bit_probabilities(out);
    for (std::uint32_t bit = 0; bit <= bits; ++bit) EXPECT_NEAR(out[bit], expected[bit], 1e-13) << "bit " << bit;
  }
}

TEST_P(BackendContract, HistogramsOrderTheirOutcomesByTheGivenBits) {
  reserve(13);
  const std::vector<Complex> a = start(71);
  const std::vector<std::vector<Bit>> lists = {{},
                                               {4},
                                               {10, 9},
                                               {1, 12},
                                               {2, 11, 3},
                                               {12, 0, 5},
                                               {1, 2, 3, 9, 10, 11, 12, 0, 8, 7, 6, 5},
                                               {12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}};
  for (const std::vector<Bit>& bits : lists) {
    std::vector<double> expected(bit_mask(static_cast<unsigned>(bits.size()))), out(expected.size(), -1.0);
    for (Index i = 0; i < a.size(); ++i) expected[pick(i, bits)] += std::norm(a[i]);
    backend_->reader().histogram(bits, out);
    for (std::size_t v = 0; v < out.size(); ++v) ASSERT_NEAR(out[v], expected[v], 1e-13) << bits.size() << " bits";
    for (const ChunkView view : {ChunkView{}, ChunkView{0b1000000010000, 0b10000}, ChunkView{0b111, 0b101}}) {
      std::vector<std::uint64_t> exact(out.size()), found(out.size(), 1);
      for (Index i = 0; i < a.size(); ++i) {
        if ((i & view.mask) == view.value) exact[pick(i, bits)] += units(a[i]);
      }
      backend_->reader().unit_histogram(view, bits, found);
      ASSERT_EQ(found, exact) << "units are integers: no rounding, " << bits.size() << " bits";
    }
  }
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

/// Of the view, from the definition.
std::uint64_t checksum_of(const std::vector<Complex>& a, ChunkView view, bool single) {
  const auto word = [&](double value) {
    return single ? std::uint64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))}
                  : std::bit_cast<std::uint64_t>(value);
  };
  std::uint64_t sum = 0;
  for (Index i = 0; i < a.size(); ++i) {
    if ((i & view.mask) != view.value) continue;
    const Index place = i & ~view.mask;
    sum += mixed(mixed((place + 1) * 0x9e3779b97f4a7c15ull ^ word(a[i].real())) + word(a[i].imag()));
  }
  return sum;
}

TEST_P(BackendContract, ChecksumsAreThoseOfTheDefinitionOnEveryView) {
  for (const std::uint32_t bits : {0u, 1u, 5u, 13u}) {
    reserve(bits);
    const std::vector<Complex> a = start(90 + bits);
    for (const Index mask : {Index{0}, Index{1}, Index{0b10110}, Index{0b1000000010000}, low_mask(bits)}) {
      const Index fixed = mask & low_mask(bits);
      for (const Index value : {Index{0}, fixed, fixed & 0b10010}) {
        EXPECT_EQ(backend_->reader().checksum({fixed, value}), checksum_of(a, {fixed, value}, single()));
      }
    }
  }
}

TEST_P(BackendContract, ChecksumsKnowTheirContentsWhereverTheyLie) {
  reserve(8);
  start(3);
  const ChunkView from{0b1100, 0b0100}, to{0b1100, 0b1000};
  const std::uint64_t before = backend_->reader().checksum(from);
  EXPECT_NE(backend_->reader().checksum(to), before);
  backend_->pack(from, 0, 0);
  backend_->unpack(to, 0, 0);
  EXPECT_EQ(backend_->reader().checksum(to), before);
  // The same amplitudes in another order: bits 0 and 1 change places.
  Sweep swap;
  swap.active = {0, 1};
  swap.store = {1, 0};
  backend_->sweep(backend_->prepare({&swap, 1}, Summing::kNo), {}, 0, false);
  EXPECT_NE(backend_->reader().checksum(to), before);
}

TEST_P(BackendContract, DrawsFindTheFirstAmplitudeBeyondTheirOffset) {
  reserve(10);
  const std::vector<Complex> a = start(72);
  const std::vector<Bit> block_bits = {9, 2, 5}, order = {3, 0, 8, 1, 7, 4, 6};
  std::vector<UnitDraw> draws;
  std::vector<Index> expected;
  for (Index block = 0; block < 8; block += 2) {
    std::uint64_t total = 0;
    for (Index c = 0; c < 128; ++c) {
      Index i = 0;
      for (std::size_t j = 0; j < 3; ++j) i |= (block >> j & 1) << block_bits[j];
      for (std::size_t j = 0; j < 7; ++j) i |= (c >> j & 1) << order[j];
      const std::uint64_t here = units(a[i]);
      if (here != 0 && c % 3 == 0) {  // the first and the last unit of an amplitude
        draws.push_back({block, total});
        draws.push_back({block, total + here - 1});
        expected.insert(expected.end(), {i, i});
      }
      total += here;
    }
  }
  std::vector<Index> found(draws.size());
  backend_->reader().locate(block_bits, order, draws, found);
  EXPECT_EQ(found, expected);
}

namespace {

/// Blocks of which some bits of the numbers are other ranks'.
struct DrawCase {
  std::uint32_t bits = 0;
  std::vector<Bit> block_bits, order;
  Index local_positions = 0, fixed = 0;
  std::uint32_t end_bits = 0;
};

std::vector<DrawCase> draw_cases() {
  std::vector<DrawCase> cases;
  // Bit 2 of a block's number is another rank's; its blocks with 0 there are elsewhere.
  cases.push_back({14, {12, 3, 9}, {5, 0, 13, 8, 1, 7, 4, 6, 2, 11, 10}, 0b1011, 0b0100, 4});
  // Tiles are neighbours in memory; the tiles' bits are the highest; blocks of one amplitude, of eight, of a tile.
  for (const std::uint32_t inner : {0u, 3u, 7u, 9u, 14u}) {
    for (const bool turned : {false, true}) {
      const std::uint32_t bits = inner == 0 ? 16 : 18;
      DrawCase one{bits, {}, {}, low_mask(bits - inner), 0, bits - inner};
      for (std::uint32_t bit = 0; bit < bits; ++bit) {
        const auto at = static_cast<Bit>(turned ? bits - 1 - bit : bit);
        (bit < inner ? one.order : one.block_bits).push_back(at);
      }
      cases.push_back(one);
    }
  }
  return cases;
}

}  // namespace

TEST_P(BackendContract, ManyDrawsAreThoseOfTheHost) {
  Drawer* const drawer = backend_->abilities().drawer;
  for (const DrawCase& one : draw_cases()) {
    for (const bool crowded : {false, true}) {
      reserve(one.bits);
      (void)start(74);
      if (crowded) {  // nearly all draws in a few amplitudes
        Sweep few;
        few.active = few.store = {0};
        few.reads = false;
        for (Bit bit = 0; bit < one.bits; ++bit) {
          few.unborn |= bit_mask(bit);
          few.births.push_back({bit, {Complex(std::sqrt(0.01)), Complex(0, std::sqrt(0.99))}});
        }
        backend_->clear_sweeps();
        backend_->sweep(backend_->prepare(std::span(&few, 1), Summing::kNo), ChunkView{}, 0, false);
      }
      std::vector<std::uint64_t> here(std::size_t{1} << one.block_bits.size()), ends(std::size_t{1} << one.end_bits);
      backend_->reader().unit_histogram({}, one.block_bits, here);
      if (drawer != nullptr && drawer->begin_blocks(one.block_bits, one.order)) {
        std::vector<std::uint64_t> begun(here.size());
        drawer->take_blocks(begun);
        EXPECT_EQ(begun, here);
        EXPECT_TRUE(drawer->blocks_ready());
      } else if (drawer != nullptr) {
        EXPECT_LT(one.order.size(), 7u);
      }
      std::uint64_t total = 0;
      for (Index block = 0; block < ends.size(); ++block) {
        const bool mine = (block & ~one.local_positions) == one.fixed;
        ends[block] = total += mine ? here[extract_bits(block, one.local_positions)] : std::uint64_t{1} << 55;
      }
      const DrawBlocks blocks{ends, one.local_positions, one.fixed, one.block_bits, one.order};
      for (const bool listed : {true, false}) {
        std::vector<std::uint64_t> shots(150'000), found;
        for (std::size_t i = 0; i < shots.size(); ++i) shots[i] = (listed ? 3 : 1) * i + (std::uint64_t{1} << 33);
        const auto take = [&](std::span<const std::uint64_t> piece) {
          found.insert(found.end(), piece.begin(), piece.end());
        };
        const ShotNumbers numbers = listed ? ShotNumbers{shots, 0, 0} : ShotNumbers{{}, shots[0], shots.size()};
        if (drawer == nullptr || !drawer->draw(blocks, numbers, 11, 12, take)) {
          EXPECT_EQ(drawer, nullptr);
          continue;
        }
        std::vector<std::uint64_t> places, wanted;
        for (const std::uint64_t shot : shots)
          places.push_back(scale_word(Philox(11, 12).block(shot / 4)[shot % 4], total));
        std::sort(places.begin(), places.end());
        std::vector<UnitDraw> draws;
        std::vector<Index> block_of;
        for (const std::uint64_t place : places) {
          const auto block = static_cast<Index>(std::upper_bound(ends.begin(), ends.end(), place) - ends.begin());
          if ((block & ~one.local_positions) != one.fixed) continue;
          draws.push_back({extract_bits(block, one.local_positions), place - (block == 0 ? 0 : ends[block - 1])});
          block_of.push_back(block);
        }
        std::vector<Index> indices(draws.size());
        backend_->reader().locate(one.block_bits, one.order, draws, indices);
        for (std::size_t i = 0; i < draws.size(); ++i)
          wanted.push_back(block_of[i] << one.order.size() | pick(indices[i], one.order));
        EXPECT_GT(wanted.size(), 10'000u);
        std::sort(found.begin(), found.end());  // in pieces where scratch is short
        ASSERT_EQ(found, wanted) << one.bits << " bits, blocks of " << one.order.size() << ", listed " << listed;
      }
    }
  }
}

TEST_P(BackendContract, DrawsFromAnotherStateThanTheBlocksSayAreNoAmplitudes) {
  Drawer* const drawer = backend_->abilities().drawer;
  if (drawer == nullptr) return;
  reserve(16);
  (void)start(76);
  std::vector<Bit> block_bits(6), order(10);
  for (std::uint32_t bit = 0; bit < 16; ++bit) (bit < 10 ? order[bit] : block_bits[bit - 10]) = static_cast<Bit>(bit);
  ASSERT_TRUE(drawer->begin_blocks(block_bits, order));
  std::vector<std::uint64_t> ends(64);
  drawer->take_blocks(ends);
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  (void)start(77);
  std::size_t lost = 0;
  const auto take = [&](std::span<const std::uint64_t> piece) {
    lost +=
        static_cast<std::size_t>(std::ranges::count_if(piece, [](std::uint64_t value) { return value >> 16 != 0; }));
  };
  ASSERT_TRUE(drawer->draw({ends, low_mask(6), 0, block_bits, order}, {{}, 0, 20'000}, 1, 2, take));
  EXPECT_EQ(lost, 20'000u);
}

TEST_P(BackendContract, TopAmplitudesFallAndTiesGoToTheLowestLogicalIndex) {
  reserve(11);
  const std::vector<Complex> a = start(73);
  std::vector<Index> order(a.size());
  for (Index i = 0; i < order.size(); ++i) order[i] = i;
  Layout layout = Layout::identity(12);
  std::reverse(layout.bit_of.begin(), layout.bit_of.end() - 1);
  auto logical = [&](Index i) { return layout.to_logical(i | bit_mask(11)); };
  std::sort(order.begin(), order.end(), [&](Index x, Index y) {
    const double px = std::norm(a[x]), py = std::norm(a[y]);
    return px != py ? px > py : logical(x) < logical(y);
  });
  const std::vector<IndexProbability> best = backend_->reader().top(20, layout, 1);
  ASSERT_EQ(best.size(), 20u);
  for (std::size_t j = 0; j < best.size(); ++j) {
    EXPECT_EQ(best[j].index, order[j]);
    EXPECT_NEAR(best[j].probability, std::norm(a[order[j]]), 1e-15);
  }
  EXPECT_EQ(backend_->reader().top(5000, layout, 1).size(), 2048u) << "no more than there are";
  EXPECT_TRUE(backend_->reader().top(0, layout, 1).empty());

  Sweep uniform;
  uniform.active = uniform.store = {0};
  uniform.reads = false;
  for (Bit bit = 0; bit < 11; ++bit) {
    uniform.unborn |= bit_mask(bit);
    uniform.births.push_back({bit, {Complex(std::sqrt(0.5)), Complex(0, std::sqrt(0.5))}});
  }
  backend_->clear_sweeps();
  backend_->sweep(backend_->prepare(std::span(&uniform, 1), Summing::kNo), ChunkView{}, 0, false);
  const std::vector<IndexProbability> tied = backend_->reader().top(9, layout, 1);
  for (std::size_t j = 0; j < tied.size(); ++j) EXPECT_EQ(logical(tied[j].index), bit_mask(11) | j);
}

TEST_P(BackendContract, TopAmplitudesAreRankedByEveryDigit) {
  reserve(11);
  const Layout layout = Layout::identity(11);
  // Bit 4 set: more probable by what one digit of the amplitude holds, or a few.
  const double more = single() ? 0x1p-22 : 0x1p-51;
  Sweep sweep;
  sweep.active = sweep.store = {0};
  sweep.reads = false;
  for (Bit bit = 0; bit < 11; ++bit) {
    sweep.unborn |= bit_mask(bit);
    sweep.births.push_back({bit, {Complex(0.5), Complex(bit == 4 ? 0.5 * (1 + more) : 0.5)}});
  }
  backend_->sweep(backend_->prepare(std::span(&sweep, 1), Summing::kNo), ChunkView{}, 0, false);
  const std::vector<IndexProbability> best = backend_->reader().top(1100, layout, 0);
  ASSERT_EQ(best.size(), 1100u);
  for (std::size_t j = 0; j < best.size(); ++j) {
    const Index expected = j < 1024 ? deposit_bits(j, low_mask(11) & ~bit_mask(4)) | bit_mask(4)
                                    : deposit_bits(j - 1024, low_mask(11) & ~bit_mask(4));
    ASSERT_EQ(best[j].index, expected) << j;
  }
}

TEST_P(BackendContract, PauliSumsMatchTheirDefinition) {
  PhiloxSequence random(41);
  for (const std::uint32_t bits : {1u, 4u, 12u}) {
    reserve(bits);
    const std::vector<Complex> a = start(74);
    for (int repeat = 0; repeat < 6; ++repeat) {
      const Index x = repeat == 0 ? 0 : random.bits() & low_mask(bits);
      std::vector<Index> z;
      for (int j = 0; j < 1 + 5 * repeat; ++j) z.push_back(random.bits() & low_mask(bits));
      if (repeat == 1) z[0] = 0;
      std::vector<Complex> out(z.size());
      const PauliGroup group{x, 0, static_cast<std::uint32_t>(z.size())};
      backend_->reader().pauli_sums({&group, 1}, z, out);
      for (std::size_t j = 0; j < z.size(); ++j) {
        Complex sum = 0;
        for (Index i = 0; i < a.size(); ++i) sum += std::conj(a[i ^ x]) * a[i] * (odd_parity(i & z[j]) ? -1.0 : 1.0);
        EXPECT_NEAR(std::abs(out[j] - sum), 0, 1e-13) << "x " << x << " z " << z[j];
      }
    }
  }
}

TEST_P(BackendContract, GroupsOfPauliSumsMatchOneByOne) {
  PhiloxSequence random(43);
  for (const std::uint32_t bits : {1u, 9u, 10u, 13u, 16u, 20u}) {
    reserve(bits);
    start(75);
    std::vector<PauliGroup> groups;
    std::vector<Index> z;
    for (std::uint32_t g = 0; g < 12; ++g) {
      // Within a block, within a tile, across tiles; none at all; several groups of one X part.
      const Index x = g == 0 ? 0 : g < 4 ? random.bits() & 1023 : g == 11 ? groups.back().x_mask : random.bits();
      groups.push_back({x & low_mask(bits), static_cast<std::uint32_t>(z.size()), g % 7 + 1});
      for (std::uint32_t j = 0; j < g % 7 + 1; ++j) z.push_back(random.bits() & low_mask(bits));
    }
    std::vector<Complex> together(z.size());
    backend_->reader().pauli_sums(groups, z, together);
    for (const PauliGroup& group : groups) {
      std::vector<Complex> alone(group.count);
      const PauliGroup one{group.x_mask, 0, group.count};
      backend_->reader().pauli_sums({&one, 1}, std::span(z).subspan(group.begin, group.count), alone);
      for (std::uint32_t j = 0; j < group.count; ++j) {
        EXPECT_NEAR(std::abs(together[group.begin + j] - alone[j]), 0, 1e-13) << bits << " x " << group.x_mask;
      }
    }
  }
}

TEST_P(BackendContract, PauliSumsOfALargeShardAreThoseOfSmallOnes) {
  // The highest bits are in |+>, which is the same with X.
  constexpr std::uint32_t kSmall = 20, kLarge = 23;
  PhiloxSequence random(44);
  std::vector<PauliGroup> groups;
  std::vector<Index> z;
  for (std::uint32_t g = 0; g < 24; ++g) {
    // Of a line, of a few bits, dependent on those before, one of those before, none, any.
    const Index any = random.bits() & low_mask(kSmall);
    const Index x = g % 8 == 0   ? any & 7
                    : g % 8 == 1 ? any & 0x9001
                    : g % 8 == 2 ? groups[g - 1].x_mask ^ groups[g - 2].x_mask
                    : g % 8 == 3 ? groups[g - 1].x_mask
                    : g == 12    ? 0
                                 : any;
    groups.push_back({x, g, 1});
    z.push_back(random.bits() & low_mask(kSmall));
  }
  std::vector<Complex> sums[2] = {std::vector<Complex>(z.size()), std::vector<Complex>(z.size())};
  for (const bool large : {false, true}) {
    reserve(large ? kLarge : kSmall);
    for (std::uint32_t g = 0; large && g < groups.size(); ++g) groups[g].x_mask |= Index{g % 5} << kSmall;
    Sweep product;
    product.active = product.store = {0};
    product.reads = false;
    for (std::uint32_t bit = 0; bit < (large ? kLarge : kSmall); ++bit) {
      product.unborn |= bit_mask(bit);
      const double angle = 0.3 + 0.05 * bit;
      const Complex half(std::sqrt(0.5));
      product.births.push_back(
          {static_cast<Bit>(bit), bit < kSmall
                                      ? std::array<Complex, 2>{std::cos(angle), std::polar(std::sin(angle), 0.1 + bit)}
                                      : std::array<Complex, 2>{half, half}});
    }
    backend_->clear_sweeps();
    backend_->sweep(backend_->prepare(std::span(&product, 1), Summing::kNo), ChunkView{}, 0, false);
    backend_->reader().pauli_sums(groups, z, sums[large ? 1 : 0]);
  }
  for (std::size_t j = 0; j < z.size(); ++j)
    EXPECT_NEAR(std::abs(sums[0][j] - sums[1][j]), 0, single() ? 1e-6 : 1e-13)
        << "x " << groups[j].x_mask << " z " << z[j];
}

TEST_P(BackendContract, RemotePauliSumsReadThePartnersFromASlot) {
  for (const std::uint32_t bits : {9u, 13u}) {
    reserve(bits);
    const std::vector<Complex> a = start(75);
    // The other rank's shard is played by this one's: packing the partner's view is what that rank would send.
    const Index beyond = bit_mask(bits), mask = bit_mask(bits - 1) | bit_mask(bits - 2);
    const std::vector<Index> z = {0, 0b101, 0b111000111, 0b100000000, beyond | 0b11, beyond | bit_mask(bits - 1)};
    for (const Index x : {Index{0}, Index{0b11}, mask | 0b101010, beyond | 0b01000010, beyond | bit_mask(bits - 2)}) {
      std::vector<Complex> total(z.size());
      for (Index value = 0; value <= mask; value += bit_mask(bits - 2)) {
        std::vector<Complex> out(z.size());
        backend_->pack({mask, value ^ (x & mask)}, 1, 0);
        // The same strings as two groups.
        const auto half = static_cast<std::uint32_t>(z.size() / 2), rest = static_cast<std::uint32_t>(z.size()) - half;
        const std::vector<PauliGroup> groups = {{x, 0, half}, {x, half, rest}};
        backend_->reader().pauli_sums_remote(groups, z, {mask, value}, 1, out);
        for (std::size_t j = 0; j < z.size(); ++j) total[j] += out[j];
      }
      for (std::size_t j = 0; j < z.size(); ++j) {
        Complex sum = 0;
        for (Index i = 0; i < a.size(); ++i) {
          sum += std::conj(a[(i ^ x) % a.size()]) * a[i] * (odd_parity(i & z[j]) ? -1.0 : 1.0);
        }
        const Complex kept = odd_parity(x & z[j]) ? Complex(0, sum.imag()) : Complex(sum.real(), 0);
        EXPECT_NEAR(std::abs(total[j] - kept), 0, 1e-13) << bits << " bits, x " << x << " z " << z[j];
      }
    }
  }
}

TEST_P(BackendContract, SnapshotsKeepAState) {
  reserve(12);
  const std::vector<Complex> first = start(76);
  backend_->save_state(0);
  const std::vector<Complex> second = start(77);
  backend_->save_state(1);
  Complex overlap = 0;
  for (Index i = 0; i < first.size(); ++i) overlap += std::conj(first[i]) * second[i];
  EXPECT_NEAR(std::abs(backend_->reader().inner_product(0) - overlap), 0, 1e-13);
  backend_->restore_state(0);
  EXPECT_EQ(read(), first);
  backend_->restore_state(1);
  EXPECT_EQ(read(), second);
}

TEST_P(BackendContract, AStateAndASnapshotChangePlaces) {
  for (const std::uint32_t bits : {1u, 9u, 17u, 21u}) {  // one piece, and several of the memory that is between
    reserve(bits);
    const std::vector<Complex> first = start(76);
    backend_->save_state(1);
    const std::vector<Complex> second = start(77);
    backend_->exchange_state(1);
    EXPECT_EQ(read(), first) << bits;
    backend_->exchange_state(1);
    EXPECT_EQ(read(), second) << bits;
    backend_->restore_state(1);
    EXPECT_EQ(read(), first) << bits;
  }
}

TEST_P(BackendContract, CopiesInWhatItCopiesOut) {
  for (const std::uint32_t bits : {1u, 9u, 13u}) {
    reserve(bits);
    const std::vector<Complex> wanted = start(76);
    const std::size_t unit = amplitude_bytes(GetParam().options.precision);
    std::vector<std::byte> bytes(wanted.size() * unit);
    backend_->reader().copy_out(0, wanted.size(), bytes.data());
    start(77);
    const Index half = wanted.size() / 2;
    backend_->copy_in(half, half, bytes.data() + half * unit);
    std::vector<Complex> mixed = read();
    for (Index i = half; i < wanted.size(); ++i) ASSERT_EQ(mixed[i], wanted[i]);
    backend_->copy_in(0, half, bytes.data());
    EXPECT_EQ(read(), wanted) << bits;
  }
}

TEST_P(BackendContract, PackedViewsComeBackWhereTheyBelong) {
  reserve(10);
  const std::vector<Complex> a = start(78);
  for (const ChunkView view :
       {ChunkView{}, ChunkView{1, 1}, ChunkView{0b1000000000, 0}, ChunkView{0b0110010010, 0b10010}}) {
    backend_->pack(view, 0, 0);
    const std::vector<Complex> other = start(79);
    backend_->unpack(view, 0, 0);
    const std::vector<Complex> after = read();
    for (Index i = 0; i < a.size(); ++i) ASSERT_EQ(after[i], (i & view.mask) == view.value ? a[i] : other[i]);
    start(78);
  }
  // Packed means ascending: moving one half onto the other shows the order.
  backend_->pack({0b100, 0}, 0, 0);
  backend_->unpack({0b100, 0b100}, 0, 0);
  const std::vector<Complex> after = read();
  for (Index i = 0; i < a.size(); ++i) ASSERT_EQ(after[i], a[i & ~Index{0b100}]);
}

TEST_P(BackendContract, SingleAmplitudesAndRangesAreRead) {
  reserve(8);
  const std::vector<Complex> a = start(80);
  const std::vector<Index> wanted = {255, 0, 17, 17};
  std::vector<Complex> out(wanted.size());
  backend_->reader().read_amplitudes(wanted, out);
  for (std::size_t j = 0; j < wanted.size(); ++j) EXPECT_EQ(out[j], a[wanted[j]]);
  const std::size_t each = amplitude_bytes(GetParam().options.precision);
  std::vector<std::byte> all(256 * each), part(10 * each);
  backend_->reader().copy_out(0, 256, all.data());
  backend_->reader().copy_out(33, 10, part.data());
  EXPECT_EQ(std::memcmp(part.data(), all.data() + 33 * each, part.size()), 0);
}

TEST_P(BackendContract, ThePoolIsWhatTheLayoutSays) {
  PoolLayout layout;
  layout.state_bytes = amplitude_bytes(GetParam().options.precision) << 10;
  layout.chunk_bytes = 1000;
  layout.chunk_slots = 3;
  layout.scratch_bytes = 9000;
  backend_->reserve(layout, 10);
  EXPECT_EQ(backend_->peak_bytes(), layout.total_bytes());
  EXPECT_EQ(backend_->state().bytes, layout.state_bytes);
  EXPECT_EQ(backend_->slot(2).bytes, 1000u);
  EXPECT_THROW(backend_->reserve(layout, 11), CapacityError) << "the layout's state is too small";
}

}  // namespace qsim::test
