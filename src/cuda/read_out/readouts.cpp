// Slicing and selection around the read-out kernels.
#include "cuda/read_out/readouts.h"

#include <algorithm>
#include <string>

#include "base/bits.h"
#include "base/layout.h"
#include "comm/gpu/driver.h"
#include "cuda/read_out/pauli_spans.h"
#include "device/numbers/probability.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr std::size_t kAnswerDoubles = 4096;
/// Of the scratch, what sums and short answers take.
constexpr std::size_t kFixedBytes = (kSumScratchDoubles + kAnswerDoubles) * sizeof(double);
constexpr int kKeyBits = 63;  // probability keys are bit patterns of positive doubles
constexpr int kRadixBits = 12;
constexpr std::size_t kManyDraws = std::size_t{1} << 14;  // fewer are drawn by the host as fast
constexpr std::size_t kDrawPieces = 8;  // of a batch of draws: the host takes one, the device finds the next
constexpr std::size_t kMinCandidates = std::size_t{1} << 16;

BitList bit_list(std::span<const Bit> bits) {
  BitList list;
  for (const Bit bit : bits) list.bits[list.count++] = bit;
  return list;
}

View device_view(ChunkView view) { return {view.mask, view.value}; }

/// Where a selection stands: keys at or above prefix << shift hold at least `wanted` entries, `total` of them.
struct Threshold {
  std::uint64_t lower_bound = 0;
  std::uint64_t above = 0;  // entries strictly above the last bin
  std::uint64_t total = 0;
};

}  // namespace

ReadOuts::ReadOuts(Shard shard, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream, cudaStream_t copies)
    : shard_(shard), stream_(stream), copies_(copies), drawn_(kDrawPieces) {
  if (scratch_bytes < kMinScratchBytes) {
    throw CapacityError("read-outs need " + std::to_string(kMinScratchBytes) +
                            " bytes of device scratch, the pool has " + std::to_string(scratch_bytes) +
                            "; raise `max_memory`",
                        kMinScratchBytes, scratch_bytes);
  }
  sums_ = reinterpret_cast<double*>(scratch);
  answer_ = sums_ + kSumScratchDoubles;
  rest_ = scratch + kFixedBytes;
  rest_bytes_ = scratch_bytes - kFixedBytes;
}

BitSumMemory ReadOuts::bit_sum_memory(std::byte* scratch, std::size_t scratch_bytes) {
  if (scratch_bytes < kMinScratchBytes) return {};
  return {scratch + kFixedBytes, scratch_bytes - kFixedBytes};
}

void ReadOuts::fetch(void* host, const void* device, std::size_t bytes, cudaStream_t stream) {
  check_cuda(cudaGetLastError(), "launch of a read-out kernel");
  check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync of a read-out");
  check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize after a read-out");
}

void ReadOuts::send(void* device, const void* host, std::size_t bytes) {
  check_cuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync for a read-out");
}

double ReadOuts::norm() {
  launch_norm(shard_, answer_, sums_, stream_);
  double value = 0;
  fetch(&value, answer_, sizeof value);
  return value;
}

void ReadOuts::bit_probabilities(std::span<double> out) {
  launch_bit_probabilities(shard_, answer_, sums_, stream_);
  fetch(out.data(), answer_, (shard_.local_bits + 1) * sizeof(double));
}

void ReadOuts::swept_bit_probabilities(const SweptBits& swept, std::span<double> out) {
  const BitSumMemory sums{rest_, rest_bytes_};
  const unsigned bits = count_bits(swept.tile_bits);
  std::vector<double> tile_sums(bits + std::size_t{1});
  launch_bit_sums(sums.totals(), bits, answer_, sums_, stream_);
  fetch(tile_sums.data(), answer_, tile_sums.size() * sizeof(double));
  std::vector<std::uint64_t> cells(kCellWords);
  fetch(cells.data(), sums.cells(), cells.size() * sizeof(std::uint64_t));
  place_bit_sums(swept, cells, tile_sums, out);
}

