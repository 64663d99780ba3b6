// Runs a program: one plan, or a tree of branches where measurements and resets split the state. Branches of small
// states are walked side by side and made one where they meet, others depth first; the shots are split by draws keyed
// by (seed, shot, draws of the shot so far), so the order of the walk does not show.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/layout.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/types.h"
#include "runtime/branch/branch.h"
#include "runtime/branch/front_walk.h"
#include "runtime/branch/walker.h"
#include "runtime/execute/executor.h"
#include "runtime/read_out/answers.h"
#include "runtime/read_out/classical_bits.h"

namespace qsim {

class ProgramRun {
 public:
  /// `snapshots`: how many states the pool can save. `room`: for branches side by side; without it they are walked
  /// depth first, and none are made one. Everything given must outlive the run.
  ProgramRun(const PlannedCircuit& program, const Circuit& circuit, DistributedState& state,
             ExchangePipeline& exchanges, Executor& executor, std::uint32_t snapshots, WalkRoom room = {});

  /// Uploads everything that any branch needs, and waits for what the backend makes in the background. `marginals`:
  /// they will be read.
  void prepare(bool marginals);
  /// Runs all branches; afterwards the state is that of the last one. UnsupportedError where an exact answer needs more
  /// than kMaxBranches branches.
  Answers run(const ReadOuts& read_outs);

  /// Branches are not walked side by side even where there is room.
  bool one_by_one = false;
  /// Called with the share of the work that is done.
  std::function<void(double)> on_progress;

 private:
  /// A branch of the walk depth first.
  struct PathBranch : Branch {
    std::vector<Choice> path;  // at the instruments so far
    Choice next;               // of a waiting branch: what it takes at `step`
    std::int64_t snapshot = -1;
    Layout layout;
  };

  double left() const;
  /// What rounding may do to a norm after so many gates.
  double drift(std::uint64_t gates, double defect) const;
  ClassicalBits final_bits(const Branch& branch) const;
  bool run_front();
  void run_depth_first(Branch root);
  void finish(const Branch& branch);
  void follow(PathBranch branch);
  bool split(PathBranch& branch);
  void take(PathBranch& branch, const Choice& choice);
  void wait(PathBranch branch);
  void recover(PathBranch& branch);
  void replay(PathBranch& from, const PathBranch& target);
  Branch root(std::uint64_t first_shot, std::uint64_t shots) const;
  void read(const Branch& branch);

  const PlannedCircuit& program_;
  const Circuit& circuit_;
  DistributedState& state_;
  ExchangePipeline& exchanges_;
  Executor& executor_;
  Walker walker_;
  WalkRoom room_;
  std::unique_ptr<FrontWalk> front_;  // where branches are walked side by side
  TerminalMeasurements terminal_;
  VariableReader variables_;
  const bool measures_;
  const std::uint64_t operations_;  // of the circuit, and what their matrices lack
  const double defect_;
  std::vector<std::uint32_t> free_snapshots_;
  std::vector<PathBranch> waiting_;
  ReadOuts read_outs_;
  Answers answers_;
  std::uint64_t most_gates_ = 0;  // that any branch has run, and what their matrices lack
  double most_defect_ = 0;
  double done_ = 0, rest_ = 1;  // share of the work; that of what goes one branch after the other
  double read_exchange_seconds_ = 0;
  std::uint64_t read_exchange_bytes_ = 0;
};

}  // namespace qsim
