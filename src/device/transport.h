// How chunks of the state travel between ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "device/views.h"

namespace qsim {

/// Moves chunks of the state between ranks' devices.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;  // "host", "p2p", "nccl", "mpi", "staged"
  /// Largest trade that a slot of `slot_bytes` serves. Half of it where outgoing data is packed into the slot's first
  /// half and arrives in the second; the caller cuts larger chunks into several trades.
  virtual std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const { return slot_bytes / 2; }
  /// Trades this shard's `mine` with `peer`'s `theirs` (equal sizes), in place, using ring slot `slot` on `lane`. Both
  /// ranks call it with the views exchanged and in the same order. When lane work after it runs, `mine` holds the
  /// peer's data.
  virtual void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) = 0;
  /// Trades with different peers through different slots, of views of one mask, which may be under way together. All
  /// peers call it with the same trades in the same order, each seen from its side.
  virtual void trade_all(std::span<const Trade> trades, int lane) {
    for (const Trade& one : trades) trade(one.mine, one.theirs, one.peer, one.slot, lane);
  }
  /// Whether there is trade_to_slots().
  virtual bool leaves_in_slots() const { return false; }
  /// trade_all() of views that are one run of memory each, but what arrives stays in the slots, contiguous.
  virtual void trade_to_slots(std::span<const Trade> trades, int lane);
  /// Waits until every trade begun so far is complete (host-driven transports progress only in trade and finish).
  virtual void finish() = 0;
};

/// Host-memory transport over a communicator (CPU backends) for shards of 2^local_bits.
std::unique_ptr<Transport> make_host_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits);

}  // namespace qsim
