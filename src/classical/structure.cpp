// Ifs and loops are found by recursion over ranges of steps: jumps forward make ifs, jumps back make loops.
#include "classical/structure.h"

#include <algorithm>
#include <map>
#include <utility>

namespace qsim {
namespace {

constexpr std::size_t kMostNesting = 100;

/// Steps, and which of the program's each of them is.
struct Ordered {
  std::vector<FlowStep> steps;
  std::vector<std::uint32_t> origin;
};

/// Where ways meet, each has assignments of its own, which the program keeps where they meet. Here they stand where the
/// way comes from: before the jump to them, or, on a way out of a loop, behind the branch to them.
class Order {
 public:
  explicit Order(const std::vector<FlowStep>& steps)
      : steps_(steps), ways_(steps.size() + 1, 0), begins_(steps.size() + 1, false), loop_end_(steps.size(), 0) {
    begins_[0] = true;
    for (std::uint32_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind != FlowStep::Kind::kJump) ++ways_[i + 1];
      if (!jumps(steps[i])) continue;
      ++ways_[steps[i].b];
      begins_[steps[i].b] = begins_[i + 1] = true;
    }
    // From the last jump back: of the steps before it, those from `known` on are inside one that ends later.
    auto known = static_cast<std::uint32_t>(steps.size());
    for (auto i = static_cast<std::uint32_t>(steps.size()); i-- > 0;) {
      if (!jumps(steps[i]) || steps[i].b > i) continue;
      for (std::uint32_t k = steps[i].b; k <= i && k < known; ++k) loop_end_[k] = i + 1;
      known = std::min(known, steps[i].b);
    }
  }

  Ordered all() {
    std::vector<bool> moved(steps_.size(), false);
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      if (!jumps(steps_[i]) || !is_joint(steps_[i].b)) continue;
      const bool leaves = loop_end_[i] > 0 && steps_[i].b >= loop_end_[i];
      if (steps_[i].kind == FlowStep::Kind::kBranch && !leaves) continue;
      for (std::uint32_t k = steps_[i].b; k < joint_end(steps_[i].b); ++k) moved[k] = true;
    }
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      if (moved[i]) continue;
      place_[i] = static_cast<std::uint32_t>(made_.steps.size());
      const FlowStep& step = steps_[i];
      if (!jumps(step) || step.b >= steps_.size() || !moved[step.b]) {
        add(step, i);
      } else if (step.kind == FlowStep::Kind::kJump) {
        add_joint(step.b);
      } else {
        const auto branch = static_cast<std::uint32_t>(made_.steps.size());
        add(step, i);
        add({FlowStep::Kind::kJump, 0, i + 1}, i);
        inside_.emplace(branch, branch + 2);
        add_joint(step.b);
      }
    }
    place_[static_cast<std::uint32_t>(steps_.size())] = static_cast<std::uint32_t>(made_.steps.size());
    aim();
    return std::move(made_);
  }

 private:
  /// Behind the assignments that begin at `at`, and the jump that ends them.
  std::uint32_t joint_end(std::uint32_t at) const {
    std::uint32_t end = at;
    while (end < steps_.size() && steps_[end].kind == FlowStep::Kind::kAssign && (end == at || !begins_[end])) ++end;
    if (end < steps_.size() && end > at && !begins_[end] && steps_[end].kind == FlowStep::Kind::kJump) ++end;
    return end;
  }
  /// Where what begins at `at` goes on.
  std::uint32_t joint_target(std::uint32_t at) const {
    const std::uint32_t end = joint_end(at);
    return steps_[end - 1].kind == FlowStep::Kind::kJump ? steps_[end - 1].b : end;
  }
  /// Assignments that one way alone leads to, up to where others come as well.
  bool is_joint(std::uint32_t at) const {
    if (at >= steps_.size() || ways_[at] != 1) return false;
    const std::uint32_t end = joint_end(at);
    if (end == at || steps_[at].kind != FlowStep::Kind::kAssign) return false;
    return joint_target(at) > at && begins_[joint_target(at)] && ways_[joint_target(at)] > 1;
  }

  void add(const FlowStep& step, std::uint32_t origin) {
    made_.steps.push_back(step);
    made_.origin.push_back(origin);
  }
  void add_joint(std::uint32_t at) {
    for (std::uint32_t k = at; k < joint_end(at); ++k) {
      if (steps_[k].kind == FlowStep::Kind::kAssign) add(steps_[k], k);
    }
    add({FlowStep::Kind::kJump, 0, joint_target(at)}, at);
  }

  // Jumps lead to the new places; those to the next step are left out.
  void aim() {
    const std::size_t count = made_.steps.size();
    std::vector<std::uint32_t> kept(count + 1, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      FlowStep& step = made_.steps[i];
      if (jumps(step)) {
        const auto inside = inside_.find(i);
        step.b = inside != inside_.end() ? inside->second : place_.at(step.b);
      }
      kept[i + 1] = kept[i] + (step.kind == FlowStep::Kind::kJump && step.b == i + 1 ? 0 : 1);
    }
    Ordered all;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (kept[i + 1] == kept[i]) continue;
      all.steps.push_back(made_.steps[i]);
      if (jumps(all.steps.back())) all.steps.back().b = kept[all.steps.back().b];
      all.origin.push_back(made_.origin[i]);
    }
    made_ = std::move(all);
  }

  const std::vector<FlowStep>& steps_;
  std::vector<std::uint32_t> ways_;      // that lead to a step
  std::vector<bool> begins_;             // where something jumps to, or behind a jump
  std::vector<std::uint32_t> loop_end_;  // of the loop around a step that begins last; 0: none
  std::map<std::uint32_t, std::uint32_t> place_;
  std::map<std::uint32_t, std::uint32_t> inside_;  // branches to what stands behind them: where
  Ordered made_;
};

