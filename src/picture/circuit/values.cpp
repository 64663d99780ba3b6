#include "picture/circuit/values.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "picture/circuit/items.h"

namespace qsim::picture {
namespace {

using Node = FlowExpression::Kind;
using Step = FlowStep::Kind;

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::size_t kMostText = 60;  // characters of a condition

std::string shortened(const std::string& text) {
  return text.size() <= kMostText ? text : text.substr(0, kMostText - 3) + "...";
}

bool is_comparison(Operator op) { return op >= Operator::kEqual && op <= Operator::kGreaterEqual; }

/// Of a comparison that does not hold; floating-point numbers have NaN, which is neither.
std::optional<Operator> opposite(Operator op) {
  if (op == Operator::kEqual) return Operator::kNotEqual;
  if (op == Operator::kNotEqual) return Operator::kEqual;
  return std::nullopt;
}

std::string constant_text(const Scalar& value) {
  if (value.type.kind == ScalarKind::kBool || value.type.kind == ScalarKind::kBit) return truth(value) ? "1" : "0";
  return value_text(value);
}

}  // namespace

Values::Values(const Circuit& circuit, std::uint32_t first_wire)
    : circuit_(circuit), control_(*circuit.control()), first_wire_(first_wire) {
  if (control_.steps.size() > kMostPlaces) too_large(std::to_string(control_.steps.size()) + " steps");
  name_outputs();
  name_variables();
  make_wires();
  follow_steps();
}

// The registers of the circuit and the other variables of global scope come first.
void Values::name_outputs() {
  keys_.assign(control_.variables.size(), {kNone, 0});
  std::set<std::uint32_t> shown;
  for (const FlowOutput& output : control_.outputs) shown.insert(output.name_number);
  const auto has_name = [&](std::uint32_t variable) {
    return variable < control_.called.size() && control_.called[variable].name != 0 &&
           shown.contains(control_.called[variable].name);
  };
  std::uint32_t register_number = 0;
  for (const FlowOutput& output : control_.outputs) {
    const auto number = static_cast<std::uint32_t>(names_.size());
    names_.push_back(escape_text(output.name, kMostName));
    const bool single = !output.is_register && output.shape.empty();
    sizes_.push_back(single ? 0 : static_cast<std::uint32_t>(output.values.size()));
    wires_.push_back(output.is_register ? first_wire_ + register_number++ : kNone);
    for (std::uint32_t i = 0; i < output.values.size(); ++i) {
      const FlowValue& value = output.values[i];
      if (value.known || has_name(value.variable) || keys_[value.variable].first != kNone) continue;
      keys_[value.variable] = {number, i};
    }
  }
}

void Values::name_variables() {
  std::vector<std::uint32_t> number(control_.names.size() + 1, kNone);  // of the program's names
  for (std::uint32_t i = 0; i < control_.outputs.size(); ++i) {
    if (control_.outputs[i].name_number != 0) number[control_.outputs[i].name_number] = i;
  }
  for (std::uint32_t variable = 0; variable < control_.called.size(); ++variable) {
    const FlowName called = control_.called[variable];
    if (called.name == 0 || keys_[variable].first != kNone) continue;
    if (number[called.name] == kNone) {
      number[called.name] = static_cast<std::uint32_t>(names_.size());
      names_.push_back(escape_text(control_.names[called.name - 1], kMostName));
      sizes_.push_back(0);
      wires_.push_back(kNone);
    }
    keys_[variable] = {number[called.name], called.element};
    if (called.element > 0) sizes_[keys_[variable].first] = std::max(sizes_[keys_[variable].first], called.element + 1);
  }
  // What only hands a value on is called as that is; all else that has no name shares one.
  std::uint32_t hidden = kNone;
  const auto hide = [&](std::uint32_t variable) {
    if (keys_[variable].first != kNone) return;
    if (hidden == kNone) {
      hidden = static_cast<std::uint32_t>(names_.size());
      names_.push_back("hidden");
      sizes_.push_back(0);
      wires_.push_back(kNone);
    }
    keys_[variable] = {hidden, sizes_[hidden]++};
  };
  for (const FlowStep& step : control_.steps) {
    if (step.kind == Step::kMeasure) hide(step.b);
    if (step.kind != Step::kAssign || keys_[step.a].first != kNone) continue;
    const std::uint32_t source = source_of(step.b);
    if (source != kNone && keys_[source].first != kNone) keys_[step.a] = keys_[source];
    hide(step.a);
  }
  for (std::uint32_t variable = 0; variable < keys_.size(); ++variable) {
    if (keys_[variable].first == kNone) keys_[variable] = {0, 0};  // no step writes it, and so none reads it
  }
}

// Of what is no register, those that a step writes.
void Values::make_wires() {
  lines_.assign(keys_.size(), 0);
  for (const FlowStep& step : control_.steps) {
    if (step.kind != Step::kMeasure && step.kind != Step::kAssign) continue;
    const std::uint32_t variable = step.kind == Step::kMeasure ? step.b : step.a;
    if (step.line != 0) lines_[variable] = step.line;
    const std::uint32_t name = keys_[variable].first;
    if (wires_[name] != kNone) continue;
    wires_[name] = first_wire_ + static_cast<std::uint32_t>(circuit_.cregs().size() + labels_.size());
    labels_.push_back(sizes_[name] == 0 ? names_[name] : names_[name] + "/" + std::to_string(sizes_[name]));
  }
}

/// The variable that an expression is, conversions aside; kNone.
std::uint32_t Values::source_of(std::uint32_t expression) const {
  const FlowExpression* node = &control_.expressions[expression];
  while (node->kind == Node::kConvert) node = &control_.expressions[node->a];
  return node->kind == Node::kVariable ? node->a : kNone;
}

void Values::do_step(std::uint32_t place, Held& held) {
  const FlowStep& step = control_.steps[place];
  if (step.kind == Step::kMeasure) held[keys_[step.b]] = {step.b};
  if (step.kind != Step::kAssign) return;
  std::vector<std::uint32_t>& now = held[keys_[step.a]];
  const std::uint32_t source = source_of(step.b);
  const bool same =
      source != kNone && keys_[source] == keys_[step.a] && std::find(now.begin(), now.end(), source) != now.end();
  if (!same) {
    now = {step.a};
  } else if (std::find(now.begin(), now.end(), step.a) == now.end()) {
    now.push_back(step.a);
  }
}

void Values::note_reads(std::uint32_t place, const Held& held) {
  const FlowStep& step = control_.steps[place];
  if (step.kind != Step::kAssign && step.kind != Step::kBranch) return;
  const auto holds = [&](std::uint32_t variable) {
    const auto found = held.find(keys_[variable]);
    return found != held.end() &&
           std::find(found->second.begin(), found->second.end(), variable) != found->second.end();
  };
  control_.for_each_variable(step.kind == Step::kAssign ? step.b : step.a, [&](std::uint32_t variable) {
    if (!holds(variable)) stale_.emplace(place, variable);
  });
  if (step.kind != Step::kAssign) return;
  const std::uint32_t source = source_of(step.b);
  if (source != kNone && keys_[source] == keys_[step.a] && holds(source)) copies_.insert(place);
  // Values are zero until they are written.
  const FlowExpression& node = control_.expressions[step.b];
  if (step.line == 0 && node.kind == Node::kConstant && !truth(control_.constants[node.a]) &&
      !held.contains(keys_[step.a])) {
    copies_.insert(place);
  }
}

// Forward over the steps: at a place that several lead to, a name is held by what holds it on all of these ways.
void Values::follow_steps() {
  const std::size_t steps = control_.steps.size();
  std::vector<bool> begins(steps + 1, false);
  std::size_t blocks = 1;
  for (std::size_t i = 0; i < steps; ++i) {
    if (!jumps(control_.steps[i])) continue;
    ++blocks;
    begins[control_.steps[i].b] = begins[i + 1] = true;
  }
  if (blocks * names_.size() > kMostPlaces) too_large(std::to_string(steps) + " steps");
  std::map<std::size_t, Held> at{{0, {}}};
  std::vector<std::size_t> open{0};
  const auto lead = [&](std::size_t to, const Held& held) {
    const auto [found, fresh] = at.try_emplace(to, held);
    if (fresh) return open.push_back(to);
    bool changed = false;
    for (auto& [key, variables] : found->second) {
      const auto other = held.find(key);
      const auto gone = [&](std::uint32_t variable) {
        return other == held.end() ||
               std::find(other->second.begin(), other->second.end(), variable) == other->second.end();
      };
      changed = std::erase_if(variables, gone) > 0 || changed;
    }
    for (const auto& [key, variables] : held) changed = found->second.try_emplace(key).second || changed;
    if (changed) open.push_back(to);
  };
  const auto run = [&](std::size_t place, const auto& visit) {
    Held held = at.at(place);
    do {
      if (place == steps) return;
      const FlowStep& step = control_.steps[place];
      visit(place, held);
      do_step(static_cast<std::uint32_t>(place), held);
      if (jumps(step)) lead(step.b, held);
      if (step.kind == Step::kJump) return;
      ++place;
    } while (!begins[place]);
    lead(place, held);
  };
  while (!open.empty()) {
    const std::size_t place = open.back();
    open.pop_back();
    run(place, [](std::size_t, const Held&) {});
  }
  // Nothing changes any more.
  for (const auto& [place, held] : std::map<std::size_t, Held>(at)) {
    run(place, [&](std::size_t step, const Held& now) { note_reads(static_cast<std::uint32_t>(step), now); });
  }
  const auto last = at.find(steps);
  for (std::uint32_t i = 0; i < control_.outputs.size(); ++i) {
    for (std::uint32_t k = 0; k < control_.outputs[i].values.size(); ++k) {
      const FlowValue& value = control_.outputs[i].values[k];
      if (value.known || wires_[i] == kNone || last == at.end()) continue;
      const auto found = last->second.find({i, k});
      if (found != last->second.end() &&
          std::find(found->second.begin(), found->second.end(), value.variable) != found->second.end()) {
        continue;
      }
      const auto holder = last->second.find(keys_[value.variable]);
      const bool held = holder != last->second.end() &&
                        std::find(holder->second.begin(), holder->second.end(), value.variable) != holder->second.end();
      if (!held) stale_.emplace(static_cast<std::uint32_t>(steps), value.variable);
      const std::string to = sizes_[i] <= 1 ? "" : std::to_string(k);
      at_end_.emplace_back(wires_[i], to + ":=" + name_at(value.variable, static_cast<std::uint32_t>(steps)));
    }
  }
}

std::uint32_t Values::wire(std::uint32_t variable) const { return wires_[keys_[variable].first]; }

std::string Values::element(std::uint32_t variable) const {
  return sizes_[keys_[variable].first] == 0 ? "" : std::to_string(keys_[variable].second);
}

std::string Values::name(std::uint32_t variable) const {
  const auto [name, element] = keys_[variable];
  return sizes_[name] <= 1 ? names_[name] : names_[name] + "[" + std::to_string(element) + "]";
}

std::string Values::name_at(std::uint32_t variable, std::uint32_t step) const {
  return stale_.contains({step, variable}) ? name(variable) + "@" + std::to_string(lines_[variable]) : name(variable);
}

// "c" for all bits of a register, "c[0:2]" for some that follow each other, else "{c[2],d}": the highest first.
std::string Values::joined_text(std::uint32_t expression, std::uint32_t step) const {
  std::vector<std::uint32_t> bits;  // highest first
  const FlowExpression* node = &control_.expressions[expression];
  for (; node->kind == Node::kJoin; node = &control_.expressions[node->a]) bits.push_back(node->b);
  bits.push_back(static_cast<std::uint32_t>(node - control_.expressions.data()));
  std::vector<Key> keys;
  for (const std::uint32_t bit : bits) {
    const std::uint32_t variable = source_of(bit);
    if (variable == kNone || stale_.contains({step, variable})) break;
    keys.push_back(keys_[variable]);
  }
  bool in_order = keys.size() == bits.size();
  for (std::size_t i = 0; in_order && i + 1 < keys.size(); ++i) {
    in_order = keys[i].first == keys[i + 1].first && keys[i].second == keys[i + 1].second + 1;
  }
  if (in_order) {
    const std::string& name = names_[keys.front().first];
    if (keys.size() == sizes_[keys.front().first]) return name;
    if (keys.size() == 1) return this->name(source_of(bits.front()));
    return name + "[" + std::to_string(keys.back().second) + ":" + std::to_string(keys.front().second) + "]";
  }
  std::string text = "{";
  for (const std::uint32_t bit : bits) text += (text.size() == 1 ? "" : ",") + this->text(bit, step);
  return text + "}";
}

/// An operand: in brackets where it is an operation of two.
std::string Values::part(std::uint32_t expression, std::uint32_t step) const {
  const FlowExpression* node = &control_.expressions[expression];
  while (node->kind == Node::kConvert) node = &control_.expressions[node->a];
  const bool operation = node->kind == Node::kOperation && !is_unary(node->op) && !is_function(node->op);
  return operation ? "(" + text(expression, step) + ")" : text(expression, step);
}

std::string Values::operation_text(const FlowExpression& node, std::uint32_t step) const {
  const std::string op(operator_text(node.op));
  if (is_unary(node.op)) return is_function(node.op) ? op + "(" + text(node.a, step) + ")" : op + part(node.a, step);
  if (is_function(node.op)) return op + "(" + text(node.a, step) + "," + text(node.b, step) + ")";
  return part(node.a, step) + op + part(node.b, step);
}

// Conversions between kinds of whole numbers are left out.
std::string Values::text(std::uint32_t expression, std::uint32_t step) const {
  const FlowExpression& node = control_.expressions[expression];
  switch (node.kind) {
    case Node::kConstant:
      return constant_text(control_.constants[node.a]);
    case Node::kVariable:
      return name_at(node.a, step);
    case Node::kConvert: {
      const bool whole = is_integer(node.type) && is_integer(control_.expressions[node.a].type);
      return whole ? text(node.a, step) : type_text(node.type) + "(" + text(node.a, step) + ")";
    }
    case Node::kBitAt:
      return part(node.a, step) + "[" + std::to_string(node.b) + "]";
    case Node::kSetBit:
      return "(" + text(node.a, step) + " with " + std::to_string(node.c) + ":=" + text(node.b, step) + ")";
    case Node::kJoin:
      return joined_text(expression, step);
    case Node::kOperation:
      break;
  }
  return operation_text(node, step);
}

std::string Values::assignment(std::uint32_t step) const {
  const FlowStep& assign = control_.steps[step];
  const std::string to = sizes_[keys_[assign.a].first] <= 1 ? "" : element(assign.a);
  const FlowExpression& node = control_.expressions[assign.b];
  if (to.empty() && node.kind == Node::kSetBit) {  // of a number that is written bit by bit
    const std::uint32_t source = source_of(node.a);
    if (source != kNone && keys_[source] == keys_[assign.a] && !stale_.contains({step, source})) {
      return shortened(std::to_string(node.c) + ":=" + text(node.b, step));
    }
  }
  return shortened(to + ":=" + text(assign.b, step));
}

std::string Values::condition(std::uint32_t step, bool negated) const {
  // "!x" for x that is no 1, and x itself for one that is.
  const auto plain = [&](std::uint32_t expression) {
    while (control_.expressions[expression].kind == Node::kConvert) expression = control_.expressions[expression].a;
    return expression;
  };
  std::uint32_t expression = plain(control_.steps[step].a);
  while (control_.expressions[expression].kind == Node::kOperation) {
    const FlowExpression& node = control_.expressions[expression];
    if (node.op == Operator::kNot) {
      negated = !negated;
      expression = plain(node.a);
      continue;
    }
    if (node.op != Operator::kEqual && node.op != Operator::kNotEqual) break;
    const FlowExpression& value = control_.expressions[plain(node.b)];
    const ScalarKind kind = control_.expressions[plain(node.a)].type.kind;
    if (value.kind != Node::kConstant || (kind != ScalarKind::kBit && kind != ScalarKind::kBool)) break;
    const Scalar& constant = control_.constants[value.a];
    if (!is_integer(constant.type) || constant.word > 1) break;
    negated = negated != (truth(constant) != (node.op == Operator::kEqual));
    expression = plain(node.a);
  }
  if (!negated) return shortened(text(expression, step));
  FlowExpression node = control_.expressions[expression];
  const std::optional<Operator> other =
      node.kind == Node::kOperation && is_comparison(node.op) ? opposite(node.op) : std::nullopt;
  if (!other) return shortened("!" + part(expression, step));
  node.op = *other;
  return shortened(operation_text(node, step));
}

std::vector<std::uint32_t> Values::wires_read(std::uint32_t step) const {
  std::vector<std::uint32_t> wires;
  control_.for_each_variable(control_.steps[step].a, [&](std::uint32_t variable) { wires.push_back(wire(variable)); });
  std::sort(wires.begin(), wires.end());
  wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
  return wires;
}

}  // namespace qsim::picture