template <class Value, class Launch>
void ReadOuts::sliced_histogram(ChunkView view, std::span<const Bit> bits, std::span<Value> out, Launch launch) {
  std::vector<Bit> free_bits;
  Index fixed_entry = 0;  // of listed bits that the view fixes: all other entries are empty
  for (std::size_t j = 0; j < bits.size(); ++j) {
    if ((view.mask >> bits[j] & 1) == 0) {
      free_bits.push_back(bits[j]);
    } else {
      fixed_entry |= (view.value >> bits[j] & 1) << j;
    }
  }
  if (free_bits.size() < bits.size()) {
    std::vector<Value> free_out(std::size_t{1} << free_bits.size());
    sliced_histogram<Value>(view, free_bits, free_out, launch);
    std::fill(out.begin(), out.end(), Value{});
    for (std::size_t entry = 0; entry < free_out.size(); ++entry) {
      Index place = fixed_entry;
      std::size_t next = 0;
      for (std::size_t j = 0; j < bits.size(); ++j) {
        if ((view.mask >> bits[j] & 1) == 0) place |= static_cast<Index>(entry >> next++ & 1) << j;
      }
      out[place] = free_out[entry];
    }
    return;
  }
  // A slice fixes the list's last bits, so its entries are neighbours in `out`.
  std::size_t kept = bits.size();
  BitList list = bit_list(bits);
  const auto slice_bytes = [&] {
    return (sizeof(Value) << kept) + histogram_scratch_bytes(shard_, device_view(view), list);
  };
  for (; kept > 0; --kept) {
    list.count = static_cast<std::uint32_t>(kept);
    for (std::size_t j = kept; j < bits.size(); ++j) view.mask |= Index{1} << bits[j];
    if (slice_bytes() <= rest_bytes_) break;
  }
  list.count = static_cast<std::uint32_t>(kept);
  const std::size_t entries = std::size_t{1} << kept;
  auto* device_out = reinterpret_cast<Value*>(rest_);
  for (std::size_t slice = 0; slice < out.size() / entries; ++slice) {
    ChunkView part = view;
    for (std::size_t j = kept; j < bits.size(); ++j)
      part.value |= static_cast<Index>(slice >> (j - kept) & 1) << bits[j];
    launch(shard_, device_view(part), list, device_out, rest_ + (sizeof(Value) << kept), stream_);
    fetch(out.data() + slice * entries, device_out, sizeof(Value) << kept);
  }
}

void ReadOuts::histogram(std::span<const Bit> bits, std::span<double> out) {
  sliced_histogram<double>({}, bits, out, launch_histogram);
}

void ReadOuts::unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out) {
  sliced_histogram<std::uint64_t>(view, bits, out, launch_unit_histogram);
}

std::uint64_t ReadOuts::checksum(const ViewMap& map, std::uint64_t count) {
  auto* sum = reinterpret_cast<unsigned long long*>(answer_);
  launch_checksum(shard_, map, count, sum, stream_);
  std::uint64_t value = 0;
  fetch(&value, sum, sizeof value);
  return value;
}

void ReadOuts::locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
                      std::span<Index> out) {
  const std::size_t capacity = rest_bytes_ / (sizeof(DrawRun) + 2 * sizeof(std::uint64_t));
  auto* device_runs = reinterpret_cast<DrawRun*>(rest_);
  auto* device_places = reinterpret_cast<std::uint64_t*>(device_runs + capacity);
  std::uint64_t* const device_out = device_places + capacity;
  std::vector<DrawRun> runs;
  std::vector<std::uint64_t> places;
  for (std::size_t first = 0; first < draws.size(); first += places.size()) {
    runs.clear();
    places.clear();
    for (const UnitDraw& draw : draws.subspan(first, std::min(capacity, draws.size() - first))) {
      if (runs.empty() || runs.back().block != draw.block) runs.push_back({draw.block, places.size(), 0, 0});
      ++runs.back().count;
      places.push_back(draw.offset);
    }
    send(device_runs, runs.data(), runs.size() * sizeof(DrawRun));
    send(device_places, places.data(), places.size() * sizeof(std::uint64_t));
    launch_locate(shard_, bit_list(block_bits), bit_list(order), device_runs, runs.size(), device_places, device_out,
                  stream_);
    fetch(out.data() + first, device_out, places.size() * sizeof(Index));
  }
}

