// Integer sampling by descent: blocks of the high qubits on all ranks, then amplitudes inside a block on its rank.
#include "runtime/read_out/sampling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <string>

#include "base/bits.h"
#include "base/philox.h"
#include "device/pool.h"
#include "qsim/error.h"
#include "runtime/read_out/bucket_sort.h"
#include "runtime/read_out/observables.h"

namespace qsim {
namespace {

constexpr std::size_t kTouchBytes = std::size_t{1} << 18;  // of memory that is made ready at a time

constexpr const char* kNoAmplitude =
    "a shot fell on no amplitude: the state has changed since its distribution was taken; counts are not shown";

constexpr std::uint64_t kShotStream = 0x73686f7473;  // "shots": apart from the streams of start states and circuits
constexpr int kDrawShift = 40;
static_assert(kShotStream >> kDrawShift == 0 && kMaxDraws - 1 <= ~std::uint64_t{0} >> kDrawShift,
              "a stream of its own for every draw");

std::uint64_t shot_stream(std::uint64_t draw) { return kShotStream + (draw << kDrawShift); }

/// Places of shots, whose words come four at a time.
class Places {
 public:
  Places(std::uint64_t seed, std::uint64_t draw, std::uint64_t total)
      : philox_(seed, shot_stream(draw)), total_(total) {}
  std::uint64_t operator()(std::uint64_t shot) {
    if (shot >> 2 != held_) words_ = philox_.block(held_ = shot >> 2);
    return scale_word(words_[shot & 3], total_);
  }

 private:
  Philox philox_;
  std::uint64_t total_, held_ = ~std::uint64_t{0};
  std::array<std::uint64_t, 4> words_{};
};

/// Places of the shots, rising.
std::vector<std::uint64_t> sorted_places(std::span<const std::uint64_t> shots, std::uint64_t seed, std::uint64_t draw,
                                         std::uint64_t total) {
  Places place_of(seed, draw, total);
  std::vector<std::uint64_t> places;
  places.reserve(shots.size());
  for (const std::uint64_t shot : shots) places.push_back(place_of(shot));
  bucket_sort(places, static_cast<int>(std::bit_width(total)), std::identity(), std::less());
  return places;
}

/// Logical indices of many local ones, a byte at a time.
class LogicalIndices {
 public:
  explicit LogicalIndices(const DistributedState& state) : rank_part_(state.to_logical(0)) {
    const std::vector<Qubit> qubit_at = state.layout.qubit_at();
    parts_.resize((state.local_bits() + 7) / 8);
    for (std::size_t byte = 0; byte < parts_.size(); ++byte) {
      for (Index value = 1; value < 256; ++value) {  // the lowest bit's part, and that of the others
        const std::size_t bit = 8 * byte + static_cast<std::size_t>(std::countr_zero(value));
        const Index part = bit < state.local_bits() ? bit_mask(qubit_at[bit]) : 0;
        parts_[byte][value] = parts_[byte][value & (value - 1)] | part;
      }
    }
  }
  Index operator()(Index local) const {
    Index logical = rank_part_;
    for (std::size_t byte = 0; byte < parts_.size(); ++byte) logical |= parts_[byte][local >> (8 * byte) & 255];
    return logical;
  }

 private:
  Index rank_part_;
  std::vector<std::array<Index, 256>> parts_;
};

void count_runs(OutcomeCounts& outcomes) {
  if (!std::is_sorted(outcomes.begin(), outcomes.end())) std::sort(outcomes.begin(), outcomes.end());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (kept > 0 && outcomes[kept - 1].first == outcomes[i].first) {
      outcomes[kept - 1].second += outcomes[i].second;
    } else {
      outcomes[kept++] = outcomes[i];
    }
  }
  outcomes.resize(kept);
}

void apply_move(DistributedState& state, ExchangePipeline& exchanges, const Exchange& exchange) {
  exchanges.run(exchange, {}, {});
  const std::vector<Qubit> qubit_at = state.layout.qubit_at();
  for (const auto& [local, global] : exchange.swaps) {
    std::swap(state.layout.bit_of[qubit_at[local]], state.layout.bit_of[qubit_at[global]]);
  }
}

}  // namespace

std::uint64_t shot_word(std::uint64_t seed, std::uint64_t shot, std::uint64_t draw) {
  return Philox(seed, shot_stream(draw)).block(shot >> 2)[shot & 3];
}

std::uint64_t scale_word(std::uint64_t word, std::uint64_t total) {
  return static_cast<std::uint64_t>(static_cast<Wide>(word) * total >> 64);
}

