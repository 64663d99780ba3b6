// The walk depth first, and what is read at the end of a branch. A waiting branch's state is saved before its
// measurement where a snapshot is free; otherwise it is simulated again from the nearest saved ancestor.
#include "runtime/branch/program_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/clock.h"
#include "base/layout.h"
#include "circuit/circuit_analysis.h"
#include "classical/control.h"
#include "plan/plan.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/answer/read_outs.h"
#include "runtime/check/answer_check.h"
#include "runtime/read_out/sampling.h"

namespace qsim {
namespace {

constexpr std::uint64_t kFewestShots = 64;  // side by side; fewer go one after the other
constexpr std::uint32_t kFirstDraw = 1;     // its number, without control; with control it is 0 (decision 0014)

}  // namespace

ProgramRun::ProgramRun(const PlannedCircuit& program, const Circuit& circuit, DistributedState& state,
                       ExchangePipeline& exchanges, Executor& executor, std::uint32_t snapshots, WalkRoom room)
    : program_(program),
      circuit_(circuit),
      state_(state),
      exchanges_(exchanges),
      executor_(executor),
      walker_(program, circuit, {state, exchanges, executor}),
      room_(std::move(room)),
      terminal_(program.terminal_measures, circuit.clbits()),
      variables_(circuit),
      measures_(circuit.measures()),
      operations_(circuit.operation_count()),
      defect_(unitarity_defect(circuit)) {
  for (std::uint32_t snapshot = snapshots; snapshot-- > 0;) free_snapshots_.push_back(snapshot);
}

void ProgramRun::prepare(bool marginals) {
  if (program_.steps.empty() || program_.steps.front().kind != Step::Kind::kPlan ||
      program_.steps.front().condition >= 0 || program_.plans.at(program_.steps.front().plan).start == Start::kState) {
    throw Error("a program must begin with a plan that makes the start state");
  }
  if (!program_.control && kFirstDraw + program_.collapses() >= kMaxDraws) {
    throw UnsupportedError("a circuit of " + std::to_string(program_.collapses()) +
                           " measurements and resets on its way: a shot has " + std::to_string(kMaxDraws) +
                           " random words");
  }
  std::vector<Layout> layouts = walker_.prepare(marginals && program_.steps.size() == 1);
  if (program_.collapses() == 0 || !FrontWalk::fits(state_, room_)) return;
  front_ = std::make_unique<FrontWalk>(program_, circuit_, walker_, std::move(layouts), std::move(room_));
}

Answers ProgramRun::run(const ReadOuts& read_outs) {
  read_outs_ = read_outs;
  answers_ = {};
  done_ = 0;
  rest_ = 1;
  most_gates_ = 0;
  most_defect_ = 0;
  waiting_.clear();
  read_exchange_seconds_ = 0;
  read_exchange_bytes_ = 0;
  const double exchange_seconds = exchanges_.seconds();
  const std::uint64_t exchange_bytes = exchanges_.bytes_sent();
  if (!program_.dynamic) executor_.on_progress = on_progress;
  if (!front_ || one_by_one || !run_front()) run_depth_first(root(0, read_outs.shots));
  executor_.before = {};
  end_sums(answers_);
  check_answers(answers_, circuit_, terminal_, state_, drift(most_gates_, most_defect_));
  answers_.exchange_seconds = exchanges_.seconds() - exchange_seconds - read_exchange_seconds_;
  answers_.exchange_bytes = exchanges_.bytes_sent() - exchange_bytes - read_exchange_bytes_;
  return std::move(answers_);
}

/// Shots go in as many parts as need not more room than there is. False, and nothing is answered yet, where exact
/// answers have too little.
bool ProgramRun::run_front() {
  const std::uint64_t all = read_outs_.shots;
  const auto read_ended = [&] {
    answers_.branches_left_out += front_->branches_left_out();
    for (const WaitingBranch& each : front_->ended()) {
      front_->load(walker_, each);
      finish(each.branch);
    }
    front_->ended().clear();
  };
  if (read_outs_.exact() || all == 0) {
    if (!front_->run(root(0, all), read_outs_, on_progress)) return false;
    read_ended();
    return true;
  }
  std::uint64_t part = all;
  for (std::uint64_t first = 0; first < all;) {
    part = std::min(part, all - first);
    const auto progress = [&](double share) {
      const double there = static_cast<double>(first) + share * static_cast<double>(part);
      done_ = std::max(done_, there / static_cast<double>(all));  // a part that found no room is begun again
      if (on_progress) on_progress(done_);
    };
    if (front_->run(root(first, part), read_outs_, progress)) {
      read_ended();
      first += part;
    } else if (part > kFewestShots) {
      part = (part + 1) / 2;
    } else {
      rest_ = 1 - done_;
      run_depth_first(root(first, all - first));
      first = all;
    }
  }
  return true;
}

Branch ProgramRun::root(std::uint64_t first_shot, std::uint64_t shots) const {
  Branch root = walker_.root();
  if (shots == 0) return root;
  ShotList& list = root.shots.emplace_back();
  list.draws = program_.control ? 0 : kFirstDraw;
  if (!program_.dynamic) {
    list.unlisted = shots;
  } else {
    list.shots.resize(shots);
    std::iota(list.shots.begin(), list.shots.end(), first_shot);
  }
  return root;
}

void ProgramRun::run_depth_first(Branch root) {
  walker_.begin(read_outs_, [this](std::size_t) { return left(); });
  PathBranch first;
  static_cast<Branch&>(first) = std::move(root);
  follow(std::move(first));
  while (!waiting_.empty()) {
    PathBranch branch = std::move(waiting_.back());
    waiting_.pop_back();
    recover(branch);
    take(branch, branch.next);
    follow(std::move(branch));
  }
}

/// The probability of the branches that have not ended.
double ProgramRun::left() const { return std::clamp(1 - answers_.weight - answers_.branches_left_out, 0.0, 1.0); }

double ProgramRun::drift(std::uint64_t gates, double defect) const {
  return norm_tolerance(state_.precision, std::max(gates, operations_), std::max(defect, defect_));
}

/// The registers at the end of a branch.
ClassicalBits ProgramRun::final_bits(const Branch& branch) const {
  if (!program_.control) return branch.bits;
  ClassicalBits bits(circuit_.clbits());
  std::size_t next = 0;
  for (const FlowOutput& output : program_.control->outputs) {
    if (!output.is_register) continue;
    for (const Scalar& bit : output_values(output, branch.memory)) bits.set(next++, truth(bit));
  }
  return bits;
}

void ProgramRun::follow(PathBranch branch) {
  while (branch.step < program_.steps.size()) {
    if (!walker_.step_over(branch) && !split(branch)) return;
  }
  finish(branch);
  done_ += rest_ * branch.weight;
  if (program_.dynamic && on_progress) on_progress(std::min(1.0, done_));
}

/// Reads a branch at the end of the program.
void ProgramRun::finish(const Branch& branch) {
  const Clock::time_point start = Clock::now();
  const double exchange_seconds = exchanges_.seconds();
  const std::uint64_t exchange_bytes = exchanges_.bytes_sent();
  Profile* const profile = executor_.profile;
  const Moment begin = profile != nullptr ? profile->now() : Moment{};
  most_gates_ = std::max(most_gates_, branch.gates);
  most_defect_ = std::max(most_defect_, branch.defect);
  read(branch);
  if (profile != nullptr) profile->add(Span::Kind::kReadOut, 0, 0, begin, profile->now());
  read_exchange_seconds_ += exchanges_.seconds() - exchange_seconds;
  read_exchange_bytes_ += exchanges_.bytes_sent() - exchange_bytes;
  answers_.read_seconds += seconds_since(start);
}

/// Takes the outcomes that are wanted. False where the branch ends here because none is.
bool ProgramRun::split(PathBranch& branch) {
  Walker::Fork fork = walker_.fork(branch);
  answers_.branches_left_out += fork.left_out;
  if (fork.ways.empty()) return false;
  branch.shots.clear();
  for (std::size_t i = fork.ways.size(); i-- > 1;) {
    PathBranch other = branch;
    other.shots = std::move(fork.ways[i].shots);
    other.next = fork.ways[i].choice;
    wait(std::move(other));
  }
  branch.shots = std::move(fork.ways.front().shots);
  take(branch, fork.ways.front().choice);
  return true;
}

void ProgramRun::take(PathBranch& branch, const Choice& choice) {
  walker_.take(branch, choice);
  branch.path.push_back(choice);
}

void ProgramRun::wait(PathBranch branch) {
  if (read_outs_.exact() && answers_.branches + waiting_.size() + 2 > kMaxBranches) {
    throw_too_many_branches(answers_.branches + waiting_.size() + 2, program_.collapses());
  }
  if (!free_snapshots_.empty()) {
    branch.snapshot = free_snapshots_.back();
    free_snapshots_.pop_back();
    state_.backend.save_state(static_cast<std::uint32_t>(branch.snapshot));
  }
  branch.layout = state_.layout;
  waiting_.push_back(std::move(branch));
}

/// Makes the state that `branch` waited with.
void ProgramRun::recover(PathBranch& branch) {
  state_.moves.clear();
  if (branch.snapshot >= 0) {
    state_.backend.restore_state(static_cast<std::uint32_t>(branch.snapshot));
    state_.layout = branch.layout;
    free_snapshots_.push_back(static_cast<std::uint32_t>(branch.snapshot));
    branch.snapshot = -1;
    return;
  }
  // All waiting branches are siblings of this one's ancestors: their saved states lie on its path.
  const auto saved =
      std::find_if(waiting_.rbegin(), waiting_.rend(), [](const PathBranch& other) { return other.snapshot >= 0; });
  PathBranch from;
  static_cast<Branch&>(from) = walker_.root();
  if (saved != waiting_.rend()) {
    from = *saved;
    from.shots.clear();
    state_.backend.restore_state(static_cast<std::uint32_t>(saved->snapshot));
    state_.layout = saved->layout;
  }
  replay(from, branch);
}

void ProgramRun::replay(PathBranch& from, const PathBranch& target) {
  while (from.step != target.step || from.path.size() != target.path.size()) {
    if (!walker_.step_over(from)) take(from, target.path.at(from.path.size()));
  }
}

void ProgramRun::read(const Branch& branch) {
  ++answers_.branches;
  answers_.weight += branch.weight;
  BranchEnd end{state_, exchanges_, circuit_, measures_, variables_, branch.memory, final_bits(branch), terminal_};
  end.weight = branch.weight;
  end.norm = branch.norm;
  end.drift = drift(branch.gates, branch.defect);
  end.shots = branch.drawn();
  end.lists = branch.shots;
  for (const ReadOut& row : read_out_table()) {
    if (row.read != nullptr && row.wanted(read_outs_)) row.read(end, read_outs_, answers_);
  }
}

}  // namespace qsim
