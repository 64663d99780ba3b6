// Runs a program: one plan, or a tree of branches where measurements and resets split the state. Branches are walked
// depth first; the shots are split by draws keyed by (seed, shot, step), so the order of the walk does not show.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/layout.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/pauli.h"
#include "qsim/types.h"
#include "runtime/execute/collapse.h"
#include "runtime/execute/executor.h"
#include "runtime/read_out/answers.h"
#include "runtime/read_out/classical_bits.h"

namespace qsim {

constexpr std::size_t kMaxBranches = 4096;
constexpr std::size_t kMaxOutcomes = std::size_t{1} << 20;

/// The variables of `circuit` as results hold them, taken from `answers`; `drawn`: there were shots.
std::optional<VariableResults> take_variables(const Circuit& circuit, Answers& answers, bool drawn);

class ProgramRun {
 public:
  /// `snapshots`: how many states the pool can save. Everything given must outlive the run.
  ProgramRun(const PlannedCircuit& program, const Circuit& circuit, DistributedState& state,
             ExchangePipeline& exchanges, Executor& executor, std::uint32_t snapshots);

  /// Uploads everything that any branch needs, and waits for what the backend makes in the background. `marginals`:
  /// they will be read.
  void prepare(bool marginals);
  /// Runs all branches; afterwards the state is that of the last one. UnsupportedError where an exact answer needs more
  /// than kMaxBranches branches.
  Answers run(const ReadOuts& read_outs);

  /// Called with the share of the work that is done.
  std::function<void(double)> on_progress;

 private:
  struct Choice {
    bool one = false;
    double share = 1;        // of the branch
    double probability = 1;  // in the branch's state as it is scaled
  };
  struct Branch {
    std::size_t step = 0;
    std::vector<Choice> path;  // at the measurements and resets so far
    ClassicalBits bits;
    std::vector<Scalar> memory;        // variables of the control
    std::uint64_t taken = 0;           // steps of control so far
    std::uint64_t iterations = 0;      // jumps back so far
    double weight = 1, norm = 1;       // probability of the branch; total probability of its scaled state
    std::uint64_t shot_count = 0;      // of all shots, before the first split; their numbers are then not listed
    std::vector<std::uint64_t> shots;  // numbers of those that took this branch
    std::uint64_t drawn() const { return shot_count + shots.size(); }
    Choice next;  // of a waiting branch: what it takes at `step`
    std::int64_t snapshot = -1;
    Layout layout;
  };

  bool applies(const Step& step, const ClassicalBits& bits) const;
  Branch root() const;
  /// Assigns or jumps; false where the step is no classical one.
  bool run_classical(Branch& branch, const Step& step) const;
  double left() const;
  ClassicalBits final_bits(const Branch& branch) const;
  void follow(Branch branch);
  bool split(Branch& branch, const Step& step);
  std::array<Choice, 2> weigh(Branch& branch, const Step& step, std::array<std::vector<std::uint64_t>, 2>& shots);
  void take(Branch& branch, const Step& step, const Choice& choice);
  void wait(Branch branch);
  void recover(Branch& branch);
  void replay(Branch& from, const Branch& target);
  void read(const Branch& branch);
  void read_exact(const Branch& branch);
  void draw(const Branch& branch);
  [[noreturn]] void throw_too_many_branches() const;

  const PlannedCircuit& program_;
  const Circuit& circuit_;
  DistributedState& state_;
  ExchangePipeline& exchanges_;
  Executor& executor_;
  Collapse collapse_;
  TerminalMeasurements terminal_;
  VariableReader variables_;
  const bool measures_;
  const double drift_;  // what rounding may do to a norm
  std::vector<std::size_t> plan_numbers_;
  std::vector<std::uint32_t> free_snapshots_;
  std::vector<Branch> waiting_;
  ReadOuts read_outs_;
  Answers answers_;
  double done_ = 0;
  double read_exchange_seconds_ = 0;
  std::uint64_t read_exchange_bytes_ = 0;
};

}  // namespace qsim
