// What moves a branch on: the state of one rank with what it takes to run plans and projections on it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "runtime/branch/branch.h"
#include "runtime/execute/collapse.h"
#include "runtime/execute/executor.h"
#include "runtime/read_out/answers.h"

namespace qsim {

constexpr std::size_t kMaxBranches = 4096;
/// An exact answer that needs `branches` at once, or more.
[[noreturn]] void throw_too_many_branches(std::size_t branches, std::uint64_t splits);

/// What a rank runs plans with.
struct WalkParts {
  DistributedState& state;
  ExchangePipeline& exchanges;
  Executor& executor;
};

class Walker {
 public:
  /// Everything given must outlive the walker.
  Walker(const PlannedCircuit& program, const Circuit& circuit, const WalkParts& parts);

  /// Uploads everything that any branch needs; returns, by step, the layout that the state has before it. `sum_bits`:
  /// the last sweep sums bits where it can.
  std::vector<Layout> prepare(bool sum_bits);
  /// For the branches that follow. `left`: the probability of branches that have not ended, by the step of the one that
  /// asks.
  void begin(const ReadOuts& read_outs, std::function<double(std::size_t)> left);

  Branch root() const;
  DistributedState& state() const { return parts_.state; }
  Executor& executor() const { return parts_.executor; }

  /// Does the branch's step and moves it on; false where that is a measurement or a reset, which is not done.
  bool step_over(Branch& branch);

  /// What either outcome of a measurement or reset would be, and which of them are wanted: those that shots fall on
  /// and, for exact answers, all that are possible. None where the branch ends here because none is.
  struct Fork {
    std::array<Choice, 2> choices;
    std::array<bool, 2> wanted{};
    std::array<ShotLists, 2> shots;
    double left_out = 0;  // weight of the outcomes that are not wanted
  };
  Fork fork(const Branch& branch);
  /// Projects onto `choice` and moves the branch on.
  void take(Branch& branch, const Choice& choice);

 private:
  bool applies(const Step& step, const ClassicalBits& bits) const;
  void run_classical(Branch& branch, const Step& step) const;
  std::array<Choice, 2> know(const Branch& branch, const Step& step, std::array<ShotLists, 2>& shots) const;
  std::array<Choice, 2> weigh(const Branch& branch, const Step& step, std::array<ShotLists, 2>& shots);

  const PlannedCircuit& program_;
  const Circuit& circuit_;
  WalkParts parts_;
  Collapse collapse_;
  std::vector<std::size_t> plan_numbers_;
  ReadOuts read_outs_;
  std::function<double(std::size_t)> left_;
};

}  // namespace qsim
