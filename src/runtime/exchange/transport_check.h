// Trust in a transport: a bit-exact test before it is used, and checksums of every trade with --verify full.
#pragma once

#include <memory>

#include "device/transport.h"
#include "plan/cost/pool_layout.h"
#include "qsim/error.h"
#include "runtime/distributed_state.h"

namespace qsim {

/// What self_test throws, on every rank alike, when data arrived changed.
class TransportRefused : public CommunicatorError {
 public:
  using CommunicatorError::CommunicatorError;
};

/// Exchanges known pieces with all other ranks over all lanes, more than the ring has slots before any wait, once each
/// in a row and once scattered, and compares what arrives bit by bit; overwrites part of the state and forgets
/// prepared sweeps. Throws TransportRefused, the same on every rank, naming what differed. An error that only this
/// rank meets ends the job.
void self_test(DistributedState& state, Transport& transport, const PoolLayout& pool);

/// Compares a checksum of every trade's data before and after it travelled.
class CheckedTransport final : public Transport {
 public:
  CheckedTransport(Transport& inner, Backend& backend, Communicator& communicator);
  std::string_view name() const override { return inner_.name(); }
  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override { return inner_.max_trade_bytes(slot_bytes); }
  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override;
  void finish() override { inner_.finish(); }
  /// Throws VerificationError, the same on every rank, if any trade so far arrived changed.
  void require_intact();

 private:
  Transport& inner_;
  Backend& backend_;
  Communicator& communicator_;
  std::uint64_t trades_ = 0, changed_ = 0;
  int changed_peer_ = -1;
};

}  // namespace qsim
