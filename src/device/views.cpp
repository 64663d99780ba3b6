// A view's free bits fall into groups of neighbours: the lowest group is a run, the next a stride, all others an offset
// list.
#include "device/views.h"

namespace qsim {
namespace {

constexpr std::uint64_t kMaxPitchBytes = 1ull << 30;  // two-dimensional copies take strides below 2 GiB

/// Number of neighbouring free bits from `bit` up.
std::uint32_t free_bits_from(Index mask, std::uint32_t bit, std::uint32_t local_bits) {
  std::uint32_t length = 0;
  while (bit + length < local_bits && (mask >> (bit + length) & 1) == 0) ++length;
  return length;
}

std::uint32_t taken_bits_from(Index mask, std::uint32_t bit, std::uint32_t local_bits) {
  std::uint32_t length = 0;
  while (bit + length < local_bits && (mask >> (bit + length) & 1) != 0) ++length;
  return length;
}

}  // namespace

ViewRuns view_runs(ShardShape shape, ChunkView view) {
  ViewRuns runs;
  std::uint32_t bit = free_bits_from(view.mask, 0, shape.local_bits);
  runs.run_bytes = shape.amplitude_bytes << bit;
  bit += taken_bits_from(view.mask, bit, shape.local_bits);
  if (bit < shape.local_bits && (static_cast<std::uint64_t>(shape.amplitude_bytes) << bit) <= kMaxPitchBytes) {
    const std::uint32_t length = free_bits_from(view.mask, bit, shape.local_bits);
    runs.count = std::uint64_t{1} << length;
    runs.stride_bytes = static_cast<std::uint64_t>(shape.amplitude_bytes) << bit;
    bit += length;
  }
  const Index low = bit >= 64 ? ~Index{0} : (Index{1} << bit) - 1;
  const Index shard = (Index{1} << shape.local_bits) - 1;
  const Index free_high = shard & ~low & ~view.mask;  // enumerated one by one
  Index high = 0;
  do {
    runs.offsets.push_back((view.value | high) * shape.amplitude_bytes);
    high = (high - free_high) & free_high;
  } while (high != 0);
  return runs;
}

}  // namespace qsim
