// One rank's device at work: its pool, the state that lies there, the way to the other ranks and what runs plans.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "device/backend.h"
#include "device/transport.h"
#include "plan/cost/pool_layout.h"
#include "runtime/distributed_state.h"
#include "runtime/exchange/exchange_pipeline.h"
#include "runtime/exchange/transport_check.h"
#include "runtime/execute/executor.h"
#include "session/rank/settle.h"

namespace qsim {

class Rank {
 public:
  /// Both must outlive the rank.
  Rank(const Settled& settled, Communicator& communicator) : settled_(settled), communicator_(communicator) {}

  /// Takes a pool for states of `qubits` qubits. What was there before is gone, and so are prepared plans.
  /// CapacityError, DeviceError.
  void reserve(const PoolLayout& pool, std::uint32_t qubits);
  /// Opens the way to the other ranks, which overwrites the state, and makes the executor. Collective. Every trade's
  /// data are compared with Verify::kFull, norms unless that is off.
  void connect(Verify verify);

  /// "p2p", "nccl", ... and why; empty on one rank.
  const std::string& exchange() const { return exchange_; }
  const std::string& exchange_reason() const { return exchange_reason_; }
  const PoolLayout& pool() const { return pool_; }

  Communicator& communicator() const { return communicator_; }
  Backend& backend() const { return *backend_; }
  DistributedState& state() const { return *state_; }
  ExchangePipeline& exchanges() const { return *exchanges_; }
  Executor& executor() const { return *executor_; }

  /// VerificationError, the same on every rank, if a trade's data arrived changed.
  void require_intact() const {
    if (checked_) checked_->require_intact();
  }

 private:
  const Settled& settled_;
  Communicator& communicator_;
  PoolLayout pool_;
  int threads_ = 0;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<DistributedState> state_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<CheckedTransport> checked_;
  std::unique_ptr<ExchangePipeline> exchanges_;
  std::unique_ptr<Executor> executor_;
  std::string exchange_, exchange_reason_;
};

}  // namespace qsim