bool ReadOuts::draw(const DrawBlocks& blocks, std::span<const std::uint64_t> shots, std::uint64_t seed,
                    std::uint64_t stream, const DrawTaker& take) {
  if (shots.size() < kManyDraws) return false;
  // Scratch: totals and runs of the blocks, then for a batch of draws their places twice, shots or answers, and what
  // the sort needs.
  const std::size_t local_blocks = std::size_t{1} << blocks.block_bits.size();
  auto* const ends = reinterpret_cast<std::uint64_t*>(rest_);
  auto* const runs = reinterpret_cast<DrawRun*>(ends + blocks.ends.size());
  auto* const numbers = reinterpret_cast<std::uint64_t*>(runs + local_blocks);
  const auto fixed = static_cast<std::size_t>(reinterpret_cast<std::byte*>(numbers) - rest_);
  std::size_t capacity = shots.size();
  std::size_t sort_bytes = 0;
  const auto fits = [&] {
    check_cuda(sort_scratch_bytes(capacity, sort_bytes), "size of a sort of draws");
    return fixed + 3 * capacity * sizeof(std::uint64_t) + sort_bytes + 256 <= rest_bytes_;
  };
  while (capacity >= kManyDraws && !fits()) capacity = capacity * 7 / 8;
  if (capacity < kManyDraws) return false;
  std::uint64_t* const unsorted = numbers + capacity;
  std::uint64_t* const sorted = unsorted + capacity;
  auto* const after = reinterpret_cast<std::byte*>(sorted + capacity);
  std::byte* const scratch = after + (256 - reinterpret_cast<std::uintptr_t>(after) % 256) % 256;
  std::vector<Bit> positions;
  for_each_bit(blocks.local_positions, [&](unsigned bit) { positions.push_back(static_cast<Bit>(bit)); });
  send(ends, blocks.ends.data(), blocks.ends.size_bytes());
  for (std::size_t first = 0; first < shots.size(); first += capacity) {
    const std::size_t count = std::min(capacity, shots.size() - first);
    const std::span<const std::uint64_t> batch = shots.subspan(first, count);
    std::uint64_t apart = 0;  // without an early end, so that the loop runs in vectors
    for (std::size_t i = 0; i < count; ++i) apart |= batch[i] ^ (batch[0] + i);
    const bool consecutive = apart == 0;
    if (!consecutive) send(numbers, batch.data(), batch.size_bytes());
    check_cuda(launch_sorted_places(consecutive ? nullptr : numbers, batch.front(), count, seed, stream,
                                    blocks.ends.back(), unsorted, sorted, scratch, sort_bytes, stream_),
               "sort of draws");
    launch_draw_runs(sorted, count, ends, bit_list(positions), blocks.fixed, runs, stream_);
    // Draws of other ranks' blocks are in no run.
    check_cuda(cudaMemsetAsync(numbers, 0xff, count * sizeof(Index), stream_), "cudaMemsetAsync of draws");
    take_draws(runs, local_blocks, blocks, sorted, numbers, count, take);
  }
  return true;
}

// Finds the amplitudes of a batch piece by piece of its blocks. A piece crosses to the host, and is taken there, while
// the device finds the next ones.
void ReadOuts::take_draws(const DrawRun* runs, std::size_t run_count, const DrawBlocks& blocks,
                          const std::uint64_t* places, std::uint64_t* numbers, std::size_t count,
                          const DrawTaker& take) {
  const std::size_t pieces = std::min(kDrawPieces, run_count), piece_runs = run_count / pieces;  // powers of two
  std::vector<DrawRun> begins(pieces);
  check_cuda(cudaMemcpy2DAsync(begins.data(), sizeof(DrawRun), runs, piece_runs * sizeof(DrawRun), sizeof(DrawRun),
                               pieces, cudaMemcpyDeviceToHost, stream_),
             "cudaMemcpy2DAsync of draws");
  check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize of draws");
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    launch_locate(shard_, bit_list(blocks.block_bits), bit_list(blocks.order), runs + piece * piece_runs, piece_runs,
                  places, numbers, stream_);
    check_cuda(cudaEventRecord(drawn_[piece].get(), stream_), "cudaEventRecord of draws");
  }
  std::vector<Index> found;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const std::size_t begin = begins[piece].first, end = piece + 1 < pieces ? begins[piece + 1].first : count;
    found.resize(end - begin);
    check_cuda(cudaStreamWaitEvent(copies_, drawn_[piece].get()), "cudaStreamWaitEvent of draws");
    fetch(found.data(), numbers + begin, found.size() * sizeof(Index), copies_);
    if (run_count != blocks.ends.size()) std::erase(found, ~Index{0});  // other ranks'
    take(found);
  }
}

std::vector<unsigned long long> ReadOuts::radix_counts(const Ranking& ranking, const RadixStep& step) {
  auto* counts = reinterpret_cast<unsigned long long*>(answer_);
  launch_radix_count(shard_, ranking, step, counts, stream_);
  std::vector<unsigned long long> host(std::size_t{1} << step.width);
  fetch(host.data(), counts, host.size() * sizeof host[0]);
  return host;
}

