// Calls of functions, subroutines and gates.

#include "base/bits.h"
#include "base/text.h"
#include "qasm3/types/checker.h"

namespace qsim::qasm3 {
namespace {

using qasm::quoted;

struct Builtin {
  std::string_view name;
  Operator op;
};
constexpr Builtin kBuiltins[] = {
    {"arccos", Operator::kArccos},     {"arcsin", Operator::kArcsin}, {"arctan", Operator::kArctan},
    {"ceiling", Operator::kCeiling},   {"cos", Operator::kCos},       {"exp", Operator::kExp},
    {"floor", Operator::kFloor},       {"log", Operator::kLog},       {"mod", Operator::kMod},
    {"popcount", Operator::kPopcount}, {"pow", Operator::kPow},       {"rotl", Operator::kRotl},
    {"rotr", Operator::kRotr},         {"sin", Operator::kSin},       {"sqrt", Operator::kSqrt},
    {"tan", Operator::kTan},           {"real", Operator::kReal},     {"imag", Operator::kImag},
};

}  // namespace

Type Checker::call(NodeId id) {
  const Node node = tree_[id];
  const SymbolId found = find(node.name);
  if (found != 0 && model_.symbols[found].kind == SymbolKind::kSubroutine) {
    require_not_gate(node, "a call of a subroutine");
    model_.notes[id].symbol = found;
    return subroutine_call(id, model_.subroutines[model_.symbols[found].index]);
  }
  if (model_.names.text(node.name) == "sizeof") return size_function(id);
  return builtin(id);
}

Type Checker::builtin(NodeId id) {
  const Node node = tree_[id];
  const std::string_view text = model_.names.text(node.name);
  const Builtin* function = nullptr;
  for (const Builtin& each : kBuiltins) {
    if (each.name == text) function = &each;
  }
  if (function == nullptr) {
    if (node.name < poisoned_.size() && poisoned_[node.name]) {
      throw Failure{node.at, "", "", ExitCode::kCircuit, false, true};
    }
    qasm::NearestName nearest(text);
    for (const Builtin& each : kBuiltins) nearest.offer(each.name);
    throw Failure{node.at, "function " + quoted(text) + " is not declared", nearest.hint()};
  }
  const std::uint32_t wanted = is_unary(function->op) ? 1 : 2;
  const std::uint32_t count = List(tree_, node.a).size();
  if (count != wanted) {
    throw Failure{node.at, quoted(text) + " takes " + counted(wanted, "argument") + ", not " + std::to_string(count),
                  ""};
  }
  const NodeId first = node.a, second = wanted == 2 ? tree_[first].next : 0;
  const Type a = value(first), b = second == 0 ? Type{} : value(second);
  Type result;
  if (a.kind != TypeKind::kArray && b.kind != TypeKind::kArray) result = result_type(function->op, a, b);
  if (result.kind == TypeKind::kNothing) {
    throw Failure{node.at,
                  quoted(text) + " has no meaning for " + model_.type_text(a) +
                      (second == 0 ? "" : " and " + model_.type_text(b)),
                  ""};
  }
  model_.notes[id].op = function->op;
  fold(id, function->op, first, second);
  return result;
}

// sizeof(array), sizeof(array, dimension)
Type Checker::size_function(NodeId id) {
  const Node node = tree_[id];
  const std::uint32_t count = List(tree_, node.a).size();
  if (count != 1 && count != 2)
    throw Failure{node.at, "'sizeof' takes 1 or 2 arguments, not " + std::to_string(count), ""};
  const Type array = value(node.a);
  if (array.kind != TypeKind::kArray) {
    throw Failure{node.at, "'sizeof' of " + model_.type_text(array) + ": only arrays have sizes", ""};
  }
  const Type type = scalar_type(ScalarKind::kUint, 64);
  const Shapes::Shape& shape = model_.shapes[array.shape];
  SignedWide dimension = 0;
  if (count == 2) {
    const NodeId second = tree_[node.a].next;
    integer(second);
    const Scalar* constant = model_.constant(second);
    if (constant == nullptr) return type;
    dimension = integer_value(*constant);
  }
  if (dimension < 0 || dimension >= static_cast<SignedWide>(shape.size())) {
    throw Failure{node.at, "the array has no such dimension", "dimensions count from 0"};
  }
  const std::uint32_t size = shape[static_cast<std::size_t>(dimension)];
  if (size != kUnknownSize) set_constant(id, make_word(type.scalar, size));
  return type;
}

Type Checker::subroutine_call(NodeId id, const Subroutine& subroutine) {
  const Node node = tree_[id];
  const std::uint32_t count = List(tree_, node.a).size();
  if (count != subroutine.types.size()) {
    throw Failure{node.at,
                  quoted(model_.names.text(node.name)) + " takes " + counted(subroutine.types.size(), "argument") +
                      ", not " + std::to_string(count),
                  ""};
  }
  const std::vector<Type> types = subroutine.types;
  const std::vector<SymbolId> arguments = subroutine.arguments;
  const Type result = subroutine.result;
  std::size_t position = 0;
  for (const NodeId each : List(tree_, node.a)) {
    const Symbol* symbol = arguments.empty() ? nullptr : &model_.symbols[arguments[position]];
    argument(each, symbol, types[position]);
    ++position;
  }
  return result;
}

void Checker::argument(NodeId node, const Symbol* symbol, const Type& wanted) {
  const std::uint32_t at = tree_[node].at;
  if (wanted.is_quantum()) {
    const Type given = operand(node);
    const std::uint32_t size = wanted.kind == TypeKind::kQubit ? 1 : wanted.size;
    if (given.size != size && given.size != kUnknownSize && size != kUnknownSize) {
      throw Failure{at, model_.type_text(given) + " where " + model_.type_text(wanted) + " is needed", ""};
    }
    return;
  }
  const bool must_change = symbol != nullptr && (symbol->flags & (kConst | kReadonly)) == 0;
  const Type given = value(node);
  if (wanted.kind != TypeKind::kArray) return require_convertible(node, wanted, false);
  const Shapes::Shape &a = model_.shapes[given.shape], &b = model_.shapes[wanted.shape];
  bool fits = given.kind == TypeKind::kArray && given.scalar == wanted.scalar && a.size() == b.size();
  for (std::size_t i = 0; fits && i < a.size(); ++i) {
    fits = a[i] == b[i] || a[i] == kUnknownSize || b[i] == kUnknownSize;
  }
  if (!fits) {
    throw Failure{at, model_.type_text(given) + " where " + model_.type_text(wanted) + " is needed", ""};
  }
  NodeId base = node;
  while (tree_[base].kind == NodeKind::kIndex) base = tree_[base].a;
  const Symbol& array = model_.symbols[model_.note(base).symbol];
  if (must_change && (array.flags & (kConst | kReadonly)) != 0) {
    throw Failure{at, quoted(model_.names.text(array.name)) + " is constant and cannot be changed here", ""};
  }
}

// A qubit or several: what gates, measurements and resets act on.
Type Checker::operand(NodeId id) {
  const Node node = tree_[id];
  const auto keep = [&](const Type& type) {
    model_.notes[id].type = type;
    return type;
  };
  if (node.kind == NodeKind::kPhysical) {
    if (context_ == Context::kGate) throw Failure{node.at, "a physical qubit in a gate", "name it as an operand"};
    std::uint32_t place = 0;
    while (place < model_.physical.size() && model_.physical[place] != node.a) ++place;
    if (place == model_.physical.size()) model_.physical.push_back(node.a);
    tree_[id].b = place;
    return keep({TypeKind::kQubit, {}, 1, 0});
  }
  if (node.kind == NodeKind::kIndex && context_ == Context::kGate) {
    throw Failure{node.at, "no index inside a gate: its operands are single qubits", ""};
  }
  const Type type = expression(id);
  if (!type.is_quantum()) {
    const std::string what = node.kind == NodeKind::kName ? quoted(model_.names.text(node.name)) : "this";
    throw Failure{node.at, what + " is " + model_.type_text(type) + ", not a qubit", ""};
  }
  return type;
}

// Operands of one statement. `together`: registers among them are walked in step and must have equal sizes.
void Checker::operands(NodeId list, const std::string& what, bool together) {
  std::uint32_t size = kUnknownSize;
  for (const NodeId each : List(tree_, list)) {
    const Type type = operand(each);
    if (context_ == Context::kGate) {
      for (NodeId other = list; other != each; other = tree_[other].next) {
        if (together && tree_[other].name == tree_[each].name) {
          throw Failure{tree_[each].at, what + ": the same qubit is used twice", ""};
        }
      }
    }
    if (!together || type.kind != TypeKind::kQubits || type.size == kUnknownSize) continue;
    if (size != kUnknownSize && size != type.size) {
      throw Failure{
          tree_[each].at,
          what + ": register sizes differ (" + std::to_string(size) + " and " + std::to_string(type.size) + ")", ""};
    }
    size = type.size;
  }
}

// Number of the controls that the modifiers add.
std::uint32_t Checker::modifiers(NodeId list) {
  constexpr std::uint32_t kMostControls = 65535;
  std::uint64_t controls = 0;
  for (const NodeId each : List(tree_, list)) {
    const Node node = tree_[each];
    if (node.word == kWordPow) {
      angle(node.a);
    } else if (node.word != kWordInv) {
      std::uint64_t count = 1;
      if (node.a != 0) {
        integer(node.a);
        const Scalar* constant = model_.constant(node.a);
        if (constant == nullptr) {
          explain(node.a);
          throw Failure{tree_[node.a].at, "the number of controls must be constant", ""};
        }
        const SignedWide number = integer_value(*constant);
        if (number < 1) throw Failure{tree_[node.a].at, "ctrl: a positive number is needed", ""};
        count = number > kMostControls ? kMostControls + 1u : static_cast<std::uint64_t>(number);
      }
      controls += count;
      if (controls > kMostControls) throw Failure{node.at, "more than 65535 controls", "", ExitCode::kUnsupported};
    }
  }
  return static_cast<std::uint32_t>(controls);
}

// A parameter of a gate, or an exponent: a real number.
void Checker::angle(NodeId node) {
  const bool outer = std::exchange(in_angle_, true);
  const Type type = value(node);
  in_angle_ = outer;
  using enum ScalarKind;
  const bool real = type.is_scalar() && type.scalar.kind != kComplex && type.scalar.kind != kDuration;
  if (!real) throw Failure{tree_[node].at, model_.type_text(type) + " where a real number is needed", ""};
}

// name(values) qubits; or name qubits; where the name is a subroutine's: a call with both as arguments.
bool Checker::becomes_call(NodeId id) {
  const Node node = tree_[id];
  const SymbolId found = find(node.name);
  if (found == 0 || model_.symbols[found].kind != SymbolKind::kSubroutine) return false;
  if (node.a != 0) throw Failure{node.at, quoted(model_.names.text(node.name)) + " is a subroutine, not a gate", ""};
  NodeId last = node.b;
  while (last != 0 && tree_[last].next != 0) last = tree_[last].next;
  if (last != 0) tree_[last].next = node.c;
  Node call = node;
  call.kind = NodeKind::kCall;
  call.a = last != 0 ? node.b : node.c;
  call.b = call.c = 0;
  const NodeId called = tree_.add(call);
  model_.notes.resize(tree_.size());
  tree_[id].kind = NodeKind::kExpression;
  tree_[id].a = called;
  return true;
}

void Checker::gate_call(NodeId id) {
  if (becomes_call(id)) {
    expression(tree_[id].a);
    return;
  }
  const Node node = tree_[id];
  const bool global_phase = node.name == kWordGphase;
  const std::string text = quoted(model_.names.text(node.name));
  SymbolId found = 0;
  if (!global_phase) {
    found = resolve_gate(node.name, node.at);
    model_.notes[id].symbol = found;
  }
  const GateDefinition& gate = model_.gates[global_phase ? 1 : model_.symbols[found].index];
  const std::uint32_t wanted_parameters = gate.parameters, gate_qubits = gate.qubits;
  const bool is_u = gate.kind == GateKind::kU;
  const std::uint32_t controls = modifiers(node.a);
  const std::uint32_t parameters = List(tree_, node.b).size(), qubits = List(tree_, node.c).size();
  const bool calibrated = gate.kind == GateKind::kCalibrated;
  if (!calibrated && parameters != wanted_parameters) {
    throw Failure{node.at,
                  text + " takes " + counted(wanted_parameters, "parameter") + ", not " + std::to_string(parameters),
                  ""};
  }
  if (!calibrated && qubits != gate_qubits + controls) {
    throw Failure{node.at,
                  text + " takes " + counted(gate_qubits + controls, "qubit") + " here, not " + std::to_string(qubits),
                  ""};
  }
  if (is_u && controls > 0) model_.remark(Remark::kControlledU, node.line);
  for (const NodeId each : List(tree_, node.b)) angle(each);
  operands(node.c, text, true);
}

// ---- costs

Cost Checker::call_cost(const Node& node) const {
  const bool global_phase = node.name == kWordGphase;
  const SymbolId found = global_phase ? 0 : find(node.name);
  // A body with errors may call what is no gate.
  if (!global_phase && (found == 0 || model_.symbols[found].kind != SymbolKind::kGate)) return {0, 1};
  const GateDefinition& gate = model_.gates[global_phase ? 1 : model_.symbols[found].index];
  std::uint64_t times = 1;
  for (const NodeId each : List(tree_, node.c)) {
    const Type& type = model_.note(each).type;
    if (type.kind == TypeKind::kQubits && type.size != kUnknownSize) times = type.size;
  }
  const std::uint64_t operations = saturating_multiply(gate.operations, times);
  return {operations, saturating_add(operations, 1)};
}

Cost Checker::for_cost(const Node& node) const {
  const Node& values = tree_[node.b];
  std::uint64_t times = 0;
  if (values.kind == NodeKind::kSet) {
    times = List(tree_, values.a).size();
  } else if (values.kind == NodeKind::kRange && values.a != 0 && values.c != 0) {
    const Scalar *start = model_.constant(values.a), *stop = model_.constant(values.c);
    const Scalar* step = values.b == 0 ? nullptr : model_.constant(values.b);
    if (start == nullptr || stop == nullptr || (values.b != 0 && step == nullptr)) return {0, 1};
    const SignedWide by = step == nullptr ? 1 : integer_value(*step);
    const SignedWide length = integer_value(*stop) - integer_value(*start);
    if (by == 0 || (length < 0) != (by < 0)) return {0, 1};
    const SignedWide count = length / by + 1;
    times = count > static_cast<SignedWide>(~std::uint64_t{0}) ? ~std::uint64_t{0} : static_cast<std::uint64_t>(count);
  }
  const Cost body = cost(node.c);
  return {saturating_multiply(times, body.operations), saturating_multiply(times, saturating_add(body.steps, 1))};
}

// What follows a statement that may leave the block is not sure to be reached.
Cost Checker::block_cost(NodeId list) const {
  Cost sum;
  for (const NodeId each : List(tree_, list)) {
    const Cost own = cost(each);
    sum.operations = saturating_add(sum.operations, own.operations);
    sum.steps = saturating_add(sum.steps, own.steps);
    const NodeKind kind = tree_[each].kind;
    if (kind != NodeKind::kGateCall && kind != NodeKind::kAssign && kind != NodeKind::kDeclare &&
        kind != NodeKind::kExpression && kind != NodeKind::kReset && kind != NodeKind::kBarrier &&
        kind != NodeKind::kFor && kind != NodeKind::kAlias) {
      break;
    }
  }
  return sum;
}

Cost Checker::cost(NodeId id) const {
  const Node& node = tree_[id];
  switch (node.kind) {
    case NodeKind::kGateCall:
      return call_cost(node);
    case NodeKind::kFor: {
      // A loop that can be left early may be any short.
      const bool whole = (node.flags & kCompound) == 0;
      return whole ? for_cost(node) : Cost{0, 1};
    }
    case NodeKind::kBlock:
      return block_cost(node.a);
    case NodeKind::kBox:
      return block_cost(tree_[node.b].a);
    case NodeKind::kExpression: {
      const SymbolId called = tree_[node.a].kind == NodeKind::kCall ? model_.note(node.a).symbol : 0;
      if (called == 0) return {0, 1};
      const std::uint64_t operations = model_.subroutines[model_.symbols[called].index].operations;
      return {operations, saturating_add(operations, 1)};
    }
    default:
      return {0, 1};
  }
}

}  // namespace qsim::qasm3