void raise_global_qubits(DistributedState& state, ExchangePipeline& exchanges, std::uint32_t top) {
  Exchange exchange;
  const std::vector<Qubit> qubit_at = state.layout.qubit_at();
  const Qubit first_top = state.qubits - top;
  std::vector<Bit> free_bits;  // local bits that hold top qubits
  for (Qubit qubit = first_top; qubit < state.qubits; ++qubit) {
    if (state.is_local(qubit)) free_bits.push_back(state.layout.bit_of[qubit]);
  }
  for (std::uint32_t bit = state.local_bits(); bit < state.qubits; ++bit) {
    if (qubit_at[bit] >= first_top) continue;
    exchange.swaps.emplace_back(free_bits.back(), static_cast<Bit>(bit));
    free_bits.pop_back();
  }
  if (exchange.swaps.empty()) return;
  apply_move(state, exchanges, exchange);
  state.moves.push_back(std::move(exchange));
}

void undo_moves(DistributedState& state, ExchangePipeline& exchanges) {
  for (; !state.moves.empty(); state.moves.pop_back()) apply_move(state, exchanges, state.moves.back());
}

Sampler::Sampler(DistributedState& state, ExchangePipeline& exchanges, std::uint64_t shots) : state_(state) {
  block_qubits_ = std::min(state.qubits, std::max(kBlockQubits, state.rank_bits));
  raise_global_qubits(state, exchanges, block_qubits_);
  block_list_.resize(block_qubits_);
  std::iota(block_list_.begin(), block_list_.end(), state.qubits - block_qubits_);
  inner_list_.resize(state.qubits - block_qubits_);
  std::iota(inner_list_.begin(), inner_list_.end(), 0u);

  const QubitPlaces places = state.places(block_list_);
  std::vector<std::uint64_t> mine = own_blocks(shots);
  if (state.rank_bits == 0) {
    ends_ = std::move(mine);
  } else {
    ends_.assign(std::size_t{1} << block_qubits_, 0);
    for (std::size_t value = 0; value < mine.size(); ++value) ends_[places.widen(value)] = mine[value];
    state.communicator.sum(ends_);
  }
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
  if (ends_.back() == 0) throw VerificationError("the state has no probability to sample from");
}

std::vector<std::uint64_t> Sampler::own_blocks(std::uint64_t shots) {
  const QubitPlaces at = state_.places(block_list_), inner = state_.places(inner_list_);
  std::vector<std::uint64_t> units(std::size_t{1} << at.local.size());
  Drawer* const drawer = state_.backend.abilities().drawer;
  if (drawer == nullptr || shots == 0 || !drawer->begin_blocks(at.local, inner.local)) {
    state_.backend.reader().unit_histogram({}, at.local, units);
    return units;
  }
  // The host's memory for outcomes is made ready meanwhile: its first touch takes as long as the device's read.
  const auto outcomes = static_cast<std::size_t>(
      std::min({shots, std::uint64_t{kShotBatch}, bit_mask(state_.qubits)}) >> state_.rank_bits);
  ready_.reserve(outcomes);
  const std::span<std::byte> memory(reinterpret_cast<std::byte*>(ready_.data()), outcomes * sizeof(ready_[0]));
  for (std::size_t done = 0; done < memory.size() && !drawer->blocks_ready(); done += kTouchBytes)
    touch_pages(memory.subspan(done, std::min(kTouchBytes, memory.size() - done)));
  drawer->take_blocks(units);
  return units;
}

std::vector<Index> Sampler::locate(const DrawBlocks& blocks, std::span<const std::uint64_t> places) {
  const Index foreign = low_mask(block_qubits_) & ~blocks.local_positions;
  std::vector<UnitDraw> draws;
  draws.reserve(places.size());
  std::size_t block = 0;
  for (const std::uint64_t place : places) {
    while (ends_[block] <= place) ++block;
    if ((block & foreign) != blocks.fixed) continue;  // another rank's
    const std::uint64_t begin = block == 0 ? 0 : ends_[block - 1];
    draws.push_back({extract_bits(block, blocks.local_positions), place - begin});
  }
  std::vector<Index> found(draws.size());
  if (!draws.empty()) state_.backend.reader().locate(blocks.block_bits, blocks.order, draws, found);
  return found;
}