namespace {

/// Where the shard's index bits and the rank's lie in logical indices.
Ranking ranking_of(const Layout& layout, std::uint32_t local_bits, std::uint32_t rank) {
  Ranking ranking;
  const std::vector<Qubit> qubit_at = layout.qubit_at();
  for (std::size_t bit = 0; bit < qubit_at.size(); ++bit) {
    const Index logical = Index{1} << qubit_at[bit];
    ranking.logical_mask |= logical;
    if (bit < local_bits) {
      ranking.logical_of[bit] = static_cast<std::uint8_t>(qubit_at[bit]);
    } else if ((rank >> (bit - local_bits) & 1) != 0) {
      ranking.rank_logical |= logical;
    }
  }
  return ranking;
}

/// The first `wanted` by probability, then by logical index; `rank_part` are the index bits of the rank.
std::vector<IndexProbability> first_of(const std::vector<IndexProbability>& found, const Layout& layout,
                                       Index rank_part, std::size_t wanted) {
  struct Entry {
    std::uint64_t key;
    Index logical;
    IndexProbability value;
  };
  std::vector<Entry> entries;
  for (const IndexProbability& one : found) {
    entries.push_back({probability_key(one.probability), layout.to_logical(one.index | rank_part), one});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key > b.key : a.logical < b.logical; });
  std::vector<IndexProbability> result;
  for (std::size_t i = 0; i < std::min(wanted, entries.size()); ++i) result.push_back(entries[i].value);
  return result;
}

}  // namespace

std::vector<IndexProbability> ReadOuts::top(std::size_t count, const Layout& layout, std::uint32_t rank) {
  const Index amplitudes = Index{1} << shard_.local_bits;
  const std::uint64_t wanted = std::min<std::uint64_t>(count, amplitudes);
  if (wanted == 0) return {};
  const std::uint64_t entry_bytes = sizeof(std::uint64_t) + sizeof(double);
  const std::uint64_t capacity = std::max<std::uint64_t>(wanted, std::min<std::uint64_t>(kMinCandidates, amplitudes));
  if (capacity * entry_bytes + sizeof(std::uint64_t) > rest_bytes_) {
    throw UnsupportedError("the " + std::to_string(count) +
                           " most probable outcomes do not fit the device's scratch of " + std::to_string(rest_bytes_) +
                           " bytes; ask for at most " + std::to_string(rest_bytes_ / entry_bytes - 1));
  }
  const Ranking ranking = ranking_of(layout, shard_.local_bits, rank);
  // Narrows by the next bits, from the top, until what is at or above the bound fits.
  const auto narrow = [&](RadixStep step, int bits, std::uint64_t above) {
    Threshold threshold{0, above, above + amplitudes};
    while (bits > 0 && threshold.total > capacity) {
      step.width = std::min(kRadixBits, bits);
      step.shift = bits - step.width;
      const std::vector<unsigned long long> counts = radix_counts(ranking, step);
      std::size_t bin = counts.size() - 1;
      while (bin > 0 && threshold.above + counts[bin] < wanted) threshold.above += counts[bin--];
      threshold.total = threshold.above + counts[bin];
      step.prefix = step.prefix << step.width | bin;
      threshold.lower_bound = step.prefix << step.shift;
      bits = step.shift;
    }
    return threshold;
  };
  Threshold by_key = narrow({}, kKeyBits, 0);
  std::uint64_t last_logical = ~std::uint64_t{0};
  if (by_key.total > capacity) {  // too many equals: the lowest logical indices among them
    RadixStep step;
    step.by_index = true;
    step.fixed_key = by_key.lower_bound;
    const Threshold by_index = narrow(step, static_cast<int>(layout.qubit_at().size()), by_key.above);
    last_logical = ~by_index.lower_bound & ranking.logical_mask;
  }
  auto* found = reinterpret_cast<unsigned long long*>(rest_);
  auto* indices = reinterpret_cast<std::uint64_t*>(rest_) + 1;
  auto* probabilities = reinterpret_cast<double*>(indices + capacity);
  launch_collect(shard_, ranking, by_key.lower_bound, last_logical, indices, probabilities, found, capacity, stream_);
  unsigned long long number = 0;
  fetch(&number, found, sizeof number);
  if (number > capacity) throw Error("selection of the most probable outcomes overflowed: " + std::to_string(number));
  std::vector<std::uint64_t> host_indices(number);
  std::vector<double> host_probabilities(number);
  fetch(host_indices.data(), indices, number * sizeof(std::uint64_t));
  fetch(host_probabilities.data(), probabilities, number * sizeof(double));
  std::vector<IndexProbability> candidates;
  for (std::size_t i = 0; i < number; ++i) candidates.push_back({host_indices[i], host_probabilities[i]});
  return first_of(candidates, layout, static_cast<Index>(rank) << shard_.local_bits, wanted);
}

