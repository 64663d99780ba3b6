// One rank of a session: which of its states lies in the pool, where the others wait, and which plans are prepared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/layout.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "plan/program/planned_circuit.h"
#include "runtime/branch/program_run.h"
#include "session/rank/rank.h"
#include "session/rank/settle.h"
#include "session/rank/walk_helpers.h"

namespace qsim {

/// One rank's part of a state. It is in the pool, in a place beside it on the device, or on the host.
struct Shard {
  std::uint32_t qubits = 0;
  Layout layout;
  std::uint64_t gates = 0;  // that it has been through
  double defect = 0;        // of their matrices: unitarity_defect()
  std::optional<std::uint32_t> place;
  std::vector<std::byte> host;
};

/// A plan to be run. Where it is another plan, `shape`, but for its numbers, that one's preparation serves it.
struct ShapedPlan {
  std::shared_ptr<const Plan> plan, shape = nullptr;
};

class RankSession {
 public:
  /// Collective. `communicator` must outlive it.
  RankSession(Settled settled, Communicator& communicator, Verify verify);

  const Settled& settled() const { return settled_; }
  Rank& rank() { return rank_; }
  DistributedState& state() const { return rank_.state(); }

  /// Makes `shard` the one in the pool, which serves `needed`; without `keep` its contents do not matter. Collective.
  void enter(Shard& shard, const PoolLayout& needed, bool keep);
  /// The same for reading, in whatever pool there is.
  void enter(Shard& shard) { enter(shard, basic_pool(shard.qubits), true); }
  /// `shard` ends.
  void forget(const Shard& shard) noexcept;

  /// Runs `plan` on `shard`, from where it is unless the plan starts afresh. Collective. Errors leave no state.
  void run(Shard& shard, const ShapedPlan& shaped, std::uint64_t start_seed);
  /// Where the qubits of `shard` are for what runs next; it is in the pool then. Collective.
  const Layout& layout_of(Shard& shard);
  /// Gives `shard` amplitudes: source(first, values) fills values with those from index `first` on. Collective.
  void fill(Shard& shard, const std::function<void(Index, std::span<Complex>)>& source);
  /// Makes `to`, which has none yet, the same state as `from`. Collective.
  void copy(Shard& from, Shard& to);
  /// Runs every branch of `planned`, the plans of `circuit`; the session's states wait on the host meanwhile.
  /// Collective.
  Answers answer(const Circuit& circuit, const PlannedCircuit& planned, const ReadOuts& read_outs);

  /// Empties the pool for `programs`, whose branches wait in the snapshots of `needed`: the session's states go to the
  /// host, and no plan is prepared any more. Collective.
  void vacate(std::uint32_t qubits, const PoolLayout& needed, std::span<const PlannedCircuit* const> programs);
  /// What branches of one of them may wait in beside the pool, of `usable_bytes` in all. Until the next call.
  WalkRoom lend(const PlannedCircuit& planned, std::uint64_t usable_bytes);
  /// One of them, the plans of `circuit`, ready to be run as often as wanted; `marginals`: they will be read. All that
  /// is given must outlive it. Collective.
  std::unique_ptr<ProgramRun> stage(const Circuit& circuit, const PlannedCircuit& planned, bool marginals,
                                    WalkRoom room);
  /// Nothing that is staged runs any more.
  void unstage();
  /// What such a run of one plan has left in the pool becomes `shard`; nothing is staged then.
  void adopt(Shard& shard, const Plan& ran);

  /// Sum over amplitudes of conj(other) times `shard`. Collective.
  Complex inner_product(Shard& shard, Shard& other);
  /// Moves the qubits of `shard` to where they are in a new state: qubit q at bit q. Collective.
  void straighten(Shard& shard);

  std::function<void(double)> on_progress;

 private:
  struct Prepared {
    ShapedPlan shaped;
    std::size_t number = 0;
  };

  PoolLayout basic_pool(std::uint32_t qubits) const;
  /// `places`: at least so many; else as many as the target wants and memory has.
  void make_room(std::uint32_t qubits, const PoolLayout& needed, std::uint64_t places = 0);
  void all_to_host();
  void put_aside();
  void bring(Shard& shard);
  void current_to_host();
  void places_to_host();
  std::size_t prepare(const ShapedPlan& shaped);
  void clear_prepared();
  void renew(Prepared& prepared, const ShapedPlan& shaped);
  std::uint64_t shard_bytes() const { return rank_.state().shard_bytes(); }

  Communicator& communicator_;
  const Verify verify_;
  Settled settled_;
  Rank rank_{settled_, communicator_};
  WalkHelpers helpers_;
  std::uint32_t qubits_ = 0;                            // of the states that the pool holds; 0: there is none
  Shard* current_ = nullptr;                            // the one in the pool
  std::vector<Shard*> places_;                          // who waits in which place; null: free
  std::unordered_map<const Plan*, Prepared> prepared_;  // by the plan, or by its shape where sweeps can be renewed
  std::size_t prepared_sweeps_ = 0;
};

}  // namespace qsim
