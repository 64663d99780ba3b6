#include "cpu/permutation.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "base/bits.h"
#include "base/numbers/complex.h"
#include "device/permutation/product.h"
#include "plan/cost/pool_layout.h"

namespace qsim::cpu {
namespace {

#if defined(__x86_64__)
#define QSIM_ANY_VECTORS [[gnu::target_clones("avx512f", "avx2", "default")]]
#else
#define QSIM_ANY_VECTORS
#endif

constexpr std::uint32_t kLineBits = 3;  // 64 bytes in single precision
constexpr std::uint32_t kLaneBits = std::countr_zero(kPermuteLanes);

/// permuted_places() by the widest vectors that the processor has: it moves words, and rounds nothing.
QSIM_ANY_VECTORS void find_places(const PermuteProgram& program, Index base, std::span<PermuteWords> words,
                                  std::span<Index, kPermuteLanes> out, PermuteSixteenths& sixteenths) {
  permuted_places(program, base, words, out, sixteenths);
}

/// Turns the values of as many of the 512 places as there are.
template <typename T>
void turn(std::span<std::complex<T>> values, const PermuteSixteenths& sixteenths) {
  constexpr double kSixteenth[4] = {0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173, 0};
  std::array<std::complex<T>, 16> roots;
  for (std::size_t k = 0; k < 4; ++k) {
    const T c = k == 0 ? T(1) : static_cast<T>(kSixteenth[k - 1]),
            s = k == 0 ? T(0) : static_cast<T>(kSixteenth[3 - k]);
    roots[k] = {c, s};
    roots[k + 4] = {-s, c};
    roots[k + 8] = {-c, -s};
    roots[k + 12] = {s, -c};
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bit = [&](std::size_t k) { return static_cast<std::size_t>(sixteenths[k][i / 64] >> (i % 64) & 1); };
    values[i] = times(values[i], roots[bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3]);
  }
}

}  // namespace

PermuteProgram words_of(PermutationProgram program) {
  PermuteProgram words;
  for (const std::uint8_t bit : program.bits) {
    const bool inside = test_bit(program.bundle, bit);
    const auto position = static_cast<std::uint8_t>(count_bits(program.bundle & low_mask(bit)));
    words.rows.push_back({bit, inside ? position : PermuteProgram::kOutside});
  }
  words.targets = program.targets;
  words.steps = std::move(program.steps);
  words.phases = program.phases;
  for (std::size_t i = 0; i < kPermuteLanes; ++i) words.lane[i] = deposit_bits(i, program.bundle);
  for (std::uint32_t first = 0; first < program.targets; first += 8) {
    std::array<Index, 256>& flipped = words.flipped.emplace_back();
    for (unsigned byte = 0; byte < 256; ++byte) {
      flipped[byte] = 0;
      for (std::uint32_t r = first; r < std::min(first + 8, program.targets); ++r) {
        if (test_bit(byte, r - first)) flipped[byte] |= bit_mask(program.bits[r]);
      }
    }
  }
  return words;
}

Permutation::Permutation(const Sweep& sweep, std::uint32_t local_bits) {
  PermutationProgram program = permutation_program(sweep, local_bits);
  bundle_ = program.bundle;
  fixed_ = program.fixed;
  unborn_ = program.unborn;
  above_ = program.above;
  phase_ = program.phase;
  whole_size_ = is_one_bundle(sweep, local_bits) ? Index{1} << local_bits : 0;
  if (!sweep.reads) {
    products_ = products_of(sweep);
  } else if (is_affine(sweep)) {
    affine_ = columns_of(affine_gather(sweep, local_bits, fixed_, kLineBits, kLineBits));
  }
  program_ = words_of(std::move(program));
}

Permutation::Products Permutation::products_of(const Sweep& sweep) {
  Products products{product_start(sweep), has_real_products(sweep), {}};
  const auto bits = static_cast<std::uint32_t>(std::bit_width(products.start.varying));
  for (std::uint32_t first = 0; first < bits; first += kProductBits) {
    const Index range = low_mask(std::min(bits, first + kProductBits)) & ~low_mask(first);
    if ((range & products.start.varying) == 0) continue;
    // An entry for every value of the range, whose other bits have no factor.
    const std::vector<Complex> of_varying = birth_products(sweep, range & products.start.varying);
    Products::Table& table = products.tables.emplace_back(Products::Table{first, {}});
    for (Index value = 0; value < bit_mask(count_bits(range)); ++value)
      table.entries.push_back(of_varying[extract_bits(value << first, range & products.start.varying)]);
  }
  return products;
}

Permutation::Columns Permutation::columns_of(AffineGather gather) {
  Columns columns;
  const std::size_t low = std::min<std::size_t>(kLaneBits, gather.to.size());
  for (std::size_t i = 0; i < std::size_t{1} << low; ++i) {
    columns.low_to[i] = combined(i, gather.to);
    columns.low_from[i] = combined(i, gather.from);
  }
  columns.gather = std::move(gather);
  return columns;
}

// Whole lines are written one behind the other, and what they come from is read by lines as well; the next ones are
// asked for ahead.
template <typename T>
void Permutation::gather_affine(const std::complex<T>* shard, std::complex<T>* to, Index begin, Index end,
                                Index fixed) const {
  constexpr std::size_t kLine = 64 / sizeof(std::complex<T>);
  const Columns& columns = *affine_;
  const std::complex<T> phase(phase_);
  const bool turns = phase_ != 1.0;
  const Index source = columns.gather.source(extract_bits(fixed, fixed_));
  const auto from_of = [&](Index first) { return source ^ combined(first, columns.gather.from); };
  Index from = from_of(begin);
  for (Index first = begin; first < end; first += kPermuteLanes) {
    const Index count = std::min<Index>(kPermuteLanes, end - first);
    const Index at = combined(first, columns.gather.to);
    const bool more = first + kPermuteLanes < end;
    const Index next = more ? from_of(first + kPermuteLanes) : from;
    for (Index i = 0; i < count; ++i) {
      if (i % kLine == 0) __builtin_prefetch(shard + (next ^ columns.low_from[i]));
      const Index place = from ^ columns.low_from[i];
      const std::complex<T> value = (place & unborn_) != 0 ? std::complex<T>() : shard[place];
      to[at ^ columns.low_to[i]] = turns ? times(value, phase) : value;
    }
    from = next;
  }
}

// Of all of the shard to their places, else one after the other.
template <typename T>
void Permutation::gather(const std::complex<T>* shard, std::complex<T>* to, Index begin, Index end, Index fixed) const {
  if (affine_) return gather_affine(shard, to, begin, end, fixed);
  std::array<PermuteWords, 64> words;
  std::array<Index, kPermuteLanes> from;
  std::array<std::complex<T>, kPermuteLanes> values;
  PermuteSixteenths sixteenths;
  for (Index first = begin; first < end; first += kPermuteLanes) {
    const Index base = deposit_bits(first, bundle_) | fixed;
    find_places(program_, base, words, from, sixteenths);
    const Index count = std::min<Index>(kPermuteLanes, end - first);
    const auto place = [&](Index i) { return whole_size_ != 0 ? base | program_.lane[i] : first + i; };
    const auto value = [&](Index i) { return (from[i] & unborn_) != 0 ? std::complex<T>() : shard[from[i]]; };
    if (!program_.phases && phase_ == 1.0) {
      for (Index i = 0; i < count; ++i) to[place(i)] = value(i);
      continue;
    }
    for (Index i = 0; i < count; ++i) values[i] = value(i);
    if (program_.phases) turn(std::span(values).first(count), sixteenths);
    for (Index i = 0; i < count; ++i) to[place(i)] = times(values[i], std::complex<T>(phase_));
  }
}

template <typename T>
void Permutation::spread(std::complex<T>* shard, const std::complex<T>* from, Index begin, Index end,
                         Index fixed) const {
  const Index run = std::min<Index>(Index{1} << std::countr_one(bundle_), kPermuteLanes);
  for (Index first = begin; first < end; first += kPermuteLanes) {
    const Index base = deposit_bits(first, bundle_) | fixed, count = std::min<Index>(kPermuteLanes, end - first);
    const Index length = std::min(run, count);
    for (Index i = 0; i < count; i += length) std::copy_n(from + first + i, length, shard + (base | program_.lane[i]));
  }
}

template <typename T, typename Entry>
void Permutation::write_products(std::complex<T>* shard, ThreadTeam& team) const {
  struct Table {
    std::uint32_t first;
    Index mask;
    std::vector<Entry> entries;
  };
  std::vector<Table> tables;
  for (const Products::Table& table : products_->tables) {
    Table& narrow = tables.emplace_back(Table{table.first, table.entries.size() - 1, {}});
    for (const Complex entry : table.entries) {
      if constexpr (std::is_same_v<Entry, T>) {
        narrow.entries.push_back(static_cast<T>(entry.real()));
      } else {
        narrow.entries.push_back(Entry(entry));
      }
    }
  }
  const auto multiplied = [](std::complex<T> value, Entry by) {
    if constexpr (std::is_same_v<Entry, T>) {
      return value * by;
    } else {
      return times(value, by);
    }
  };
  const std::complex<T> scale(products_->start.scale);
  const Index checked = products_->start.checked, wanted = products_->start.wanted;
  const Index size = Index{1} << count_bits(bundle_), piece = std::min<Index>(size, Index{1} << 14);
  team.run(size / piece, [&](Index number, int) {
    std::array<PermuteWords, 64> words;
    std::array<Index, kPermuteLanes> from;
    PermuteSixteenths sixteenths;
    const Index end = (number + 1) * piece;
    for (Index first = number * piece; first < end; first += kPermuteLanes) {
      find_places(program_, above_ | first, words, from, sixteenths);
      const Index count = std::min<Index>(kPermuteLanes, end - first);
      for (Index i = 0; i < count; ++i) {
        std::complex<T> value = (from[i] & checked) == wanted ? scale : std::complex<T>();
        for (const Table& table : tables) value = multiplied(value, table.entries[from[i] >> table.first & table.mask]);
        shard[first + i] = value;
      }
      if (program_.phases) turn(std::span(shard + first, count), sixteenths);
    }
  });
}

template <typename T>
bool Permutation::run(std::complex<T>* shard, std::span<std::byte> spare, ThreadTeam& team) const {
  if (products_) {
    if (products_->real) {
      write_products<T, T>(shard, team);
    } else {
      write_products<T, std::complex<T>>(shard, team);
    }
    return false;
  }
  const Index size = Index{1} << count_bits(bundle_), bundles = Index{1} << count_bits(fixed_);
  const std::uint64_t needed = (whole_size_ != 0 ? whole_size_ : size) * sizeof(std::complex<T>);
  require_beside_state(needed, spare.size());
  const bool own = whole_size_ == 0 && static_cast<int>(count_bits(bundle_)) <= kOwnBundleBits &&
                   spare.size() / static_cast<std::uint64_t>(team.size()) >= needed;
  auto* const beside = reinterpret_cast<std::complex<T>*>(spare.data());
  if (own) {
    team.run(bundles, [&](Index number, int worker) {
      const Index fixed = deposit_bits(number, fixed_);
      std::complex<T>* const mine = beside + static_cast<Index>(worker) * size;
      gather(shard, mine, 0, size, fixed);
      spread(shard, mine, 0, size, fixed);
    });
    return false;
  }
  const Index piece = std::min<Index>(size, Index{1} << 14);
  for (Index number = 0; number < bundles; ++number) {
    const Index fixed = deposit_bits(number, fixed_);
    const auto in_pieces = [&](auto work) {
      team.run(size / piece, [&](Index i, int) { work(i * piece, (i + 1) * piece); });
    };
    in_pieces([&](Index begin, Index end) { gather(shard, beside, begin, end, fixed); });
    if (whole_size_ == 0) in_pieces([&](Index begin, Index end) { spread(shard, beside, begin, end, fixed); });
  }
  return whole_size_ != 0;
}

template bool Permutation::run(std::complex<float>*, std::span<std::byte>, ThreadTeam&) const;
template bool Permutation::run(std::complex<double>*, std::span<std::byte>, ThreadTeam&) const;

}  // namespace qsim::cpu
