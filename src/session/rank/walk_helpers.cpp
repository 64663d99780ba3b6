// Helpers take memory of the same limit as the rank, and only where branches get the most of it.
#include "session/rank/walk_helpers.h"

#include <algorithm>

#include "session/choose/registry.h"

namespace qsim {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20;  // of branches that wait
constexpr std::uint32_t kMostQubits = 12;                       // beyond, threads share a state better than branches

}  // namespace

WalkRoom WalkHelpers::lend(const Settled& settled, const PlannedCircuit& program, const PoolLayout& pool,
                           std::uint32_t qubits, std::uint64_t usable_bytes, Verify verify) {
  clear();
  WalkRoom room;
  if (settled.machine.kind != BackendKind::kCpu || settled.rank_bits != 0 || qubits > kMostQubits) return room;
  if (program.collapses() == 0) return room;
  const std::uint64_t used = pool.total_bytes();
  room.bytes = std::min(kMostBytes, usable_bytes > used ? (usable_bytes - used) / 4 : 0);
  const int threads = rank_threads(settled.target.threads, kMaxQubits, 1);
  if (threads < 2) return room;
  PoolLayout small = pool;
  small.snapshot_bytes = 0;
  const auto helpers = static_cast<std::uint64_t>(threads - 1);
  if (room.bytes / 4 < helpers * small.total_bytes()) return room;
  room.bytes -= helpers * small.total_bytes();
  alone_ = settled;
  alone_.target.threads = 1;
  self_ = make_self_communicator();
  for (std::uint64_t helper = 0; helper < helpers; ++helper) {
    ranks_.push_back(std::make_unique<Rank>(alone_, *self_));
    ranks_.back()->reserve(small, qubits);
    ranks_.back()->connect(verify);
    room.helpers.push_back({ranks_.back()->state(), ranks_.back()->exchanges(), ranks_.back()->executor()});
  }
  room.run_tasks = [this, threads](std::uint64_t count, const std::function<void(std::uint64_t, int)>& body) {
    if (!team_) team_ = std::make_unique<ThreadTeam>(threads);
    team_->run(count, body);
  };
  return room;
}

void WalkHelpers::clear() {
  ranks_.clear();
  team_.reset();
}

}  // namespace qsim