class Nesting {
 public:
  explicit Nesting(Ordered ordered) : steps_(std::move(ordered.steps)), origin_(std::move(ordered.origin)) {
    for (FlowStep& step : steps_) {
      if (jumps(step)) step.b = target_of(step.b);
    }
    for (std::uint32_t i = 0; i < steps_.size(); ++i) {
      if (jumps(steps_[i]) && steps_[i].b <= i) jumps_back_.emplace_back(i, steps_[i].b);
    }
  }

  std::optional<Statements> all() {
    const auto steps = static_cast<std::uint32_t>(steps_.size());
    Statements made;
    if (!range(0, {steps, steps}, made, 0)) return std::nullopt;
    return made;
  }

 private:
  /// Where a list of statements ends, and where a program that comes to its end goes on.
  struct End {
    std::uint32_t at, next;
  };
  /// A loop that is open: where `continue` and `break` go.
  struct Loop {
    std::uint32_t begin, end, next;
  };

  // Where a jump to `at` ends once jumps on the way are followed.
  std::uint32_t target_of(std::uint32_t at) const {
    for (std::size_t hops = 0; hops < steps_.size(); ++hops) {
      if (at >= steps_.size() || steps_[at].kind != FlowStep::Kind::kJump) break;
      at = steps_[at].b;
    }
    return at;
  }
  End inner(std::uint32_t at, const End& outer) const { return {at, at == outer.at ? outer.next : target_of(at)}; }

  // Behind the last step of the loop that begins at `at`; at once where none does.
  std::uint32_t loop_end(std::uint32_t at) const {
    std::uint32_t end = at;
    for (const auto& [from, to] : jumps_back_) {
      if (to == at) end = std::max(end, from + 1);
    }
    // Loops that begin inside end inside.
    for (bool more = end > at; more;) {
      more = false;
      for (const auto& [from, to] : jumps_back_) {
        if (to < at || to >= end || from < end) continue;
        end = from + 1;
        more = true;
      }
    }
    return end;
  }

  // Steps from `at` on; false where they are no nested statements.
  bool range(std::uint32_t at, const End& end, Statements& into, std::size_t depth) {
    if (depth > kMostNesting) return false;
    while (at < end.at) {
      const bool open = !loops_.empty() && loops_.back().begin == at;
      const std::uint32_t after = open ? at : loop_end(at);
      if (after > end.at) return false;
      if (after == at ? !step(at, end, into, depth) : !loop(at, inner(after, end), into, depth)) return false;
    }
    return true;
  }

