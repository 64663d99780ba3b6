// The walk of small states: all branches side by side, those at the lowest step first, so that those that meet can be
// made one. Decision 0011 says what keeps its answers those of one branch after the other.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "runtime/branch/flow_facts.h"
#include "runtime/branch/meeting.h"
#include "runtime/branch/walker.h"

namespace qsim {

/// Does body(task, worker) for tasks 0..count-1; workers are numbered from 0.
using TaskRunner =
    std::function<void(std::uint64_t count, const std::function<void(std::uint64_t task, int worker)>& body)>;

/// What a walk may take beside its rank.
struct WalkRoom {
  std::uint64_t bytes = 0;         // on the host, for branches that wait with their states; 0: one after the other
  std::vector<WalkParts> helpers;  // ready to prepare plans; their states are as large as the rank's
  TaskRunner run_tasks;            // with as many workers as there are helpers, and one
};

class FrontWalk {
 public:
  /// `main` and what is given must outlive the walk.
  FrontWalk(const PlannedCircuit& program, const Circuit& circuit, Walker& main, std::vector<Layout> layouts,
            WalkRoom room);

  /// Whether a state of this rank is small enough, and lies where branches can be copied from.
  static bool fits(const DistributedState& state, const WalkRoom& room);

  /// Walks `root` with these read-outs to the end of the program. False where too many branches wait at once for the
  /// room: nothing is answered then. The branches that came to the end are in ended().
  bool run(Branch root, const ReadOuts& read_outs, const std::function<void(double)>& on_progress);
  std::vector<WaitingBranch>& ended() { return ended_; }
  double branches_left_out() const { return left_out_; }
  /// Takes the state that a branch waited with.
  void load(Walker& walker, const WaitingBranch& from) const;

 private:
  /// What became of one branch of a front.
  struct Outcome {
    std::vector<WaitingBranch> waiting;
    double left_out = 0;
    std::exception_ptr error;
  };

  Walker& walker_of(int worker);
  void begin(Walker& walker) const;
  bool stops(std::size_t place, bool alone) const;
  void forget_dead(Branch& branch) const;
  void walk(Walker& walker, WaitingBranch from, bool alone, Outcome& outcome) const;
  bool measure(Walker& walker, WaitingBranch& at, std::vector<WaitingBranch>& open, Outcome& outcome) const;
  void save(const Walker& walker, WaitingBranch& to) const;
  void walk_front(std::vector<WaitingBranch> front);
  void choose_stride(std::size_t came, std::size_t merged);
  double left(std::size_t place) const;

  const PlannedCircuit& program_;
  const Circuit& circuit_;
  Walker& main_;
  const std::vector<Layout> layouts_;  // by place
  WalkRoom room_;
  const FlowFacts facts_;
  std::vector<Complex> probe_;
  std::vector<std::unique_ptr<Walker>> helpers_;  // of the other workers; null: not needed yet
  ReadOuts read_outs_;
  std::map<std::size_t, Meeting> places_;  // by step
  std::vector<WaitingBranch> ended_;
  std::unique_ptr<MergeBudget> budget_;
  std::size_t waiting_ = 0, waiting_bytes_ = 0;
  double front_weight_ = 0, left_out_ = 0;
  std::uint32_t stride_ = 1;  // of the places where branches may meet, every which one they stop at
};

}  // namespace qsim
