// Fronts are walked by several threads and put together in the order of the branches: no thread shows in an answer.
#include "runtime/branch/front_walk.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "device/numbers/likeness.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::uint64_t kFewest = 64;       // branches that must find room
constexpr std::size_t kWorthSharing = 16;   // branches, among threads
constexpr std::size_t kTask = 8;            // branches that a thread takes at a time
constexpr std::size_t kWorthSkipping = 64;  // branches of a front, before places are skipped
constexpr std::uint32_t kLargestStride = 64;

}  // namespace

bool FrontWalk::fits(const DistributedState& state, const WalkRoom& room) {
  if (state.communicator.size() != 1 || room.bytes < kFewest * state.shard_bytes()) return false;
  const MemoryRegion memory = state.backend.state();
  return memory.data != nullptr && !memory.on_device;
}

FrontWalk::FrontWalk(const PlannedCircuit& program, const Circuit& circuit, Walker& main, std::vector<Layout> layouts,
                     WalkRoom room)
    : program_(program),
      circuit_(circuit),
      main_(main),
      layouts_(std::move(layouts)),
      room_(std::move(room)),
      facts_(find_facts(program, circuit)),
      probe_(probe(main.state().local_amplitudes())),
      helpers_(room_.helpers.size()) {}

/// Helpers get ready when they are first needed, each on its own thread: most programs never share a front.
Walker& FrontWalk::walker_of(int worker) {
  if (worker == 0) return main_;
  const auto number = static_cast<std::size_t>(worker) - 1;
  if (!helpers_[number]) {
    auto helper = std::make_unique<Walker>(program_, circuit_, room_.helpers[number]);
    helper->prepare(false);
    begin(*helper);
    helpers_[number] = std::move(helper);
  }
  return *helpers_[number];
}

void FrontWalk::begin(Walker& walker) const {
  walker.begin(read_outs_, [this](std::size_t place) { return left(place); });
}

bool FrontWalk::run(Branch root, const ReadOuts& read_outs, const std::function<void(double)>& on_progress) {
  read_outs_ = read_outs;
  places_.clear();
  ended_.clear();
  budget_ = std::make_unique<MergeBudget>(main_.state().precision);
  waiting_ = 1;
  waiting_bytes_ = 0;
  left_out_ = 0;
  stride_ = 1;
  begin(main_);
  for (const auto& helper : helpers_) {
    if (helper) begin(*helper);
  }
  double done = 0;
  std::vector<WaitingBranch> front(1);
  front.front().branch = std::move(root);
  while (!front.empty() && waiting_bytes_ <= room_.bytes) {
    walk_front(std::move(front));
    front.clear();
    if (read_outs.exact() && waiting_ > kMaxBranches) throw_too_many_branches(waiting_, program_.collapses());
    if (places_.empty()) break;
    const auto lowest = places_.begin();
    if (on_progress) {
      done = std::max(done, static_cast<double>(lowest->first) / static_cast<double>(program_.steps.size()));
      on_progress(done);
    }
    std::vector<WaitingBranch>& next = lowest->first == program_.steps.size() ? ended_ : front;
    next = std::move(lowest->second.branches());
    places_.erase(lowest);
  }
  for (const auto& helper : helpers_) {
    if (!helper) continue;
    main_.executor().add_counts(helper->executor().counts());
    helper->executor().clear_counts();
  }
  return waiting_bytes_ <= room_.bytes;
}

void FrontWalk::load(Walker& walker, const WaitingBranch& from) const {
  if (from.amplitudes.empty()) return;
  DistributedState& state = walker.state();
  state.moves.clear();
  state.backend.copy_in(0, state.local_amplitudes(), from.amplitudes.data());
  state.layout = layouts_[from.branch.step];
}

void FrontWalk::save(const Walker& walker, WaitingBranch& to) const {
  const MemoryRegion memory = walker.state().backend.state();
  to.amplitudes.assign(memory.data, memory.data + walker.state().shard_bytes());
}

bool FrontWalk::stops(std::size_t place, bool alone) const {
  if (place == program_.steps.size()) return true;
  if (alone || facts_.meeting[place] == 0) return false;
  return facts_.loops[place] || facts_.meeting[place] % stride_ == 0;
}

void FrontWalk::forget_dead(Branch& branch) const {
  for (const std::uint32_t variable : facts_.dead(branch.step)) {
    if (program_.control) {
      branch.memory.forget(variable);
    } else {
      branch.bits.set(variable, false);
    }
  }
}

