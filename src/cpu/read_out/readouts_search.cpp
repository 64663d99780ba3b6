// Read-outs that look at single outcomes: histograms, draws, the most probable amplitudes.
#include <algorithm>
#include <functional>
#include <tuple>

#include "base/layout.h"
#include "cpu/read_out/readouts.h"
#include "cpu/views.h"
#include "device/numbers/compensated.h"
#include "device/numbers/probability.h"
#include "kernels/cpu/blocks.h"
#include "qsim/error.h"

namespace qsim::cpu {
namespace {

/// Adds integers exactly and doubles with compensation.
struct UnitSum {
  std::uint64_t sum = 0;
  void add(double probability) { sum += probability_units(probability); }
  void add(const UnitSum& other) { sum += other.sum; }
  std::uint64_t value() const { return sum; }
};

/// Adds neighbours from `first` on, all of one cache line, to sums[packed bits].
template <typename T>
void add_line(const std::complex<T>* data, Index first, Index count, Index high, const BitPacker& packer,
              CompensatedSum* sums) {
  for (Index i = first; i < first + count; ++i) sums[high | packer.low(i)].add(probability(data[i]));
}
template <typename T>
void add_line(const std::complex<T>* data, Index first, Index count, Index high, const BitPacker& packer,
              UnitSum* sums) {
  if (count == 1) return sums[high | packer.low(first)].add(probability(data[first]));
  // Those of one outcome are added up before memory is: integers add to the same in any order.
  const Index alike = std::min(packer.alike(), count);
  for (Index i = first; i < first + count;) {
    std::uint64_t& sum = sums[high | packer.low(i)].sum;
    if (alike == 1) {
      const PairUnits units = pair_units(data + i);
      sum += units.even;
      sums[high | packer.low(i + 1)].sum += units.odd;
      i += 2;
      continue;
    }
    std::uint64_t part = 0;
    for (const Index end = i + alike; i < end; i += 2) {
      const PairUnits units = pair_units(data + i);
      part += units.even + units.odd;
    }
    sum += part;
  }
}

/// Adds every amplitude of a view's runs [begin, end) to sums[packed bits].
template <typename T, typename Sum>
void add_runs(const Shard<T>& shard, const ViewRuns& runs, Index begin, Index end, const BitPacker& packer, Sum* sums) {
  const Index line = std::min(kLineAmplitudes<T>, runs.run_length());
  for (Index run = begin; run < end; ++run) {
    const Index base = runs.base(run), next = runs.base(std::min(run + 1, end - 1));
    const Index high = packer.high_part(base);
    for (Index i = 0; i < runs.run_length(); i += line) {
      __builtin_prefetch(shard.data + next + i, 0, 3);
      add_line(shard.data, base + i, line, high, packer, sums);
    }
  }
}

/// Few outcomes: pieces of the view have sums of their own, added up in order.
template <typename Sum, typename T, typename Value>
void small_histogram(const Shard<T>& shard, ThreadTeam& team, ChunkView view, std::span<const Bit> bits,
                     std::span<Value> out) {
  const BitPacker packer(bits);
  const ViewRuns runs(view, shard.bits, 8);
  const Index pieces = std::min<Index>(runs.runs, 64);
  std::vector<Sum> sums(pieces * out.size());
  team.run(pieces, [&](Index piece, int) {
    const Index each = runs.runs / pieces;
    add_runs(shard, runs, piece * each, (piece + 1) * each, packer, sums.data() + piece * out.size());
  });
  for (std::size_t v = 0; v < out.size(); ++v) {
    Sum total;
    for (Index piece = 0; piece < pieces; ++piece) total.add(sums[piece * out.size() + v]);
    out[v] = total.value();
  }
}

/// Many outcomes: each task owns those with one value of the highest histogram bits, so no sum is shared. Compensation
/// is kept only for the outcomes of one task and in a state's smaller histograms; longer ones add few terms each.
template <typename Sum, typename T, typename Value>
void large_histogram(const Shard<T>& shard, ThreadTeam& team, ChunkView view, std::span<const Bit> bits,
                     std::span<Value> out) {
  std::vector<Bit> owned(bits.begin(), bits.end());
  std::erase_if(owned, [&](Bit bit) { return test_bit(view.mask, bit); });
  std::sort(owned.begin(), owned.end(), std::greater<>());
  owned.resize(std::min<std::size_t>(owned.size(), 6));
  Index owned_mask = 0;
  for (const Bit bit : owned) owned_mask |= bit_mask(bit);
  const BitPacker packer(bits);
  std::vector<Sum> sums(out.size());
  team.run(Index{1} << owned.size(), [&](Index task, int) {
    const ChunkView part{view.mask | owned_mask, view.value | deposit_bits(task, owned_mask)};
    const ViewRuns runs(part, shard.bits, 8);
    add_runs(shard, runs, 0, runs.runs, packer, sums.data());
  });
  for (std::size_t v = 0; v < out.size(); ++v) out[v] = sums[v].value();
}

template <typename Sum, typename T, typename Value>
void any_histogram(const Shard<T>& shard, ThreadTeam& team, ChunkView view, std::span<const Bit> bits,
                   std::span<Value> out) {
  if (bits.size() <= 10) {
    small_histogram<Sum>(shard, team, view, bits, out);
  } else {
    large_histogram<Sum>(shard, team, view, bits, out);
  }
}

/// Finds the draws [begin, end), all of one block.
template <typename T>
void locate_in_block(const Shard<T>& shard, Index block, std::span<const Index> flips, std::span<const UnitDraw> draws,
                     std::span<Index> out) {
  std::uint64_t total = 0;
  std::size_t next = 0;
  Index index = block;
  for (Index step = 0; next < draws.size(); ++step) {
    total += probability_units(probability(shard.data[index]));
    while (next < draws.size() && draws[next].offset < total) out[next++] = index;
    const auto carry = static_cast<std::size_t>(std::countr_one(step));
    if (carry >= flips.size()) break;  // that was the block's last amplitude
    index ^= flips[carry];
  }
  if (next < draws.size()) {
    throw Error("draw of unit " + std::to_string(draws[next].offset) + " is outside its block of " +
                std::to_string(total) + " units");
  }
}

struct Candidate {
  std::uint64_t key = 0;
  Index logical = 0;
  IndexProbability entry;
  /// True when this one comes before `other` in the list.
  bool operator<(const Candidate& other) const { return std::tie(other.key, logical) < std::tie(key, other.logical); }
};

}  // namespace

template <typename T>
void histogram(const Shard<T>& shard, ThreadTeam& team, std::span<const Bit> bits, std::span<double> out) {
  any_histogram<CompensatedSum>(shard, team, ChunkView{}, bits, out);
}

template <typename T>
void unit_histogram(const Shard<T>& shard, ThreadTeam& team, ChunkView view, std::span<const Bit> bits,
                    std::span<std::uint64_t> out) {
  any_histogram<UnitSum>(shard, team, view, bits, out);
}

template <typename T>
void locate(const Shard<T>& shard, ThreadTeam& team, std::span<const Bit> block_bits, std::span<const Bit> order,
            std::span<const UnitDraw> draws, std::span<Index> out) {
  // flips[j]: what changes when counting up carries over the j lowest order bits.
  std::vector<Index> flips(order.size());
  Index below = 0;
  for (std::size_t j = 0; j < order.size(); ++j) flips[j] = below |= bit_mask(order[j]);
  std::vector<std::size_t> begins;
  for (std::size_t j = 0; j < draws.size(); ++j) {
    if (j == 0 || draws[j].block != draws[j - 1].block) begins.push_back(j);
  }
  team.run(begins.size(), [&](Index task, int) {
    const std::size_t begin = begins[task], end = task + 1 < begins.size() ? begins[task + 1] : draws.size();
    Index base = 0;
    for (std::size_t j = 0; j < block_bits.size(); ++j) base |= (draws[begin].block >> j & 1) << block_bits[j];
    locate_in_block(shard, base, flips, draws.subspan(begin, end - begin), out.subspan(begin, end - begin));
  });
}

template <typename T>
std::vector<IndexProbability> top(const Shard<T>& shard, ThreadTeam& team, std::size_t count, const Layout& layout,
                                  std::uint32_t rank) {
  const BitPacker logical(layout.bit_of);
  const ViewRuns runs(ChunkView{}, shard.bits, 8);
  const Index pieces = std::min<Index>(runs.runs, 64), each = runs.runs / pieces;
  const Index rank_part = static_cast<Index>(rank) << shard.bits;
  // One a worker: the order is total, so what each of them has seen does not matter.
  std::vector<std::vector<Candidate>> heaps(static_cast<std::size_t>(team.size()));
  if (count == 0) return {};
  count = std::min<std::size_t>(count, shard.size());
  const auto offer = [count](std::vector<Candidate>& heap, const Candidate& candidate) {  // the last in order on top
    if (heap.size() == count) {
      if (!(candidate < heap.front())) return;
      std::pop_heap(heap.begin(), heap.end());
      heap.pop_back();
    }
    heap.push_back(candidate);
    std::push_heap(heap.begin(), heap.end());
  };
  team.run(pieces, [&](Index piece, int worker) {
    std::vector<Candidate>& heap = heaps[static_cast<std::size_t>(worker)];
    heap.reserve(count);
    for (Index run = piece * each; run < (piece + 1) * each; ++run) {
      const Index base = runs.base(run), high = logical.high_part(rank_part | base);
      for (Index i = base; i < base + runs.run_length(); ++i) {
        const double p = probability(shard.data[i]);
        offer(heap, {probability_key(p), high | logical.low(rank_part | i), {i, p}});
      }
    }
  });
  std::vector<Candidate>& all = heaps.front();
  all.reserve(count);
  for (std::size_t other = 1; other < heaps.size(); ++other) {
    for (const Candidate& candidate : heaps[other]) offer(all, candidate);
    std::vector<Candidate>().swap(heaps[other]);  // assigning {} would keep its memory
  }
  std::sort_heap(all.begin(), all.end());
  std::vector<IndexProbability> best;
  best.reserve(all.size());
  for (const Candidate& candidate : all) best.push_back(candidate.entry);
  return best;
}

#define QSIM_INSTANTIATE(T)                                                                       \
  template void histogram(const Shard<T>&, ThreadTeam&, std::span<const Bit>, std::span<double>); \
  template void unit_histogram(const Shard<T>&, ThreadTeam&, ChunkView, std::span<const Bit>,     \
                               std::span<std::uint64_t>);                                         \
  template void locate(const Shard<T>&, ThreadTeam&, std::span<const Bit>, std::span<const Bit>,  \
                       std::span<const UnitDraw>, std::span<Index>);                              \
  template std::vector<IndexProbability> top(const Shard<T>&, ThreadTeam&, std::size_t, const Layout&, std::uint32_t);
QSIM_INSTANTIATE(float)
QSIM_INSTANTIATE(double)
#undef QSIM_INSTANTIATE

}  // namespace qsim::cpu
