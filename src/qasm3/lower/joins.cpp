// Control flow that measurements decide: arms that are lowered one after the other from the same memory, and places
// where they meet. What differs there becomes a variable that each arm assigns.
#include <algorithm>

#include "qasm3/lower/lowering.h"

namespace qsim::qasm3 {
namespace {

/// All values of a type of few bits; empty for the others.
std::vector<Scalar> all_values(ScalarType type) {
  constexpr unsigned kMostBits = 10;
  std::vector<Scalar> values;
  const bool counts =
      type.kind != ScalarKind::kFloat && type.kind != ScalarKind::kComplex && type.kind != ScalarKind::kDuration;
  if (!counts || type.width > kMostBits) return values;
  for (Wide word = 0; word < Wide{1} << type.width; ++word) values.push_back(make_word(type, word));
  return values;
}

}  // namespace

Lowering::Depths Lowering::depths() const {
  return {flow_.steps.size(),
          flow_.circuit.operations().size(),
          memory_.marks(),
          loops_.size(),
          calls_.size(),
          frames_.size(),
          frame_begin_,
          assumed_.size(),
          memory_.size(),
          static_cast<std::uint32_t>(pool_.size()),
          gates_,
          depth_,
          in_function_};
}

// Undoes what a statement had begun when it asked for a case split. Nothing may have been done yet.
void Lowering::restore(const Depths& before, std::uint32_t at) {
  if (flow_.steps.size() != before.steps || flow_.circuit.operations().size() != before.operations ||
      out_ != &flow_.circuit) {
    throw Failure{at, "a value that depends on measurements is needed in the middle of this statement",
                  "assign it to a variable first", ExitCode::kUnsupported};
  }
  while (memory_.marks() > before.marks) {
    memory_.undo();
    memory_.forget();
  }
  memory_.release(before.cells);
  loops_.resize(before.loops);
  calls_.resize(before.calls);
  frames_.resize(before.frames);
  frame_begin_ = before.frame_begin;
  pool_.resize(before.pool);
  gates_ = before.gates;
  depth_ = before.depth;
  in_function_ = before.in_function;
}

// Jumps away from here; where to is said when the edges are joined.
Lowering::Edge Lowering::leave(std::size_t mark) {
  Edge edge;
  edge.changes = memory_.changes(mark);
  edge.step = add_step(FlowStep::Kind::kJump, 0, 0);
  return edge;
}

// `end`: the variables that results hold are kept. Those that are declared later will lie where others do now.
void Lowering::end_here() {
  Edge edge;
  for (const std::uint32_t cell : result_cells()) edge.changes.emplace_back(cell, memory_[cell]);
  charge(0, edge.changes.size(), at_);
  edge.step = add_step(FlowStep::Kind::kJump, 0, 0);
  ends_.push_back(std::move(edge));
}

// The value of a cell where edges meet, and which of them must assign it to which variable.
Value Lowering::merged(const Edges& edges, std::uint32_t cell,
                       std::vector<std::pair<std::size_t, std::uint32_t>>& writes) {
  const auto value_on = [&](const Edge& edge) {
    const auto found = std::ranges::lower_bound(edge.changes, cell, {}, &Changes::value_type::first);
    return found != edge.changes.end() && found->first == cell ? found->second : memory_[cell];
  };
  const Value first = value_on(edges.front());
  const bool same = std::ranges::all_of(edges, [&](const Edge& edge) { return value_on(edge) == first; });
  if (same) return first;
  ValueSet possible;
  bool few = true;
  for (const Edge& edge : edges) {
    const Value value = value_on(edge);
    const std::vector<Scalar> own{value.scalar};
    const std::vector<Scalar>* values = value.known() ? &own : possible_values(value.expression);
    few = few && values != nullptr;
    if (!few) break;
    for (const Scalar& each : *values) possible.add(each);
    few = possible.size() <= limits_.possible_values;
  }
  const std::uint32_t variable = add_variable(first.type(), few ? possible.take() : all_values(first.type()));
  for (std::size_t i = 0; i < edges.size(); ++i) writes.emplace_back(i, variable);
  return variable_value(variable);
}

// The memory is what all edges started from; afterwards it is what they make of it.
void Lowering::join(Edges& edges) {
  if (edges.empty()) return;
  std::vector<std::uint32_t> cells;
  for (const Edge& edge : edges) {
    for (const auto& [cell, value] : edge.changes) cells.push_back(cell);
  }
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  struct Write {
    std::uint32_t variable;
    Value value;
    bool keeps;  // what was there before the ways parted
  };
  std::vector<std::vector<Write>> writes_of(edges.size());
  std::vector<std::pair<std::uint32_t, Value>> values;
  for (const std::uint32_t cell : cells) {
    std::vector<std::pair<std::size_t, std::uint32_t>> writes;
    values.emplace_back(cell, merged(edges, cell, writes));
    for (const auto& [edge, variable] : writes) {
      const Changes& changes = edges[edge].changes;
      const auto found = std::ranges::lower_bound(changes, cell, {}, &Changes::value_type::first);
      const bool changed = found != changes.end() && found->first == cell;
      writes_of[edge].push_back({variable, changed ? found->second : memory_[cell], !changed});
    }
    charge(0, writes.size(), at_);
  }
  std::vector<std::uint32_t> jumps;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    flow_.steps[edges[i].step].b = here();
    for (const Write& write : writes_of[i]) {
      const std::uint32_t place = add_step(FlowStep::Kind::kAssign, write.variable, expression_of(write.value));
      if (write.keeps) flow_.steps[place].line = 0;
    }
    if (i + 1 < edges.size()) jumps.push_back(add_step(FlowStep::Kind::kJump, 0, 0));
  }
  const std::uint32_t meeting = here();
  for (const std::uint32_t jump : jumps) flow_.steps[jump].b = meeting;
  for (const auto& [cell, value] : values) keep(cell, value);
}