void ReadOuts::batched_pauli_sums(const Shard& part, PauliPartners partners, std::span<const PauliGroup> groups,
                                  std::span<const Index> z_masks, std::span<Complex> out) {
  const std::size_t room = rest_bytes_ / (2 * kPauliBatch * sizeof(double));  // launches' answers of one wait
  auto* const answers = reinterpret_cast<double*>(rest_);
  std::vector<PauliMasks> waiting;
  std::vector<std::size_t> begins;  // in `out`, of what waits
  const auto collect = [&] {
    if (waiting.empty()) return;
    launch_pauli_sums(part, partners, waiting.data(), static_cast<int>(waiting.size()), answers, sums_, stream_);
    std::vector<double> host(2 * kPauliBatch * waiting.size());
    fetch(host.data(), answers, host.size() * sizeof(double));
    for (std::size_t g = 0; g < waiting.size(); ++g) {
      const double* const sums = host.data() + 2 * kPauliBatch * g;
      for (int j = 0; j < waiting[g].count; ++j) {
        out[begins[g] + static_cast<std::size_t>(j)] = Complex(sums[2 * j], sums[2 * j + 1]);
      }
    }
    waiting.clear();
    begins.clear();
  };
  for (const PauliGroup& group : groups) {
    for (std::uint32_t done = 0; done < group.count; done += kPauliBatch) {
      if (waiting.size() == room) collect();
      PauliMasks masks;
      masks.x = group.x_mask;
      masks.count = static_cast<int>(std::min<std::uint32_t>(kPauliBatch, group.count - done));
      begins.push_back(std::size_t{group.begin} + done);
      for (int j = 0; j < masks.count; ++j) masks.z[j] = z_masks[begins.back() + static_cast<std::size_t>(j)];
      waiting.push_back(masks);
    }
  }
  collect();
}

void ReadOuts::pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out) {
  if (shard_.local_bits < kLeastSpannedBits) return batched_pauli_sums(shard_, {}, groups, z_masks, out);
  const PackedSums packed = pack_pauli_sums(groups, z_masks, shard_.local_bits);
  batched_pauli_sums(shard_, {}, packed.apart, z_masks, out);
  const std::size_t room = rest_bytes_ / (kSpanStrings * sizeof(double));  // spans' answers of one wait
  auto* const answers = reinterpret_cast<double*>(rest_);
  for (std::size_t first = 0; first < packed.spans.size(); first += room) {
    const auto spans = std::span(packed.spans).subspan(first, std::min(room, packed.spans.size() - first));
    for (std::size_t i = 0; i < spans.size(); ++i)
      launch_spanned_sums(shard_, spans[i].span, answers + i * kSpanStrings, sums_, stream_);
    std::vector<double> host(spans.size() * kSpanStrings);
    fetch(host.data(), answers, host.size() * sizeof(double));
    for (std::size_t i = 0; i < spans.size(); ++i) {
      for (std::size_t j = 0; j < spans[i].places.size(); ++j) {
        const double sum = host[i * kSpanStrings + j];
        const bool imaginary = (spans[i].span.imaginary >> j & 1) != 0;
        out[spans[i].places[j]] = imaginary ? Complex(0, sum) : Complex(sum);
      }
    }
  }
}

void ReadOuts::pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                                 const std::byte* partners, std::span<Complex> out) {
  Shard part = shard_;
  part.local_bits -= count_bits(view.mask);
  part.data = static_cast<const std::byte*>(shard_.data) + view.value * (shard_.double_precision ? 16 : 8);
  batched_pauli_sums(part, {partners, view.value}, groups, z_masks, out);
}

Complex ReadOuts::inner_product(const std::byte* left) {
  launch_inner_product({left, shard_.local_bits, shard_.double_precision}, shard_, answer_, sums_, stream_);
  double value[2] = {};
  fetch(value, answer_, sizeof value);
  return {value[0], value[1]};
}

void ReadOuts::read_amplitudes(std::span<const Index> indices, std::span<Complex> out) {
  const std::size_t capacity = rest_bytes_ / (sizeof(Index) + 2 * sizeof(double));
  auto* device_indices = reinterpret_cast<std::uint64_t*>(rest_);
  auto* device_out = reinterpret_cast<double*>(device_indices + capacity);
  for (std::size_t first = 0; first < indices.size(); first += capacity) {
    const std::size_t count = std::min(capacity, indices.size() - first);
    send(device_indices, indices.data() + first, count * sizeof(Index));
    launch_read_amplitudes(shard_, device_indices, count, device_out, stream_);
    fetch(out.data() + first, device_out, count * 2 * sizeof(double));
  }
}

}  // namespace qsim::cuda
