// Partner d of rank v is v XOR d on the swapped global bits, so in every step all ranks are busy and no link is idle.
#include "runtime/exchange/exchange_pipeline.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/bits.h"
#include "base/clock.h"
#include "device/views.h"
#include "qsim/error.h"

namespace qsim {
namespace {

// A few lanes hide what there is to hide (measured with 1 and 3 partners); more than eight would share queues on a GPU,
// where one that waits holds up another.
constexpr int kMostLanes = 4, kMostLanesOfMany = 3;

struct SwapMasks {
  Index local = 0, global = 0;
};

SwapMasks swap_masks(const Exchange& exchange, std::uint32_t local_bits) {
  SwapMasks masks;
  for (const auto& [local, global] : exchange.swaps) {
    masks.local |= bit_mask(local);
    masks.global |= bit_mask(global - local_bits);  // of the rank's number
  }
  return masks;
}

/// Local bits set where the rank number `rank` has 1 on the global bits they are swapped with.
Index local_value(const Exchange& exchange, std::uint32_t local_bits, Index rank) {
  Index value = 0;
  for (const auto& [local, global] : exchange.swaps) {
    if (test_bit(rank, global - local_bits)) value |= bit_mask(local);
  }
  return value;
}

}  // namespace

ExchangePipeline::ExchangePipeline(const DistributedState& state, Transport* transport, const PoolLayout& pool)
    : backend_(state.backend),
      arrivals_(backend_.abilities().arrivals),
      transport_(transport),
      local_bits_(state.local_bits()),
      rank_(state.rank()),
      amplitude_bytes_(amplitude_bytes(state.precision)),
      slot_bytes_(pool.chunk_bytes),
      slots_(pool.chunk_slots) {
  trades_.reserve(std::size_t{1} << state.rank_bits);  // nothing is allocated while gates run
  pieces_.reserve(trades_.capacity());
}

void ExchangePipeline::require_transport() const {
  if (transport_ == nullptr) throw Error("an exchange on a single rank");
  if (slots_ == 0 || transport_->max_trade_bytes(slot_bytes_) < amplitude_bytes_) {
    throw Error("the pool has no ring slots to exchange through (" + std::to_string(slots_) + " of " +
                std::to_string(slot_bytes_) + " bytes)");
  }
}

Index ExchangePipeline::extra_cut(Index mask) const {
  require_transport();
  const std::uint64_t limit = transport_->max_trade_bytes(slot_bytes_);
  Index cut = 0;
  std::uint64_t bytes = (amplitude_bytes_ << local_bits_) >> count_bits(mask);
  for (unsigned bit = local_bits_; bytes > limit && bit-- > 0;) {
    if (test_bit(mask, bit)) continue;
    cut |= bit_mask(bit);
    bytes >>= 1;
  }
  return cut;
}

void ExchangePipeline::trade(int lane, int lanes, bool to_slots) {
  const Index cut = extra_cut(trades_.front().mine.mask);
  // A slot always serves the same lane, so that its uses are in order.
  const auto step = static_cast<std::uint32_t>(lanes);
  const std::uint32_t slots_a_lane = std::max(1u, slots_ / step);
  const Moment begin = profile != nullptr ? profile->moment(lane) : Moment{};
  Index piece = 0;
  std::uint32_t turn = 0;
  do {
    for (std::size_t first = 0; first < trades_.size(); first += pieces_.size()) {
      const std::size_t count = std::min<std::size_t>(trades_.size() - first, slots_a_lane);
      pieces_.assign(trades_.begin() + static_cast<std::ptrdiff_t>(first),
                     trades_.begin() + static_cast<std::ptrdiff_t>(first + count));
      for (Trade& one : pieces_) {
        one.mine = {one.mine.mask | cut, one.mine.value | piece};
        one.theirs = {one.theirs.mask | cut, one.theirs.value | piece};
        one.slot = (static_cast<std::uint32_t>(lane) + step * (turn++ % slots_a_lane)) % slots_;
        bytes_sent_ += (amplitude_bytes_ << local_bits_) >> count_bits(one.mine.mask);
      }
      if (to_slots) {
        transport_->trade_to_slots(pieces_, lane);
      } else {
        transport_->trade_all(pieces_, lane);
      }
    }
    piece = next_under_mask(piece, cut);
  } while (piece != 0);
  if (profile == nullptr) return;
  const Moment end = profile->moment(lane);
  for (const Trade& one : trades_) {
    profile->add(Span::Kind::kTrade, static_cast<std::uint32_t>(one.peer), lane, begin, end);
  }
}

Index ExchangePipeline::arrival_bits(const Exchange& exchange) const {
  if (transport_ == nullptr || !transport_->leaves_in_slots()) return 0;
  const SwapMasks masks = swap_masks(exchange, local_bits_);
  const unsigned swaps = count_bits(masks.local);
  const ViewRuns part = view_runs({local_bits_, amplitude_bytes_}, {masks.local | exchange.chunk_mask, 0});
  const bool one_run = exchange.unborn == 0 && part.one();
  const bool neighbours = masks.local >> std::countr_zero(masks.local) == low_mask(swaps);
  const bool fit = slots_ >= low_mask(swaps) && part.bytes() <= transport_->max_trade_bytes(slot_bytes_);
  return one_run && neighbours && fit ? masks.local : 0;
}

void ExchangePipeline::run_chunk(const ChunkedSweep& sweep, ChunkView view, int lane, bool from_slots) {
  const Moment begin = profile != nullptr ? profile->moment(lane) : Moment{};
  const bool arrived = from_slots && sweep.arrivals != 0;
  if (arrived && arrivals_->loads_arrived(sweep.handle, view.mask, sweep.arrivals)) {
    arrivals_->sweep_arrived(sweep.handle, view, lane, sweep.accumulate_norm, sweep.arrivals, pieces_);
  } else {
    if (arrived) {
      for (const Trade& one : pieces_) backend_.unpack(one.mine, one.slot, lane);
    }
    backend_.sweep(sweep.handle, view, lane, sweep.accumulate_norm);
  }
  if (profile != nullptr) profile->add_sweep(sweep.stage, sweep.number, lane, begin, profile->moment(lane));
}

void ExchangePipeline::run(const Exchange& exchange, std::span<const ChunkedSweep> before,
                           std::span<const ChunkedSweep> after) {
  require_transport();
  const SwapMasks masks = swap_masks(exchange, local_bits_);
  const Index partners = Index{1} << count_bits(masks.global);
  // A lane trades a chunk with all partners together where there are slots for it.
  const auto lanes_with_slots = static_cast<int>(std::max<Index>(1, slots_ / (partners - 1)));
  const int most = partners > 2 ? kMostLanesOfMany : kMostLanes;
  const int lanes = std::max(1, std::min({backend_.lanes(), lanes_with_slots, most}));
  const Index own = local_value(exchange, local_bits_, rank_);
  const bool to_slots = !after.empty() && after.front().arrivals != 0 && arrivals_ != nullptr &&
                        arrivals_->loads_arrived(after.front().handle, exchange.chunk_mask, after.front().arrivals);
  const bool complete_at_return = backend_.lanes() <= 1;
  const auto start = Clock::now();
  backend_.fork();
  int lane = 0;
  Index chunk = 0;
  do {
    const ChunkView view{exchange.chunk_mask, chunk};
    for (const ChunkedSweep& sweep : before) run_chunk(sweep, view, lane, false);
    const auto travel = Clock::now();
    trades_.clear();
    for (Index d = 1; d < partners; ++d) {
      const Index peer = rank_ ^ deposit_bits(d, masks.global);
      const Index theirs = local_value(exchange, local_bits_, peer);
      const Index mask = exchange.chunk_mask | masks.local | exchange.unborn;
      trades_.push_back({{mask, chunk | theirs}, {mask, chunk | own}, static_cast<int>(peer), 0});
    }
    trade(lane, lanes, to_slots);
    if (complete_at_return) seconds_ += seconds_since(travel);
    for (const ChunkedSweep& sweep : after) run_chunk(sweep, view, lane, to_slots);
    lane = (lane + 1) % lanes;
    chunk = next_under_mask(chunk, exchange.chunk_mask);
  } while (chunk != 0);
  transport_->finish();
  backend_.join();
  if (!complete_at_return) {
    backend_.synchronize();
    seconds_ += seconds_since(start);
  }
}

std::uint32_t ExchangePipeline::spare_slot() const {
  require_transport();
  if (slots_ < 2) throw Error("the pool's ring has one slot where two are needed");
  return slots_ - 1;
}

void ExchangePipeline::trade_view(ChunkView mine, ChunkView theirs, int peer) {
  require_transport();
  const auto start = Clock::now();
  // Through slot 0, never the spare one.
  trades_.assign(1, Trade{mine, theirs, peer, 0});
  trade(0, static_cast<int>(slots_), false);
  transport_->finish();
  backend_.synchronize();
  seconds_ += seconds_since(start);
}

}  // namespace qsim
