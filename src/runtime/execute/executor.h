// Runs plans: a short loop over stages. Everything is prepared before the first sweep; nothing allocates in the loop.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"
#include "runtime/distributed_state.h"
#include "runtime/exchange/exchange_pipeline.h"
#include "runtime/profile.h"

namespace qsim {

/// What a run has done so far.
struct ExecutionCounts {
  std::uint64_t gates_planned = 0, gates_applied = 0;
  std::uint64_t sweeps = 0, exchanges = 0, bytes_swept = 0;
  double norm = 1;  // after the last plan that was checked, relative to what was expected
  bool norm_checked = false;
  double start_seconds = 0;  // spent on making random start states
};

class Executor {
 public:
  /// `check_norm`: the sum of probabilities is taken in every stage's last sweep and compared with what is expected.
  Executor(DistributedState& state, ExchangePipeline& exchanges, bool check_norm);

  /// Uploads the plan's sweeps, specialised to this rank; returns the number to run it by. The plan must outlive the
  /// executor. A plan for more ranks than there are is run as those ranks would: this rank's highest local bits play
  /// the missing rank bits, each sweep runs once for each rank that is played, and exchanges between those move data
  /// inside the shard. The arithmetic on every amplitude is then the same for any number of ranks.
  /// `sum_bits`: the last sweep takes each bit's probability where the backend can; after the run it is in
  /// DistributedState::bit_probabilities. For a program that ends with this plan: nothing else may change the state
  /// before it is read.
  std::size_t prepare(const Plan& plan, bool sum_bits = false);
  /// Plan `number` becomes `plan`, which is the same but for numbers and must outlive the executor. The backend must be
  /// able to (Abilities::renewal).
  void renew(std::size_t number, const Plan& plan);
  /// Uploads one sweep that is already specialised; returns its handle.
  std::uint32_t prepare_sweep(const Sweep& sweep);

  /// Runs plan number `number`. Unless the plan starts afresh, the state must lie in its initial layout. Throws
  /// VerificationError, the same on every rank, when the norm differs from `expected_norm` by more than the precision
  /// allows (relative to it).
  void run(std::size_t number, double expected_norm, std::uint64_t start_seed);
  /// Makes the start state of `plan`, whatever the state was; the start |0...0> is made by the plan's first sweep.
  void make_start(const Plan& plan, std::uint64_t start_seed);
  /// Runs one prepared sweep over the whole shard; `bytes` are counted. `norm`: for the backend's take_norm().
  void run_sweep(std::uint32_t handle, std::uint64_t bytes, bool norm = false);

  /// What the state has been through before the next run.
  struct Before {
    std::uint64_t gates = 0;
    double defect = 0;
  };
  Before before;
  /// Forgets all plans.
  void clear_plans();

  /// Sweeps with fewer active bits get more while they are prepared, where the plan's shard has them: a backend that
  /// widens narrow sweeps itself could do so differently for shards of another size.
  std::uint32_t least_active_bits = 0;

  Profile* profile = nullptr;  // where there is one, spans are added to it

  /// Called with the share of a plan's predicted time that is done.
  std::function<void(double)> on_progress;

  const ExecutionCounts& counts() const { return counts_; }
  void clear_counts() { counts_ = {}; }
  /// What another executor has done of the same work.
  void add_counts(const ExecutionCounts& others);

 private:
  struct PreparedStage {
    std::optional<Exchange> exchange;             // between the ranks that there are
    std::optional<std::uint32_t> inner_exchange;  // a sweep that swaps bits of this shard in place of the rest
    std::uint64_t inner_bytes = 0;
    std::uint32_t first_handle = 0;           // those of the ranks that are played follow one another
    std::vector<std::uint64_t> sweep_bytes;   // read plus written
    std::vector<ChunkedSweep> before, after;  // run beside the exchange: of the stage before, of this one
  };
  struct PreparedPlan {
    const Plan* plan = nullptr;
    std::uint32_t played_bits = 0;  // rank bits of the plan that local bits play
    std::vector<PreparedStage> stages;
    double predicted_seconds = 0;
    std::size_t steps = 0;
    bool sums_bits = false;
  };

  void prepare_stage(PreparedPlan& prepared, const Stage& stage);
  /// The sweeps of a stage as part `part` of those that this rank plays runs them.
  std::vector<Sweep> sweeps_of(const PreparedPlan& prepared, const Stage& stage, std::uint32_t part) const;
  /// Whether the last sweep is one whole sweep over the shard, not one of several parts or chunks.
  static bool ends_whole(const PreparedPlan& prepared);
  void choose_chunked(PreparedPlan& prepared, std::size_t number);
  void prepare_exchange(PreparedStage& target, const Plan& plan, const Stage& stage);
  void sweep(const PreparedPlan& prepared, std::size_t stage, std::size_t number, bool norm);
  void run_stage(const PreparedPlan& prepared, std::size_t number);
  void run_exchange(const PreparedPlan& prepared, std::size_t number);
  void count_sweep(const PreparedPlan& prepared, std::size_t stage, std::size_t sweep);
  void step_done(const PreparedPlan& prepared, double predicted_seconds);
  void check_norms(const PreparedPlan& prepared, double expected_norm);

  DistributedState& state_;
  ExchangePipeline& exchanges_;
  const bool check_norm_;
  std::vector<PreparedPlan> plans_;
  std::vector<double> norms_;  // of each stage of the running plan; negative: not taken
  double start_scale_ = 0;     // makes the random start of this seed a state of norm 1; 0 = not known yet
  std::uint64_t start_scale_seed_ = 0;
  double seconds_done_ = 0;
  std::size_t steps_done_ = 0;
  ExecutionCounts counts_;
};

}  // namespace qsim
