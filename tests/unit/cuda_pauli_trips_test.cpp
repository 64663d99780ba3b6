// Sums over the pairs of spanned tiles, walked as the kernel walks them, against the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "cuda/read_out/pauli_trips.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using cuda::PackedTrip;
using cuda::PauliTrip;

constexpr std::uint32_t kBits = 15;

Complex by_definition(const std::vector<Complex>& a, Index x, Index z) {
  Complex sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += std::conj(a[i ^ x]) * a[i] * (odd_parity(i & z) ? -1.0 : 1.0);
  return sum;
}

/// XOR of the vectors that `number` has.
template <class Vector>
Index combined(const Vector* vectors, Index number) {
  Index sum = 0;
  for_each_bit(number, [&](unsigned bit) { sum ^= vectors[bit]; });
  return sum;
}

/// The sum of a string in one tile, thread by thread; every pair must be met once.
double string_sum(const PauliTrip& trip, int j, const std::vector<Complex>& tile, Index base) {
  const cuda::TripString& string = trip.string[j];
  const cuda::TripRound& round = trip.round[j / cuda::kRoundStrings];
  const bool halves = tile.size() > std::size_t{1} << (cuda::kTripThreadBits + cuda::kTripRegisterBits);
  std::vector<int> met(tile.size());
  double sum = 0;
  for (Index thread = 0; thread < 1 << cuda::kTripThreadBits; ++thread) {
    for (Index r = 0; r < (halves ? 16 : 8); ++r) {
      if ((r & string.flip & -string.flip) != 0) continue;
      const Index own = combined(round.thread, thread), v = own ^ combined(round.part, r),
                  w = own ^ combined(round.part, r ^ string.flip);
      ++met[v];
      ++met[w];
      const Complex c = std::conj(tile[w]) * tile[v];
      double sign = odd_parity(base & string.z_base) != odd_parity(thread & string.z_thread) ? -1 : 1;
      for_each_bit(r, [&](unsigned bit) { sign *= string.sign[bit]; });
      sum += 2 * sign * (string.imaginary != 0 ? c.imag() : c.real());
    }
  }
  EXPECT_EQ(met, std::vector<int>(tile.size(), 1));
  return sum;
}

/// The sums of a span; every amplitude must be in one tile.
std::vector<double> walked(const PauliTrip& trip, std::size_t strings, const std::vector<Complex>& a, bool precise) {
  const std::uint32_t low_bits = cuda::trip_low_bits(precise), bits = cuda::kTripLineBits + low_bits;
  std::vector<double> sums(strings);
  std::vector<int> seen(a.size());
  for (Index number = 0; number < a.size() >> bits; ++number) {
    Index base = 0;
    for (int r = 0; r < trip.runs; ++r) base |= number << trip.run_shift[r] & trip.run_mask[r];
    std::vector<Complex> tile(std::size_t{1} << bits);
    for (Index v = 0; v < tile.size(); ++v) {
      const Index index = base ^ combined(trip.reach, v >> low_bits) ^ (v & low_mask(low_bits));
      EXPECT_EQ(index & low_mask(low_bits), v & low_mask(low_bits)) << "lines are whole";
      tile[v] = a.at(index);
      ++seen[index];
    }
    for (std::size_t j = 0; j < strings; ++j) sums[j] += string_sum(trip, static_cast<int>(j), tile, base);
  }
  EXPECT_EQ(seen, std::vector<int>(a.size(), 1));
  return sums;
}

/// What the kernel takes for granted: it asks after no other flips.
void expect_flips(const PauliTrip& trip, std::size_t strings) {
  for (std::size_t j = 0; j < cuda::kTripStrings; ++j) {
    const int flip = trip.string[j].flip;
    const std::size_t place = j % cuda::kRoundStrings;
    EXPECT_EQ(flip != 0, j < strings);
    EXPECT_LE(flip, place == 0 ? 1 : place == 1 ? 2 : 4);
  }
  for (int r = 0; r < cuda::kTripRounds; ++r) {  // rounds that are summed without asking
    const cuda::TripString* const three = trip.string + r * cuda::kRoundStrings;
    const bool independent = three[0].flip == 1 && three[1].flip == 2 && three[2].flip == 4;
    const int imaginary = three[0].imaginary | three[1].imaginary << 1 | three[2].imaginary << 2;
    EXPECT_EQ(trip.round[r].kind, independent ? imaginary : cuda::TripRound::kAnyFlips);
  }
  EXPECT_EQ(trip.rounds, static_cast<int>((strings + cuda::kRoundStrings - 1) / cuda::kRoundStrings));
}

TEST(CudaPauliTrips, PairsOfTilesAreTheStringsSums) {
  PhiloxSequence random(8);
  std::size_t trips = 0, strings = 0;
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
    const bool precise = trial % 2 == 0;
    const cuda::PauliStrings packed = cuda::split_pauli_sums(groups, z);
    EXPECT_NE(packed.spanned.size() % cuda::kTripStrings, 1u);
    std::vector<int> times(z.size());
    std::vector<Index> x_of(z.size());
    for (const PauliGroup& group : groups)
      for (std::uint32_t j = 0; j < group.count; ++j) x_of[group.begin + j] = group.x_mask;
    for (const PauliGroup& group : packed.apart)
      for (std::uint32_t j = 0; j < group.count; ++j) ++times[group.begin + j];
    for (std::size_t first = 0; first < packed.spanned.size(); first += cuda::kTripStrings) {
      const std::size_t nine = std::min<std::size_t>(cuda::kTripStrings, packed.spanned.size() - first);
      const PackedTrip one = cuda::pack_trip(std::span(packed.spanned).subspan(first, nine), kBits, precise);
      ++trips;
      expect_flips(one.trip, one.places.size());
      const std::vector<double> sums = walked(one.trip, one.places.size(), a, precise);
      for (std::size_t j = 0; j < sums.size(); ++j) {
        const std::uint32_t place = one.places[j];
        ++times[place];
        ++strings;
        const Complex wanted = by_definition(a, x_of[place], z[place]);
        const bool imaginary = one.trip.string[j].imaginary != 0;
        EXPECT_NEAR(imaginary ? wanted.imag() : wanted.real(), sums[j], 1e-13);
        EXPECT_NEAR(imaginary ? wanted.real() : wanted.imag(), 0, 1e-13);
      }
    }
    for (const int once : times) EXPECT_EQ(once, 1);
  }
  EXPECT_GT(trips, 30u);
  EXPECT_GT(strings, 7 * trips) << "strings are packed whatever their X parts";
}

}  // namespace
}  // namespace qsim
