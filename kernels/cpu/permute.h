// Where the amplitudes of 512 places come from in a sweep that permutes: 512 places at once, a bit each of eight words.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"
#include "qsim/types.h"

namespace qsim::cpu {

constexpr std::size_t kPermuteWords = 8, kPermuteLanes = 64 * kPermuteWords;

/// A PermutationProgram (device/permutation/program.h) as these loops want it.
struct PermuteProgram {
  struct Row {
    std::uint8_t bit = 0;
    std::uint8_t position = 0;  // of the bit among those of a bundle; kOutside where it is not one of them
  };
  static constexpr std::uint8_t kOutside = 255;

  std::vector<Row> rows;
  std::uint32_t targets = 0;                    // the first rows
  std::vector<std::uint32_t> steps;             // PermutationStep::packed
  bool phases = false;                          // whether any of them is one
  std::array<Index, kPermuteLanes> lane{};      // the place of a lane, less that of lane 0
  std::vector<std::array<Index, 256>> flipped;  // of eight targets: the bits of a place that a byte of them is
};

using PermuteWords = std::array<std::uint64_t, kPermuteWords>;

/// Sixteenths of a turn of 512 places: bit k of each in words [k].
using PermuteSixteenths = std::array<PermuteWords, 4>;

/// Adds `sixteenths` where `all` is 1.
[[gnu::always_inline]] inline void add_sixteenths(PermuteSixteenths& sum, std::uint32_t sixteenths,
                                                  const PermuteWords& all) {
  for (std::size_t k = 0; k < kPermuteWords; ++k) {
    std::uint64_t carry = 0;
    for (unsigned bit = 0; bit < 4; ++bit) {
      const std::uint64_t add = (sixteenths >> bit & 1) != 0 ? all[k] : 0, before = sum[bit][k];
      sum[bit][k] = before ^ add ^ carry;
      carry = (before & add) | (carry & (before ^ add));
    }
  }
}

/// The bits of 512 places, of which the first is `base`.
[[gnu::always_inline]] inline PermuteWords row_words(PermuteProgram::Row row, Index base) {
  constexpr std::uint64_t kWithin[6] = {0xaaaaaaaaaaaaaaaaU, 0xccccccccccccccccU, 0xf0f0f0f0f0f0f0f0U,
                                        0xff00ff00ff00ff00U, 0xffff0000ffff0000U, 0xffffffff00000000U};
  PermuteWords words;
  if (row.position < 6) {
    words.fill(kWithin[row.position]);
  } else if (row.position < 9) {
    for (std::size_t k = 0; k < kPermuteWords; ++k)
      words[k] = (k >> (row.position - 6) & 1) != 0 ? ~std::uint64_t{0} : 0;
  } else {
    words.fill(test_bit(base, row.bit) ? ~std::uint64_t{0} : 0);
  }
  return words;
}

/// Of eight rows: byte b of word k of row i becomes what the eight rows say of place 64 k + 8 b + i.
[[gnu::always_inline]] inline void turn_to_bytes(std::array<PermuteWords, 8>& rows) {
  const auto turn = [&](std::size_t apart, std::uint64_t mask) {
    for (std::size_t r = 0; r < 8; ++r) {
      if ((r & apart) != 0) continue;
      for (std::size_t k = 0; k < kPermuteWords; ++k) {
        const std::uint64_t t = (rows[r][k] >> apart ^ rows[r | apart][k]) & mask;
        rows[r][k] ^= t << apart;
        rows[r | apart][k] ^= t;
      }
    }
  };
  turn(4, 0x0f0f0f0f0f0f0f0fU);
  turn(2, 0x3333333333333333U);
  turn(1, 0x5555555555555555U);
}

/// Of the 512 places that begin at `base`, whose lowest nine positions in its bundle are 0: where their amplitudes come
/// from, and with what phase. `words` has a row more than the program; `sixteenths` is made where the program has
/// phases.
[[gnu::always_inline]] inline void permuted_places(const PermuteProgram& program, Index base,
                                                   std::span<PermuteWords> words, std::span<Index, kPermuteLanes> out,
                                                   PermuteSixteenths& sixteenths) {
  if (program.phases) sixteenths = {};
  const std::size_t rows = program.rows.size();
  for (std::size_t r = 0; r < rows; ++r) words[r] = row_words(program.rows[r], base);
  words[rows].fill(~std::uint64_t{0});
  PermuteWords all = words[rows];
  for (const std::uint32_t step : program.steps) {
    const PermuteWords& first = words[step >> 8 & 63];
    const PermuteWords& second = words[step >> 16 & 63];
    const std::uint64_t first_inverted = 0 - (std::uint64_t{step} >> 14 & 1);
    const std::uint64_t second_inverted = 0 - (std::uint64_t{step} >> 22 & 1);
    for (std::size_t k = 0; k < kPermuteWords; ++k)
      all[k] &= (first[k] ^ first_inverted) & (second[k] ^ second_inverted);
    if ((step >> 6 & 1) == 0) continue;
    if ((step >> 7 & 1) != 0) {
      add_sixteenths(sixteenths, step & 63, all);
    } else {
      PermuteWords& target = words[step & 63];
      for (std::size_t k = 0; k < kPermuteWords; ++k) target[k] ^= all[k];
    }
    all.fill(~std::uint64_t{0});
  }
  for (std::size_t i = 0; i < kPermuteLanes; ++i) out[i] = base | program.lane[i];
  for (std::size_t group = 0; group < program.flipped.size(); ++group) {
    std::array<PermuteWords, 8> changed{};
    for (std::size_t r = 8 * group; r < program.targets && r < 8 * group + 8; ++r) {
      const PermuteWords before = row_words(program.rows[r], base);
      for (std::size_t k = 0; k < kPermuteWords; ++k) changed[r - 8 * group][k] = words[r][k] ^ before[k];
    }
    turn_to_bytes(changed);
    const Index* const flipped = program.flipped[group].data();
    for (std::size_t k = 0; k < kPermuteWords; ++k) {
      for (std::size_t i = 0; i < 8; ++i) {
        const std::uint64_t word = changed[i][k];
        Index* const to = &out[64 * k + i];
        for (std::size_t b = 0; b < 8; ++b) to[8 * b] ^= flipped[word >> (8 * b) & 255];
      }
    }
  }
}

}  // namespace qsim::cpu
