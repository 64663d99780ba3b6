// What moves a branch on: the state of one rank with what it takes to run plans and instruments on it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "plan/program/instrument.h"
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

/// The shots by the outcome that each draws, where outcomes have so many units (decision 0004).
std::vector<ShotLists> split_shots(const ShotLists& shots, std::span<const std::uint64_t> units, std::uint64_t seed);

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

  /// Does the branch's step and moves it on; false where that is an instrument, which is not done.
  bool step_over(Branch& branch);

  /// The outcomes of an instrument that are wanted: those that shots fall on and, for exact answers, all that are
  /// possible. None where the branch ends here because none is.
  struct Way {
    Choice choice;
    ShotLists shots;
  };
  struct Fork {
    std::vector<Way> ways;  // by outcome
    double left_out = 0;    // weight of the outcomes that are not wanted
  };
  Fork fork(const Branch& branch);
  /// Lets the operator of `choice` act and moves the branch on.
  void take(Branch& branch, const Choice& choice);

 private:
  bool applies(const Step& step, const ClassicalBits& bits) const;
  void run_classical(Branch& branch, const Step& step) const;
  void know(const Branch& branch, const Step& step, std::vector<Way>& ways) const;
  std::vector<Way> weigh(const Branch& branch, const Step& step);

  const PlannedCircuit& program_;
  const Circuit& circuit_;
  WalkParts parts_;
  Collapse collapse_;
  std::vector<std::size_t> plan_numbers_;
  std::vector<std::vector<Transition>> operators_;  // by instrument
  ReadOuts read_outs_;
  std::function<double(std::size_t)> left_;
};

}  // namespace qsim
