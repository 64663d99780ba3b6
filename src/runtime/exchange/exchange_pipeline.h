// Runs exchanges: cuts the shard into chunks, trades them with every partner, and lets neighbouring sweeps run chunk by
// chunk while other chunks travel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/backend.h"
#include "device/transport.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/types.h"
#include "runtime/distributed_state.h"
#include "runtime/profile.h"

namespace qsim {

/// A prepared sweep that runs chunk by chunk beside an exchange.
struct ChunkedSweep {
  std::uint32_t handle = 0;
  bool accumulate_norm = false;
  std::uint32_t stage = 0, number = 0;  // which of the plan's sweeps it is
  Index arrivals = 0;                   // of the first one after an exchange: its arrival_bits()
};

class ExchangePipeline {
 public:
  /// `transport` is null where there is one rank. The slots are those of the backend's reserved pool.
  ExchangePipeline(const DistributedState& state, Transport* transport, const PoolLayout& pool);

  /// Swaps the bits of `exchange`; `before` and `after` are run, in order, on every chunk just before and after it
  /// travels.
  void run(const Exchange& exchange, std::span<const ChunkedSweep> before, std::span<const ChunkedSweep> after);
  /// The bits that tell a chunk's parts apart, where the first sweep after the exchange may load what arrives from the
  /// ring's slots: each part of a chunk is one run of memory and fits a slot. Else 0.
  Index arrival_bits(const Exchange& exchange) const;
  /// Trades the amplitudes of a view with `peer`'s amplitudes of another view of the same mask; completes before it
  /// returns. Views larger than a slot are cut.
  void trade_view(ChunkView mine, ChunkView theirs, int peer);
  /// Further bits, outside `mask`, that cut views of `mask` until they fit a slot.
  Index extra_cut(Index mask) const;

  /// A slot for data that is to stay while views are traded on lane 0 (which uses the others): needs two slots.
  std::uint32_t spare_slot() const;

  Profile* profile = nullptr;  // where there is one, spans are added to it

  std::uint64_t bytes_sent() const { return bytes_sent_; }
  /// Wall time with a transfer in flight.
  double seconds() const { return seconds_; }

 private:
  // Makes trades_, cut into pieces that fit slots. Of several lanes each has slots of its own. With `to_slots` each is
  // one piece, which stays in its slot.
  void trade(int lane, int lanes, bool to_slots);
  void require_transport() const;
  // `from_slots`: what pieces_ have brought is in their slots, for the first sweep after the exchange.
  void run_chunk(const ChunkedSweep& sweep, ChunkView view, int lane, bool from_slots);

  Backend& backend_;
  ArrivalSweeps* const arrivals_;  // null where the backend has none
  Transport* transport_;
  const std::uint32_t local_bits_;
  const Index rank_;
  const std::uint64_t amplitude_bytes_;
  const std::uint64_t slot_bytes_;
  const std::uint32_t slots_;
  std::vector<Trade> trades_;  // of one chunk, with different peers; views of one mask
  std::vector<Trade> pieces_;  // those of them that are under way together
  std::uint64_t bytes_sent_ = 0;
  double seconds_ = 0;
};

}  // namespace qsim