OutcomeCounts Sampler::tally(std::uint64_t count, std::span<const std::uint64_t> listed, std::uint64_t seed,
                             std::uint64_t draw, Index mask) const {
  const std::uint64_t total = ends_.back();
  Places place_of(seed, draw, total);
  // Where to begin: the first block that ends beyond the lowest place with the same high bits.
  const auto bits = static_cast<int>(block_qubits_),
             shift = std::max(0, static_cast<int>(std::bit_width(total)) - bits);
  std::vector<std::uint32_t> first(((total - 1) >> shift) + 1);
  std::uint32_t block = 0;
  for (std::size_t high = 0; high < first.size(); ++high) {
    while (ends_[block] <= high << shift) ++block;
    first[high] = block;
  }
  std::vector<std::uint64_t> times(ends_.size());
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t place = place_of(listed.empty() ? i : listed[i]);
    block = first[place >> shift];
    while (ends_[block] <= place) ++block;
    ++times[block & mask];
  }
  OutcomeCounts outcomes;
  outcomes.reserve(times.size() - static_cast<std::size_t>(std::ranges::count(times, std::uint64_t{0})));
  for (std::size_t value = 0; value < times.size(); ++value) {
    if (times[value] > 0) outcomes.emplace_back(value, times[value]);
  }
  return outcomes;
}

OutcomeCounts Sampler::sample(std::uint64_t count, std::span<const std::uint64_t> listed, std::uint64_t seed,
                              std::uint64_t draw, Index mask) {
  Drawer* const drawer = state_.backend.abilities().drawer;
  if (drawer == nullptr && inner_list_.empty() && ends_.size() / kTallyShare <= count) {
    return tally(count, listed, seed, draw, mask);
  }
  const QubitPlaces at = state_.places(block_list_), inner = state_.places(inner_list_);
  const DrawBlocks blocks{ends_, at.local_positions, at.fixed, at.local, inner.local};
  const LogicalIndices logical(state_);
  std::uint64_t taken = 0;
  OutcomeCounts mine = std::exchange(ready_, {});
  std::vector<std::uint64_t> numbers;  // of a batch that the host draws, where they are not listed
  for (std::uint64_t first = 0; first < count; first += kShotBatch) {
    const std::uint64_t size = std::min<std::uint64_t>(kShotBatch, count - first);
    const ShotNumbers batch = ShotNumbers{listed, 0, count}.part(first, size);
    // What a batch adds at most; growing by doubling would hold a third copy for a while.
    mine.reserve(std::max(mine.capacity(), mine.size() + size));
    bool rising = true;
    const auto take = [&](std::span<const Index> values) {
      taken += values.size();
      for (const Index found : values) {
        if (found >= bit_mask(state_.qubits)) throw VerificationError(kNoAmplitude);
        const Index value = found & mask;
        if (!mine.empty() && mine.back().first == value) {
          ++mine.back().second;
          continue;
        }
        rising = rising && (mine.empty() || mine.back().first < value);
        mine.emplace_back(value, 1);
      }
    };
    if (drawer == nullptr || !drawer->draw(blocks, batch, seed, shot_stream(draw), take)) {
      if (listed.empty()) {
        numbers.resize(size);
        std::iota(numbers.begin(), numbers.end(), first);
      }
      const std::span<const std::uint64_t> own = listed.empty() ? numbers : batch.listed;
      std::vector<Index> found = locate(blocks, sorted_places(own, seed, draw, ends_.back()));
      for (Index& index : found) index = index < state_.local_amplitudes() ? logical(index) : ~Index{0};
      take(found);
    }
    if (!rising) count_runs(mine);
  }
  numbers = std::vector<std::uint64_t>();
  state_.communicator.sum({&taken, 1});
  if (taken != count) throw VerificationError(kNoAmplitude);
  return merge_outcomes(state_.communicator, std::move(mine));
}

OutcomeCounts merge_outcomes(Communicator& communicator, OutcomeCounts mine) {
  if (communicator.size() == 1) return mine;
  std::int64_t largest = static_cast<std::int64_t>(mine.size());
  communicator.max({&largest, 1});
  using Entry = std::array<std::uint64_t, 2>;
  std::vector<Entry> send(static_cast<std::size_t>(largest), Entry{0, 0});
  for (std::size_t i = 0; i < mine.size(); ++i) send[i] = {mine[i].first, mine[i].second};
  mine = OutcomeCounts();
  std::vector<Entry> all(send.size() * static_cast<std::size_t>(communicator.size()));
  communicator.all_gather(std::as_bytes(std::span(send)), std::as_writable_bytes(std::span(all)));
  send = std::vector<Entry>();
  const auto counted = [](const Entry& entry) { return entry[1] != 0; };
  OutcomeCounts merged;
  merged.reserve(static_cast<std::size_t>(std::count_if(all.begin(), all.end(), counted)));
  for (const Entry& entry : all) {
    if (counted(entry)) merged.emplace_back(entry[0], entry[1]);
  }
  count_runs(merged);
  return merged;
}

namespace {

/// One level of the descent: the outcomes so far, each refined by some more of the measured qubits.
struct Prefix {
  Index value = 0;  // over the qubits taken so far, in place (logical)
  std::uint64_t units = 0;
};

class Descent {
 public:
  Descent(DistributedState& state, std::size_t limit)
      : state_(state),
        limit_(limit),
        noise_units_(static_cast<std::uint64_t>(noise_probability(state.precision) * 0x1p62)) {}