// Leaves an arm that does not go on to the next statement.
void Lowering::leave_as(Status status) {
  switch (status) {
    case Status::kBreak:
      return loops_.back().breaks.push_back(leave(loops_.back().break_mark));
    case Status::kContinue:
      return loops_.back().continues.push_back(leave(loops_.back().continue_mark));
    case Status::kReturn:
      return calls_.back().returns.push_back(leave(calls_.back().mark));
    case Status::kEnd:
      return end_here();
    case Status::kNext:
    case Status::kDead:
      return;
  }
}

void Lowering::end_arm(Status status, Edges& next) {
  if (status == Status::kNext) {
    next.push_back(leave(memory_.marks() - 1));
  } else {
    leave_as(status);
  }
  memory_.undo();
}

Lowering::Status Lowering::finish_arms(Edges& next) {
  memory_.forget();
  join(next);
  return next.empty() ? Status::kDead : Status::kNext;
}

Lowering::Status Lowering::branch(NodeId id, const Value& condition) {
  const Node node = tree_[id];
  charge(0, 2, node.at);
  memory_.mark();
  Edges next;
  const std::uint32_t test = add_step(FlowStep::Kind::kBranch, expression_of(condition), 0);
  end_arm(block(node.b), next);
  flow_.steps[test].b = here();
  end_arm(node.c == 0 ? Status::kNext : block(node.c), next);
  return finish_arms(next);
}

// One arm for each value that the variable can have.
Lowering::Status Lowering::split(const NeedSplit& need, const std::function<Status()>& body) {
  const std::vector<Scalar> values = possible_[need.variable];
  memory_.mark();
  Edges next;
  for (std::size_t i = 0; i < values.size(); ++i) {
    charge(0, 2, need.at);
    const bool last = i + 1 == values.size();
    std::uint32_t test = 0;
    if (!last) {
      const std::uint32_t value = expression_of(known_value(values[i]));
      const std::uint32_t equal = add_expression({FlowExpression::Kind::kOperation,
                                                  Operator::kEqual,
                                                  {ScalarKind::kBool, 1},
                                                  variable_leaf_[need.variable],
                                                  value,
                                                  0});
      test = add_step(FlowStep::Kind::kBranch, equal, 0);
    }
    assumed_.emplace_back(need.variable, values[i]);
    const Status status = guarded(need.at, body);
    assumed_.pop_back();
    end_arm(status, next);
    if (!last) flow_.steps[test].b = here();
  }
  return finish_arms(next);
}

// Behind a loop that was unrolled: ways out that measurements decided meet the one that it ended with.
Lowering::Status Lowering::close_loop(Status status) {
  if (status == Status::kBreak || status == Status::kContinue) status = Status::kNext;
  Edges breaks = std::move(loops_.back().breaks);
  if (breaks.empty()) {
    loops_.pop_back();
    memory_.forget();
    return status;
  }
  if (status == Status::kNext) {
    breaks.push_back(leave(loops_.back().break_mark));
  } else {
    leave_as(status);
  }
  loops_.pop_back();
  memory_.undo();
  memory_.forget();
  join(breaks);
  return Status::kNext;
}

