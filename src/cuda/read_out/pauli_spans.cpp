// Packing by elimination over GF(2).
#include "cuda/read_out/pauli_spans.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/bits.h"
#include "cuda/tile/addresses.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr unsigned kLowBits = 3;

class Packer {
 public:
  explicit Packer(std::uint32_t local_bits) : local_(low_mask(local_bits)) {}

  /// Whether strings of this X part fit beside those that are there.
  bool add(const PauliGroup& group) {
    if (strings_ + group.count > kSpanStrings) return false;
    const Index rest = reduced(group.x_mask).first;
    if (rest != 0) {
      if (rows_.size() == kSpanBits - kLowBits) return false;
      const Index sum = reduced(group.x_mask).second | bit_mask(static_cast<unsigned>(rows_.size()));
      rows_.push_back({rest, sum, group.x_mask, highest(rest)});
    }
    groups_.push_back(group);
    strings_ += group.count;
    return true;
  }

  /// What has been added, and nothing left.
  std::vector<PauliGroup> take_groups() {
    rows_.clear();
    strings_ = 0;
    return std::exchange(groups_, {});
  }
  std::size_t groups() const { return groups_.size(); }

  PackedSpan packed(std::span<const Index> z_masks) const {
    PackedSpan result;
    Index taken = low_mask(kLowBits);
    for (const Row& row : rows_) taken |= row.pivot;
    // Bits of their own where strings are few: the lowest, for longer runs.
    std::vector<Index> reach;
    for (unsigned bit = 0; bit < kLowBits; ++bit) reach.push_back(bit_mask(bit));
    for (unsigned bit = kLowBits; reach.size() + rows_.size() < kSpanBits; ++bit) {
      if (test_bit(taken, bit)) continue;
      reach.push_back(bit_mask(bit));
      taken |= bit_mask(bit);
    }
    const std::size_t first = reach.size();
    for (const Row& row : rows_) reach.push_back(row.reach);
    PauliSpan& span = result.span;
    std::ranges::copy(reach, span.reach);
    const std::vector<BitRun> runs = runs_of(local_ & ~taken);
    if (runs.size() > kSpanRuns) throw Error("a tile's bits leave too many runs");
    for (const BitRun& run : runs) {
      span.run_mask[span.runs] = run.mask << run.shift;
      span.run_shift[span.runs++] = run.shift;
    }
    for (const PauliGroup& group : groups_) {
      const auto [rest, sum] = reduced(group.x_mask);
      Index low = group.x_mask;  // what the rows do not say
      for (std::size_t i = 0; i < rows_.size(); ++i)
        low ^= test_bit(sum, static_cast<unsigned>(i)) ? rows_[i].reach : 0;
      if (rest != 0 || (low & ~low_mask(kLowBits)) != 0) throw Error("a string is not in its span");
      for (std::uint32_t j = 0; j < group.count; ++j) {
        const Index z = z_masks[group.begin + j];
        const int at = span.count++;
        span.x[at] = static_cast<std::uint32_t>(low | sum << first);
        span.z_base[at] = z;
        for (std::size_t i = 0; i < reach.size(); ++i) span.z[at] |= (odd_parity(z & reach[i]) ? 1u : 0u) << i;
        if (odd_parity(group.x_mask & z)) span.imaginary |= 1u << at;
        result.places.push_back(group.begin + j);
      }
    }
    return result;
  }

 private:
  struct Row {
    Index rest = 0, sum = 0;  // without the low bits and pivots before: of the reaches of `sum`
    Index reach = 0, pivot = 0;
  };

  std::pair<Index, Index> reduced(Index x) const {
    Index rest = x & ~low_mask(kLowBits), sum = 0;
    for (const Row& row : rows_) {
      if ((rest & row.pivot) == 0) continue;
      rest ^= row.rest;
      sum ^= row.sum;
    }
    return {rest, sum};
  }

  static Index highest(Index mask) { return std::bit_floor(mask); }

  const Index local_;
  std::vector<Row> rows_;
  std::vector<PauliGroup> groups_;
  std::uint32_t strings_ = 0;
};

}  // namespace

PackedSums pack_pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks,
                           std::uint32_t local_bits) {
  PackedSums sums;
  Packer packer(local_bits);
  const auto close = [&] {
    if (packer.groups() > 1) sums.spans.push_back(packer.packed(z_masks));
    const std::vector<PauliGroup> taken = packer.take_groups();
    if (taken.size() == 1) sums.apart.push_back(taken.front());
  };
  for (const PauliGroup& group : groups) {
    if (group.x_mask == 0 || group.count == 0 || group.count > kSpanStrings) {
      sums.apart.push_back(group);
    } else if (!packer.add(group)) {
      close();
      packer.add(group);
    }
  }
  close();
  return sums;
}

}  // namespace qsim::cuda
