// Slicing and selection around the read-out kernels.
#include "cuda/read_out/readouts.h"

#include <algorithm>
#include <string>

#include "base/bits.h"
#include "base/layout.h"
#include "comm/gpu/driver.h"
#include "cuda/read_out/draw_tiles.h"
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
constexpr std::size_t kMinCandidates = std::size_t{1} << 16;

View device_view(ChunkView view) { return {view.mask, view.value}; }

/// Where a selection stands: keys at or above prefix << shift hold at least `wanted` entries, `total` of them.
struct Threshold {
  std::uint64_t lower_bound = 0;
  std::uint64_t above = 0;  // entries strictly above the last bin
  std::uint64_t total = 0;
};

}  // namespace

ReadOuts::ReadOuts(Shard shard, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream, cudaStream_t copies)
    : shard_(shard), stream_(stream), copies_(copies) {
  if (scratch_bytes < kMinScratchBytes) {
    throw CapacityError("read-outs need " + std::to_string(kMinScratchBytes) +
                            " bytes of device scratch, the pool has " + std::to_string(scratch_bytes) +
                            "; raise `max_memory`",
                        kMinScratchBytes, scratch_bytes);
  }
  sums_ = reinterpret_cast<double*>(scratch);
  answer_ = sums_ + kSumScratchDoubles;
  room_ = scratch + kFixedBytes;
  room_bytes_ = scratch_bytes - kFixedBytes;
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
  const BitSumMemory sums{use_room(), room_bytes_};
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
    if (slice_bytes() <= room_bytes_) break;
  }
  list.count = static_cast<std::uint32_t>(kept);
  const std::size_t entries = std::size_t{1} << kept;
  auto* device_out = reinterpret_cast<Value*>(use_room());
  for (std::size_t slice = 0; slice < out.size() / entries; ++slice) {
    ChunkView part = view;
    for (std::size_t j = kept; j < bits.size(); ++j)
      part.value |= static_cast<Index>(slice >> (j - kept) & 1) << bits[j];
    launch(shard_, device_view(part), list, device_out, use_room() + (sizeof(Value) << kept), stream_);
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
  const std::size_t capacity = room_bytes_ / (sizeof(DrawRun) + 2 * sizeof(std::uint64_t));
  auto* device_runs = reinterpret_cast<DrawRun*>(use_room());
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
  if (capacity * entry_bytes + sizeof(std::uint64_t) > room_bytes_) {
    throw UnsupportedError("the " + std::to_string(count) +
                           " most probable outcomes do not fit the device's scratch of " + std::to_string(room_bytes_) +
                           " bytes; ask for at most " + std::to_string(room_bytes_ / entry_bytes - 1));
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
  auto* found = reinterpret_cast<unsigned long long*>(use_room());
  auto* indices = reinterpret_cast<std::uint64_t*>(use_room()) + 1;
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
  const std::size_t room = room_bytes_ / (2 * kPauliBatch * sizeof(double));  // launches' answers of one wait
  auto* const answers = reinterpret_cast<double*>(use_room());
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
  if (shard_.local_bits < kLeastTripBits) return spanned_pauli_sums(groups, z_masks, out);
  const PauliStrings strings = split_pauli_sums(groups, z_masks);
  batched_pauli_sums(shard_, {}, strings.apart, z_masks, out);
  trip_pauli_sums(strings.spanned, out);
}

void ReadOuts::spanned_pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks,
                                  std::span<Complex> out) {
  const PackedSums packed = pack_pauli_sums(groups, z_masks, shard_.local_bits);
  batched_pauli_sums(shard_, {}, packed.apart, z_masks, out);
  const std::size_t room = room_bytes_ / (kSpanStrings * sizeof(double));  // spans' answers of one wait
  auto* const answers = reinterpret_cast<double*>(use_room());
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

// The host packs the next trips while the device sums.
void ReadOuts::trip_pauli_sums(std::span<const PauliMember> members, std::span<Complex> out) {
  const std::size_t room = room_bytes_ / (kTripStrings * sizeof(double));  // trips' answers of one wait
  const auto together = static_cast<std::size_t>(trips_together(shard_));
  auto* const answers = reinterpret_cast<double*>(use_room());
  std::vector<PackedTrip> trips;
  std::size_t launched = 0, finished = 0;
  const auto finish = [&] {
    launch_finish_trips(shard_, static_cast<int>(launched - finished), answers + finished * kTripStrings, sums_,
                        stream_);
    finished = launched;
  };
  const auto collect = [&] {
    if (finished < launched) finish();
    std::vector<double> host(launched * kTripStrings);
    fetch(host.data(), answers, host.size() * sizeof(double));
    for (std::size_t i = 0; i < launched; ++i) {
      for (std::size_t j = 0; j < trips[i].places.size(); ++j) {
        const double sum = host[i * kTripStrings + j];
        out[trips[i].places[j]] = trips[i].trip.string[j].imaginary != 0 ? Complex(0, sum) : Complex(sum);
      }
    }
    trips.clear();
    launched = finished = 0;
  };
  for (std::size_t first = 0; first < members.size(); first += kTripStrings) {
    const auto nine = members.subspan(first, std::min<std::size_t>(kTripStrings, members.size() - first));
    trips.push_back(pack_trip(nine, shard_.local_bits, shard_.double_precision));
    launch_trip_sums(shard_, trips.back().trip, static_cast<int>(launched - finished), sums_, stream_);
    ++launched;
    if (launched - finished == together) finish();
    if (launched == room) collect();
  }
  if (launched > 0) collect();
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
  const std::size_t capacity = room_bytes_ / (sizeof(Index) + 2 * sizeof(double));
  auto* device_indices = reinterpret_cast<std::uint64_t*>(use_room());
  auto* device_out = reinterpret_cast<double*>(device_indices + capacity);
  for (std::size_t first = 0; first < indices.size(); first += capacity) {
    const std::size_t count = std::min(capacity, indices.size() - first);
    send(device_indices, indices.data() + first, count * sizeof(Index));
    launch_read_amplitudes(shard_, device_indices, count, device_out, stream_);
    fetch(out.data() + first, device_out, count * 2 * sizeof(double));
  }
}

}  // namespace qsim::cuda
