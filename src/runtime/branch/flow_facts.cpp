// Liveness, a variable at a time: from each read back to the writes before it. Ranges are short in unrolled programs,
// so that the work grows with the program and not with its square.
#include "runtime/branch/flow_facts.h"

#include <optional>
#include <utility>

#include "classical/control.h"

namespace qsim {
namespace {

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

constexpr std::uint64_t kMostVisits = std::uint64_t{1} << 26;  // then what is left counts as live

/// Lists of values by key.
class Lists {
 public:
  Lists() = default;
  Lists(const Pairs& pairs, std::size_t keys) : begin_(keys + 1), values_(pairs.size()) {
    for (const auto& [key, value] : pairs) ++begin_[key + 1];
    for (std::size_t key = 0; key < keys; ++key) begin_[key + 1] += begin_[key];
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& [key, value] : pairs) values_[next[key]++] = value;
  }
  std::span<const std::uint32_t> operator[](std::size_t key) const {
    return std::span(values_).subspan(begin_[key], begin_[key + 1] - begin_[key]);
  }
  std::vector<std::uint32_t> begin_, values_;
};

class FactFinder {
 public:
  FactFinder(const PlannedCircuit& program, const Circuit& circuit)
      : program_(program), circuit_(circuit), end_(program.steps.size()) {}

  FlowFacts run() {
    find_ways();
    find_meetings();
    find_accesses();
    find_dead();
    return std::move(facts_);
  }

 private:
  template <typename Visit>
  void for_each_next(std::uint32_t place, const Visit& visit) const {
    if (place == end_) return;
    const Step& step = program_.steps[place];
    const bool leaves = step.kind == Step::Kind::kClassical && jumps(step.flow);
    if (!leaves || step.flow.kind != FlowStep::Kind::kJump) visit(place + 1);
    if (leaves) visit(step.flow.b);
  }

  void find_ways() {
    Pairs before;
    for (std::uint32_t place = 0; place < end_; ++place) {
      for_each_next(place, [&](std::uint32_t next) { before.emplace_back(next, place); });
    }
    before_ = Lists(before, end_ + 1);
  }

  void find_meetings() {
    facts_.meeting.resize(end_ + 1);
    facts_.loops.resize(end_ + 1);
    std::uint32_t number = 0;
    for (std::uint32_t place = 0; place <= end_; ++place) {
      bool meets = place == end_ || before_[place].size() > 1;
      for (const std::uint32_t from : before_[place]) {
        const Step& step = program_.steps[from];
        meets = meets || step.kind == Step::Kind::kInstrument || step.condition >= 0;
        if (from >= place) facts_.loops[place] = true;
      }
      if (meets) facts_.meeting[place] = ++number;
    }
  }

  void find_accesses() {
    Pairs reads, writes;
    const auto reads_register = [&](std::uint32_t place, const Step& step) {
      if (step.condition < 0) return;
      const Condition& condition = program_.conditions[static_cast<std::size_t>(step.condition)];
      const Register& bits = circuit_.cregs()[condition.creg];
      for (std::uint32_t bit = 0; bit < bits.size; ++bit) reads.emplace_back(bits.first + bit, place);
    };
    for (std::uint32_t place = 0; place < end_; ++place) {
      const Step& step = program_.steps[place];
      reads_register(place, step);
      if (program_.records(step)) writes.emplace_back(step.clbit, place);
      if (step.kind != Step::Kind::kClassical || step.flow.kind == FlowStep::Kind::kJump) continue;
      const bool assigns = step.flow.kind == FlowStep::Kind::kAssign;
      program_.control->for_each_variable(assigns ? step.flow.b : step.flow.a,
                                          [&](std::uint32_t variable) { reads.emplace_back(variable, place); });
      if (assigns) writes.emplace_back(step.flow.a, place);
    }
    find_results();
    for (std::uint32_t variable = 0; variable < read_at_end_.size(); ++variable) {
      if (read_at_end_[variable]) reads.emplace_back(variable, static_cast<std::uint32_t>(end_));
    }
    reads_ = Lists(reads, read_at_end_.size());
    writes_ = Lists(writes, read_at_end_.size());
  }

  void hold(const FlowOutput& output) {
    for (const FlowValue& value : output.values) {
      if (!value.known) read_at_end_[value.variable] = true;
    }
  }

  // What results hold, or are computed from.
  void find_results() {
    read_at_end_.resize(program_.control ? program_.control->variables.size() : circuit_.clbits());
    if (program_.control) {
      const std::vector<FlowOutput>& outputs = program_.control->outputs;
      for (const FlowOutput& output : outputs) {
        if (output.is_register) hold(output);
      }
      for (const FlowOutput& output : outputs_by_value(outputs)) hold(output);
      return;
    }
    for (const Register& bits : circuit_.cregs()) {
      for (std::uint32_t bit = 0; bit < bits.size; ++bit) read_at_end_[bits.first + bit] = !bits.name.empty();
    }
    if (circuit_.finish() != nullptr) {
      for (const std::optional<Clbit>& bit : circuit_.finish()->bit_of) {
        if (bit) read_at_end_[*bit] = true;
      }
    }
    for (const auto& [qubit, bit] : program_.terminal_measures) read_at_end_[bit] = false;
  }

  void find_dead() {
    Pairs dead;
    live_.assign(end_ + 1, 0);
    noted_.assign(end_ + 1, 0);
    writes_here_.assign(end_ + 1, 0);
    for (std::uint32_t variable = 0; variable < read_at_end_.size() && visits_ < kMostVisits; ++variable) {
      // What is written once and read at the end is live all the way.
      if (writes_[variable].empty() || (read_at_end_[variable] && writes_[variable].size() == 1)) continue;
      add_dead(variable, dead);
    }
    const Lists lists(dead, end_ + 1);
    facts_.dead_begin = lists.begin_;
    facts_.dead_variables = lists.values_;
  }

  // Marks the places where the variable is live, with its number plus 1; then it is dead where a way leads from those,
  // or from a write, to another place.
  void add_dead(std::uint32_t variable, Pairs& dead) {
    const std::uint32_t mark = variable + 1;
    for (const std::uint32_t place : writes_[variable]) {
      if (program_.steps[place].condition < 0) writes_here_[place] = mark;
    }
    std::vector<std::uint32_t> reached;
    const auto reach = [&](std::uint32_t place) {
      if (live_[place] == mark) return;
      live_[place] = mark;
      reached.push_back(place);
    };
    for (const std::uint32_t place : reads_[variable]) reach(place);
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (const std::uint32_t from : before_[reached[i]]) {
        if (writes_here_[from] != mark) reach(from);
      }
    }
    visits_ += reached.size();
    if (visits_ >= kMostVisits) return;
    const auto leave = [&](std::uint32_t place) {
      for_each_next(place, [&](std::uint32_t next) {
        if (live_[next] == mark || noted_[next] == mark) return;
        noted_[next] = mark;
        dead.emplace_back(next, variable);
      });
    };
    for (const std::uint32_t place : writes_[variable]) leave(place);
    for (const std::uint32_t place : reached) leave(place);
  }

  const PlannedCircuit& program_;
  const Circuit& circuit_;
  const std::size_t end_;
  FlowFacts facts_;
  Lists before_, reads_, writes_;  // places before a place; places by variable
  std::vector<bool> read_at_end_;
  std::vector<std::uint32_t> live_, noted_, writes_here_;
  std::uint64_t visits_ = 0;
};

}  // namespace

FlowFacts find_facts(const PlannedCircuit& program, const Circuit& circuit) {
  return FactFinder(program, circuit).run();
}

}  // namespace qsim
