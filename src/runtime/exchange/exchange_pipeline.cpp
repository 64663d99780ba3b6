// Partner d of rank v is v XOR d on the swapped global bits, so in every step all ranks are busy and no link is idle.
#include "runtime/exchange/exchange_pipeline.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "base/bits.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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
      transport_(transport),
      local_bits_(state.local_bits()),
      rank_(state.rank()),
      amplitude_bytes_(amplitude_bytes(state.precision)),
      slot_bytes_(pool.chunk_bytes),
      slots_(pool.chunk_slots) {}

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

void ExchangePipeline::trade(ChunkView mine, ChunkView theirs, int peer, int lane) {
  const Index cut = extra_cut(mine.mask);
  // A slot always serves the same lane, so that its uses are in order.
  const auto lanes = static_cast<std::uint32_t>(std::max(1, backend_.lanes()));
  const std::uint32_t slots_a_lane = std::max(1u, slots_ / lanes);
  const double begin = profile != nullptr ? profile->now() : 0;
  Index piece = 0;
  do {
    const std::uint32_t slot = (static_cast<std::uint32_t>(lane) + lanes * (turn_++ % slots_a_lane)) % slots_;
    transport_->trade({mine.mask | cut, mine.value | piece}, {theirs.mask | cut, theirs.value | piece}, peer, slot,
                      lane);
    bytes_sent_ += (amplitude_bytes_ << local_bits_) >> count_bits(mine.mask | cut);
    piece = next_under_mask(piece, cut);
  } while (piece != 0);
  if (profile != nullptr) profile->add(Span::Kind::kTrade, static_cast<std::uint32_t>(peer), lane, begin);
}

void ExchangePipeline::run_chunk(const ChunkedSweep& sweep, ChunkView view, int lane) {
  const double begin = profile != nullptr ? profile->now() : 0;
  backend_.sweep(sweep.handle, view, lane, sweep.accumulate_norm);
  if (profile != nullptr) profile->add(Span::Kind::kSweep, sweep.number, lane, begin);
}

void ExchangePipeline::run(const Exchange& exchange, std::span<const ChunkedSweep> before,
                           std::span<const ChunkedSweep> after) {
  require_transport();
  const SwapMasks masks = swap_masks(exchange, local_bits_);
  const int lanes = std::max(1, std::min(backend_.lanes(), static_cast<int>(slots_)));
  const Index partners = Index{1} << count_bits(masks.global);
  const Index own = local_value(exchange, local_bits_, rank_);
  const bool complete_at_return = backend_.lanes() <= 1;
  const auto start = Clock::now();
  backend_.fork();
  int lane = 0;
  Index chunk = 0;
  do {
    const ChunkView view{exchange.chunk_mask, chunk};
    for (const ChunkedSweep& sweep : before) run_chunk(sweep, view, lane);
    const auto travel = Clock::now();
    for (Index d = 1; d < partners; ++d) {
      const Index peer = rank_ ^ deposit_bits(d, masks.global);
      const Index theirs = local_value(exchange, local_bits_, peer);
      const Index mask = exchange.chunk_mask | masks.local | exchange.unborn;
      trade({mask, chunk | theirs}, {mask, chunk | own}, static_cast<int>(peer), lane);
    }
    if (complete_at_return) seconds_ += seconds_since(travel);
    for (const ChunkedSweep& sweep : after) run_chunk(sweep, view, lane);
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
  turn_ = 0;  // a single trade goes through slot 0, never the spare one
  trade(mine, theirs, peer, 0);
  transport_->finish();
  backend_.synchronize();
  seconds_ += seconds_since(start);
}

}  // namespace qsim
