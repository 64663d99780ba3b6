// Sums over the pairs of spanned tiles, walked as the kernel walks them, against the definition.
#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "cuda/read_out/pauli_spans.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using cuda::PackedSpan;
using cuda::PackedSums;
using cuda::PauliSpan;

constexpr std::uint32_t kBits = 15;

Complex by_definition(const std::vector<Complex>& a, Index x, Index z) {
  Complex sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += std::conj(a[i ^ x]) * a[i] * (odd_parity(i & z) ? -1.0 : 1.0);
  return sum;
}

/// The sums of a span; every amplitude must be in one tile.
std::vector<double> walked(const PauliSpan& span, const std::vector<Complex>& a) {
  std::vector<double> sums(static_cast<std::size_t>(span.count));
  std::set<Index> seen;
  for (Index number = 0; number < a.size() >> cuda::kSpanBits; ++number) {
    Index base = 0;
    for (int r = 0; r < span.runs; ++r) base |= number << span.run_shift[r] & span.run_mask[r];
    std::vector<Complex> tile(std::size_t{1} << cuda::kSpanBits);
    for (Index v = 0; v < tile.size(); ++v) {
      Index index = base;
      for_each_bit(v, [&](unsigned bit) { index ^= span.reach[bit]; });
      tile[v] = a.at(index);
      seen.insert(index);
    }
    for (int j = 0; j < span.count; ++j) {
      const Index x = span.x[j], top = std::bit_floor(x);
      for (Index v = 0; v < tile.size(); ++v) {
        if ((v & top) != 0) continue;
        const Complex c = std::conj(tile[v ^ x]) * tile[v];
        const double value = (span.imaginary >> j & 1) != 0 ? c.imag() : c.real();
        const bool odd = odd_parity(base & span.z_base[j]) != odd_parity(v & span.z[j]);
        sums[static_cast<std::size_t>(j)] += odd ? -2 * value : 2 * value;
      }
    }
  }
  EXPECT_EQ(seen.size(), a.size());
  return sums;
}

TEST(CudaPauliSpans, PairsOfTilesAreTheStringsSums) {
  PhiloxSequence random(8);
  std::size_t spans = 0, strings = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const std::vector<Complex> a = test::random_state(random, kBits);
    std::vector<PauliGroup> groups;
    std::vector<Index> z;
    for (int g = 0; g < 30; ++g) {
      const Index any = random.bits() & low_mask(kBits);
      // Low bits alone, few bits, what was there before, none.
      const Index x = g % 9 == 0 ? any & 7 : g % 5 == 0 ? any & 0x91 : g % 11 == 1 ? groups.back().x_mask : any;
      const auto count = static_cast<std::uint32_t>(trial % 3 == 0 ? 1 : random.below(12));
      groups.push_back({x, static_cast<std::uint32_t>(z.size()), count});
      for (std::uint32_t j = 0; j < count; ++j) z.push_back(random.bits() & low_mask(kBits));
    }
    const PackedSums packed = cuda::pack_pauli_sums(groups, z, kBits);
    std::vector<int> times(z.size());
    std::vector<Index> x_of(z.size());
    for (const PauliGroup& group : groups)
      for (std::uint32_t j = 0; j < group.count; ++j) x_of[group.begin + j] = group.x_mask;
    for (const PauliGroup& group : packed.apart)
      for (std::uint32_t j = 0; j < group.count; ++j) ++times[group.begin + j];
    for (const PackedSpan& one : packed.spans) {
      ++spans;
      const std::vector<double> sums = walked(one.span, a);
      ASSERT_EQ(sums.size(), one.places.size());
      for (std::size_t j = 0; j < sums.size(); ++j) {
        const std::uint32_t place = one.places[j];
        ++times[place];
        ++strings;
        const Complex wanted = by_definition(a, x_of[place], z[place]);
        const bool imaginary = (one.span.imaginary >> j & 1) != 0;
        EXPECT_NEAR(imaginary ? wanted.imag() : wanted.real(), sums[j], 1e-13);
        EXPECT_NEAR(imaginary ? wanted.real() : wanted.imag(), 0, 1e-13);
      }
    }
    for (const int once : times) EXPECT_EQ(once, 1);
  }
  EXPECT_GT(spans, 30u);
  EXPECT_GT(strings, 5 * spans);
}

}  // namespace
}  // namespace qsim
