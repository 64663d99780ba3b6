// Walking the amplitudes of a view in ascending order, and packing index bits through a table.
#pragma once

#include <array>
#include <span>

#include "base/bits.h"
#include "device/backend.h"
#include "qsim/types.h"

namespace qsim::cpu {

/// A view of a shard of 2^local_bits amplitudes as runs of consecutive amplitudes.
struct ViewRuns {
  Index free = 0, value = 0;  // index bits that vary; the others' value
  int run_bits = 0;           // a run is 2^run_bits amplitudes
  Index runs = 0;

  ViewRuns(ChunkView view, std::uint32_t local_bits, int longest_run_bits)
      : free(low_mask(local_bits) & ~view.mask), value(view.value) {
    run_bits = std::min(std::countr_one(free), longest_run_bits);
    runs = Index{1} << (static_cast<int>(count_bits(free)) - run_bits);
  }
  Index run_length() const { return Index{1} << run_bits; }
  /// First amplitude of run `number`; the runs ascend with their numbers.
  Index base(Index number) const { return value | deposit_bits(number << run_bits, free); }
};

/// Packs bits[j] of an index into bit j of a value: a table for the low byte, a loop for what changes rarely.
class BitPacker {
 public:
  explicit BitPacker(std::span<const Bit> bits) : bits_(bits) {
    for (Index low = 0; low < low_.size(); ++low) low_[low] = pack(low);
    for (const Bit bit : bits) alike_ |= bit_mask(bit);
    alike_ &= ~alike_ + 1;
  }
  /// `high_part(index)` with low(index) is the packed value; high_part changes only every 256 indices.
  Index high_part(Index index) const { return pack(index & ~Index{255}); }
  Index low(Index index) const { return low_[index & 255]; }
  /// Aligned runs of so many indices, at most 256, have one packed value.
  Index alike() const { return alike_; }
  Index pack(Index index) const {
    Index packed = 0;
    for (std::size_t j = 0; j < bits_.size(); ++j) packed |= (index >> bits_[j] & 1) << j;
    return packed;
  }

 private:
  std::span<const Bit> bits_;
  std::array<Index, 256> low_{};
  Index alike_ = 256;
};

}  // namespace qsim::cpu
