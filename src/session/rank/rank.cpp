// What depends on the pool goes before it and comes back after it.
#include "session/rank/rank.h"

#include <utility>

#include "plan/cost/pool_layout.h"
#include "session/choose/registry.h"

namespace qsim {

void Rank::reserve(const PoolLayout& pool, std::uint32_t qubits) {
  executor_.reset();
  exchanges_.reset();
  checked_.reset();
  transport_.reset();
  state_.reset();
  const Target& target = settled_.target;
  const std::uint32_t local_bits = qubits - settled_.rank_bits;
  const int threads = settled_.threads(local_bits, communicator_);
  if (!backend_ || threads != threads_) {
    backend_.reset();
    backend_ = make_backend(target.backend, settled_.backend_options(threads));
    threads_ = threads;
  }
  pool_ = pool;
  backend_->reserve(pool_, local_bits);
  state_ = std::make_unique<DistributedState>(
      DistributedState{*backend_, communicator_, qubits, settled_.rank_bits, target.precision, {}});
}

void Rank::connect(Verify verify) {
  OpenedTransport opened = open_transport(settled_.target.backend, settled_.target.exchange, *state_, pool_);
  transport_ = std::move(opened.transport);
  exchange_ = std::move(opened.name);
  exchange_reason_ = std::move(opened.reason);
  Transport* used = transport_.get();
  if (transport_ && verify == Verify::kFull) {
    checked_ = std::make_unique<CheckedTransport>(*transport_, *backend_, communicator_);
    used = checked_.get();
  }
  exchanges_ = std::make_unique<ExchangePipeline>(*state_, used, pool_);
  executor_ = std::make_unique<Executor>(*state_, *exchanges_, verify != Verify::kOff);
  executor_->least_active_bits = settled_.least_active_bits;
}

}  // namespace qsim