  /// Splits every prefix by `list`; `taken` are the qubits already fixed.
  void refine(std::vector<Prefix>& prefixes, std::span<const Qubit> taken, std::span<const Qubit> list) {
    const QubitPlaces fixed = state_.places(taken), split = state_.places(list);
    Index view_mask = 0;
    for (const Bit bit : fixed.local) view_mask |= bit_mask(bit);
    std::vector<std::uint64_t> mine(std::size_t{1} << split.local.size());
    const std::size_t width = std::size_t{1} << list.size();
    std::vector<std::uint64_t> units(width);
    std::vector<Prefix> next;
    for (const Prefix& prefix : prefixes) {
      std::fill(units.begin(), units.end(), 0);
      const Index physical = state_.layout.to_physical(prefix.value);
      if (is_here(taken, prefix.value)) {
        state_.backend.reader().unit_histogram({view_mask, physical & view_mask}, split.local, mine);
        for (std::size_t value = 0; value < mine.size(); ++value) units[split.widen(value)] = mine[value];
      }
      state_.communicator.sum(units);
      for (std::size_t value = 0; value < width; ++value) {
        if (units[value] > noise_units_) {
          next.push_back({prefix.value | spread(value, list), units[value]});
        } else {
          left_out_ += units[value];
        }
      }
      if (next.size() > limit_) throw_too_many(next.size());
    }
    prefixes = std::move(next);
  }
  std::uint64_t left_out() const { return left_out_; }

 private:
  bool is_here(std::span<const Qubit> taken, Index value) const {
    for (const Qubit qubit : taken) {
      const Bit bit = state_.layout.bit_of[qubit];
      if (bit >= state_.local_bits() && test_bit(state_.base(), bit) != test_bit(value, qubit)) return false;
    }
    return true;
  }
  static Index spread(Index value, std::span<const Qubit> list) {
    Index result = 0;
    for (std::size_t j = 0; j < list.size(); ++j) {
      if (test_bit(value, static_cast<unsigned>(j))) result |= bit_mask(list[j]);
    }
    return result;
  }
  [[noreturn]] void throw_too_many(std::size_t count) const {
    throw UnsupportedError("the exact distribution has at least " + std::to_string(count) +
                           " outcomes, more than the " + std::to_string(limit_) +
                           " that can be listed: draw `shots` instead");
  }

  DistributedState& state_;
  const std::size_t limit_;
  const std::uint64_t noise_units_;
  std::uint64_t left_out_ = 0;
};

OutcomeDistribution distribution_in_one_read(DistributedState& state, Index mask, std::span<const Qubit> measured) {
  const double noise = noise_probability(state.precision);
  const std::vector<double> values = qubit_probabilities(state, measured);
  OutcomeDistribution result;
  for (std::size_t value = 0; value < values.size(); ++value) {
    if (values[value] <= noise) {
      result.left_out += values[value];
    } else {
      result.outcomes.emplace_back(deposit_bits(value, mask), values[value]);
    }
  }
  return result;
}

}  // namespace

// Amplitudes of 2^-30 and 2^-21: four million units of rounding in double, four in single.
double noise_probability(Precision precision) { return precision == Precision::kDouble ? 0x1p-60 : 0x1p-42; }

OutcomeDistribution outcome_distribution(DistributedState& state, Index mask, std::size_t limit) {
  constexpr std::size_t kFirst = 20, kStep = 6;
  std::vector<Qubit> measured;
  for_each_bit(mask, [&](unsigned qubit) { measured.push_back(qubit); });
  if (measured.size() <= kFirst) return distribution_in_one_read(state, mask, measured);
  std::reverse(measured.begin(), measured.end());  // high qubits first, so that prefixes rise
  std::vector<Prefix> prefixes(1);
  Descent descent(state, limit);
  std::size_t taken = 0;
  while (taken < measured.size()) {
    const std::size_t count = std::min(taken == 0 ? kFirst : kStep, measured.size() - taken);
    std::vector<Qubit> list(measured.begin() + static_cast<std::ptrdiff_t>(taken),
                            measured.begin() + static_cast<std::ptrdiff_t>(taken + count));
    std::reverse(list.begin(), list.end());
    descent.refine(prefixes, std::span(measured).first(taken), list);
    taken += count;
  }
  OutcomeDistribution result;
  result.left_out = static_cast<double>(descent.left_out()) * 0x1p-62;
  result.outcomes.reserve(prefixes.size());
  for (const Prefix& prefix : prefixes) {
    result.outcomes.emplace_back(prefix.value, static_cast<double>(prefix.units) * 0x1p-62);
  }
  return result;
}

}  // namespace qsim