// A loop whose condition, or a way out of it, depends on measurements. Which cells change from one iteration to the
// next shows when the body is lowered: those are made variables, and the body is lowered again until no more turn up.
Lowering::Status Lowering::dynamic_while(NodeId node) {
  std::vector<std::uint32_t> carried;
  Status status = Status::kNext;
  while (!try_dynamic_while(node, carried, status)) charge(0, 1, tree_[node].at);
  return status;
}

bool Lowering::try_dynamic_while(NodeId id, std::vector<std::uint32_t>& carried, Status& status) {
  const Node node = tree_[id];
  const Checkpoint start = checkpoint();
  const std::size_t ends = ends_.size(), returns = calls_.empty() ? 0 : calls_.back().returns.size();
  memory_.mark();
  std::vector<std::uint32_t> variables;
  for (const std::uint32_t cell : carried) {
    const Value value = load(cell);
    variables.push_back(add_variable(value.type(), all_values(value.type())));
    flow_.steps[add_step(FlowStep::Kind::kAssign, variables.back(), expression_of(value))].line = 0;
  }
  for (std::size_t i = 0; i < carried.size(); ++i) keep(carried[i], variable_value(variables[i]));
  const std::uint32_t header = here();
  memory_.mark();
  const std::size_t mark = memory_.marks() - 1;
  loops_.push_back({mark, mark, {}, {}});
  const Value condition = truth_of(node.a);
  Edges exits;
  if (!condition.known()) {
    exits.push_back({add_step(FlowStep::Kind::kBranch, expression_of(condition), 0), {}});
  } else if (!truth(condition.scalar)) {
    exits.push_back(leave(mark));
  }
  const Status body = condition.known() && !truth(condition.scalar) ? Status::kDead : block(node.b);
  if (body == Status::kNext || body == Status::kContinue) {
    loops_.back().continues.push_back(leave(mark));
  } else {
    leave_as(body);
  }
  Edges latch = std::move(loops_.back().continues);
  for (Edge& edge : loops_.back().breaks) exits.push_back(std::move(edge));
  loops_.pop_back();
  memory_.undo();
  line_ = line_of(node);
  if (!continue_loop(variables, carried, latch, header)) {
    memory_.forget();
    memory_.undo();
    memory_.forget();
    back_to(start);
    ends_.resize(ends);
    if (!calls_.empty()) calls_.back().returns.resize(returns);
    return false;
  }
  memory_.forget();
  join(exits);
  memory_.forget();
  status = exits.empty() ? Status::kDead : Status::kNext;
  return true;
}

// The way back to the header. False where a cell has changed that is not carried yet; it is added.
bool Lowering::continue_loop(const std::vector<std::uint32_t>& variables, std::vector<std::uint32_t>& carried,
                             Edges& latch, std::uint32_t header) {
  join(latch);
  const Changes changes = memory_.changes(memory_.marks() - 1);
  memory_.undo();
  const std::size_t known = carried.size();
  std::vector<std::pair<std::uint32_t, Value>> writes;
  for (const auto& [cell, value] : changes) {
    if (value == memory_[cell]) continue;
    const auto place = std::find(carried.begin(), carried.begin() + static_cast<std::ptrdiff_t>(known), cell);
    if (place == carried.begin() + static_cast<std::ptrdiff_t>(known)) {
      carried.push_back(cell);
    } else {
      writes.emplace_back(variables[static_cast<std::size_t>(place - carried.begin())], value);
    }
  }
  if (carried.size() > known) return false;
  if (latch.empty()) return true;
  // All values are read before any is written: they may be those of other carried variables.
  for (auto& [variable, value] : writes) {
    if (value.known() || writes.size() == 1) continue;
    const std::uint32_t copy = add_variable(value.type(), {});
    add_step(FlowStep::Kind::kAssign, copy, value.expression);
    value = variable_value(copy);
  }
  for (const auto& [variable, value] : writes) add_step(FlowStep::Kind::kAssign, variable, expression_of(value));
  add_step(FlowStep::Kind::kJump, 0, header);
  return true;
}

}  // namespace qsim::qasm3