  // The loop from `at` to `end`, moves behind it.
  bool loop(std::uint32_t& at, const End& end, Statements& into, std::size_t depth) {
    Statement loop{Statement::Kind::kLoop, origin_[at]};
    loops_.push_back({at, end.at, end.next});
    const FlowStep& last = steps_[end.at - 1];
    const bool repeats = last.kind == FlowStep::Kind::kJump && last.b == at;
    // Its first step begins no second loop.
    std::uint32_t first = at;
    const End body = repeats ? End{end.at - 1, at} : end;
    if (first < body.at && !step(first, body, loop.body, depth + 1)) return false;
    if (!range(first, body, loop.body, depth + 1)) return false;
    if (!repeats && closed_ != end.at) loop.body.push_back({Statement::Kind::kBreak, origin_[at]});
    loops_.pop_back();
    at = closed_ = end.at;
    into.push_back(std::move(loop));
    return true;
  }

  // One statement from step `at` on, which moves behind it.
  bool step(std::uint32_t& at, const End& end, Statements& into, std::size_t depth) {
    const FlowStep& step = steps_[at];
    if (step.kind == FlowStep::Kind::kBranch) return choice(at, end, into, depth);
    if (step.kind != FlowStep::Kind::kJump) {
      into.push_back({Statement::Kind::kStep, origin_[at]});
    } else if (at + 1 != end.at || step.b != end.next) {
      const std::optional<Statement::Kind> leave = leaving(step.b);
      if (!leave) return false;
      into.push_back({*leave, origin_[at]});
    }
    ++at;
    return true;
  }

  // What jumps to `target` out of the innermost loop, or back to its begin.
  std::optional<Statement::Kind> leaving(std::uint32_t target) const {
    if (loops_.empty()) return std::nullopt;
    const Loop& inner = loops_.back();
    if (target == inner.begin) return Statement::Kind::kContinue;
    const Loop* const outer = loops_.size() > 1 ? &loops_[loops_.size() - 2] : nullptr;
    // A loop at the very end of another: behind it the other one begins again.
    const bool shared = outer != nullptr && outer->end == inner.end;
    if (target == (shared ? outer->begin : inner.next)) return Statement::Kind::kBreak;
    return std::nullopt;
  }

  bool choice(std::uint32_t& at, const End& end, Statements& into, std::size_t depth) {
    const std::uint32_t to = steps_[at].b;
    Statement made{Statement::Kind::kIf, origin_[at]};
    if (const std::optional<Statement::Kind> leave = leaving(to)) {
      made.negated = true;
      made.body.push_back({*leave, origin_[at]});
      into.push_back(std::move(made));
      ++at;
      return true;
    }
    const auto is_inside = [&](std::uint32_t target) { return target > at && target <= end.at; };
    const std::uint32_t second = !is_inside(to) && to == end.next ? end.at : to;
    if (!is_inside(second)) return false;
    // What jumps over the rest at the end of the first part has an else.
    const FlowStep& last = steps_[second - 1];
    const bool jumps_on = second - 1 > at && last.kind == FlowStep::Kind::kJump;
    const bool has_else = jumps_on && second < end.at && (is_inside(last.b) ? last.b > second : last.b == end.next);
    const std::uint32_t after = !has_else ? second : is_inside(last.b) ? last.b : end.at;
    const End whole = inner(after, end);
    if (!range(at + 1, {has_else ? second - 1 : second, whole.next}, made.body, depth + 1)) return false;
    if (has_else && !range(second, whole, made.otherwise, depth + 1)) return false;
    at = after;
    into.push_back(std::move(made));
    return true;
  }

  std::vector<FlowStep> steps_;
  const std::vector<std::uint32_t> origin_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jumps_back_;  // from, to
  std::vector<Loop> loops_;
  std::uint32_t closed_ = 0;  // where the loop that was found last ends
};

}  // namespace

std::optional<Statements> nested_statements(const Control& control) {
  return Nesting(Order(control.steps).all()).all();
}

}  // namespace qsim