/// Walks a branch, and those that it splits into, to where others may be met. `alone`: there are none.
void FrontWalk::walk(Walker& walker, WaitingBranch from, bool alone, Outcome& outcome) const {
  std::vector<WaitingBranch> open;
  open.push_back(std::move(from));
  while (!open.empty()) {
    WaitingBranch at = std::move(open.back());
    open.pop_back();
    load(walker, at);
    bool goes_on = true;
    if (at.next) {
      walker.take(at.branch, *std::exchange(at.next, std::nullopt));
    } else {
      goes_on = walker.step_over(at.branch) || measure(walker, at, open, outcome);
    }
    if (goes_on) forget_dead(at.branch);
    while (goes_on && !stops(at.branch.step, alone && open.empty() && outcome.waiting.empty())) {
      goes_on = walker.step_over(at.branch) || measure(walker, at, open, outcome);
      if (goes_on) forget_dead(at.branch);
    }
    if (!goes_on) continue;
    save(walker, at);
    at.likeness = likeness(at.amplitudes, probe_, walker.state().precision);
    outcome.waiting.push_back(std::move(at));
  }
}

/// False where the branch ends at its instrument. The lowest outcome goes on, the next one waits on top.
bool FrontWalk::measure(Walker& walker, WaitingBranch& at, std::vector<WaitingBranch>& open, Outcome& outcome) const {
  Walker::Fork fork = walker.fork(at.branch);
  outcome.left_out += fork.left_out;
  if (fork.ways.empty()) return false;
  at.branch.shots.clear();
  for (std::size_t i = fork.ways.size(); i-- > 1;) {
    WaitingBranch& other = open.emplace_back();
    other.branch = at.branch;
    other.branch.shots = std::move(fork.ways[i].shots);
    other.next = fork.ways[i].choice;
    save(walker, other);
  }
  at.branch.shots = std::move(fork.ways.front().shots);
  walker.take(at.branch, fork.ways.front().choice);
  return true;
}

/// Walks all branches of a front, and puts what comes of them where it waits.
void FrontWalk::walk_front(std::vector<WaitingBranch> front) {
  const bool alone = waiting_ == 1;
  front_weight_ = 0;
  for (const WaitingBranch& each : front) {
    front_weight_ += each.branch.weight;
    if (!each.amplitudes.empty()) waiting_bytes_ -= each.bytes();
  }
  waiting_ -= front.size();
  std::vector<Outcome> outcomes(front.size());
  const auto walk_one = [&](std::size_t i, int worker) {
    try {
      walk(walker_of(worker), std::move(front[i]), alone, outcomes[i]);
    } catch (...) {
      outcomes[i].error = std::current_exception();
    }
  };
  if (helpers_.empty() || front.size() < kWorthSharing) {
    for (std::size_t i = 0; i < front.size(); ++i) walk_one(i, 0);
  } else {
    room_.run_tasks((front.size() + kTask - 1) / kTask, [&](std::uint64_t task, int worker) {
      const std::size_t end = std::min(front.size(), (task + 1) * kTask);
      for (std::size_t i = task * kTask; i < end; ++i) walk_one(i, worker);
    });
  }
  std::size_t came = 0, merged = 0;
  for (Outcome& outcome : outcomes) {
    if (outcome.error) std::rethrow_exception(outcome.error);
    left_out_ += outcome.left_out;
    for (WaitingBranch& each : outcome.waiting) {
      Meeting& place = places_[each.branch.step];
      const std::size_t before = place.merged();
      waiting_bytes_ += place.add(std::move(each), main_.state().precision, *budget_);
      ++came;
      merged += place.merged() - before;
    }
  }
  waiting_ += came - merged;
  choose_stride(came, merged);
}

/// Where branches do not meet they stop less often. What is exact must not let them multiply on the way.
void FrontWalk::choose_stride(std::size_t came, std::size_t merged) {
  if (read_outs_.exact() || came < kWorthSkipping || merged * 16 >= came) {
    stride_ = 1;
  } else {
    stride_ = std::min(2 * stride_, kLargestStride);
  }
}

/// The probability of the branches that are not beyond `place`, the end of a loop.
double FrontWalk::left(std::size_t place) const {
  double left = front_weight_;
  for (const auto& [step, meeting] : places_) {
    if (step > place) break;
    for (const WaitingBranch& each : meeting.branches()) left += each.branch.weight;
  }
  return left;
}

}  // namespace qsim
