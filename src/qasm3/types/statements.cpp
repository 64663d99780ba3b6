// Statements: declarations, assignments, control flow, definitions.
#include <algorithm>

#include "qasm3/syntax/nesting.h"
#include "qasm3/types/checker.h"

namespace qsim::qasm3 {

using qasm::quoted;

bool Checker::check(NodeId id) {
  model_.notes.resize(tree_.size());
  failed_ = false;
  depth_ = 0;
  loops_ = 0;
  ListMaker single(tree_);
  single.add(id);
  check_each(single.first());
  return !failed_;
}

void Checker::check_input(NodeId value, const Type& type) {
  model_.notes.resize(tree_.size());
  initial_value(value, type);
}

// Statement by statement, so that each reports its own error.
void Checker::check_each(NodeId list) {
  for (const NodeId each : List(tree_, list)) {
    const std::size_t scopes = scopes_.size();
    const Context context = context_;
    const int loops = loops_, depth = depth_;
    try {
      statement(each);
    } catch (const Failure& failure) {
      failed_ = true;
      if (!failure.silent) report(failure);
      const bool inside = context_ != context;
      while (scopes_.size() > scopes + (inside ? 1 : 0)) close_scope();
      if (inside) leave_function();
      loops_ = loops;
      depth_ = depth;
      const Node& node = tree_[each];
      const bool declares = node.kind == NodeKind::kDeclare || node.kind == NodeKind::kAlias ||
                            node.kind == NodeKind::kGate || node.kind == NodeKind::kSubroutine;
      if (declares) {
        poisoned_.resize(std::max(poisoned_.size(), model_.names.size()));
        poisoned_[node.name] = true;
      }
      if (failure.fatal) throw;
    }
  }
}

void Checker::require_global(const Node& node, const char* what) const {
  if (!at_global_scope()) throw Failure{node.at, std::string(what) + " must be global", ""};
}

void Checker::require_not_gate(const Node& node, const std::string& what) const {
  if (context_ == Context::kGate) throw Failure{node.at, what + " in a gate: a gate holds gates alone", ""};
}

void Checker::statement(NodeId id) {
  const Nesting guard(depth_, tree_[id].at);
  const Node node = tree_[id];
  switch (node.kind) {
    case NodeKind::kDeclare:
      return declare_variable(id);
    case NodeKind::kAlias:
      return alias(id);
    case NodeKind::kAssign:
      return assign(id);
    case NodeKind::kExpression:
      if (tree_[node.a].kind == NodeKind::kMeasure) {
        model_.notes[node.a].type = measurement(node.a);
      } else {
        require_not_gate(node, "an expression");
        expression(node.a);
      }
      return;
    case NodeKind::kGateCall:
      return gate_call(id);
    case NodeKind::kIf:
      condition(node.a);
      block(node.b);
      if (node.c != 0) block(node.c);
      return;
    case NodeKind::kWhile:
      condition(node.a);
      ++loops_;
      block(node.b);
      --loops_;
      return;
    case NodeKind::kFor:
      return for_loop(id);
    case NodeKind::kSwitch:
      return switch_cases(id);
    case NodeKind::kBreak:
    case NodeKind::kContinue:
      if (loops_ == 0) {
        throw Failure{node.at,
                      node.kind == NodeKind::kBreak ? "'break' outside of a loop" : "'continue' outside of a loop", ""};
      }
      return;
    case NodeKind::kEnd:
      return require_not_gate(node, "'end'");
    case NodeKind::kReturn:
      return return_value(node);
    case NodeKind::kBlock:
      return block(id);
    default:
      return quantum_or_definition(id);
  }
}

void Checker::quantum_or_definition(NodeId id) {
  const Node node = tree_[id];
  switch (node.kind) {
    case NodeKind::kReset:
      require_not_gate(node, "'reset'");
      operand(node.a);
      return;
    case NodeKind::kBarrier:
      return operands(node.a, "'barrier'", false);
    case NodeKind::kDelay:
    case NodeKind::kBox:
      return timing(id);
    case NodeKind::kNop:
      throw Failure{node.at, "'nop' is no statement of OpenQASM 3.1", "it is part of a draft of 3.2: leave it out"};
    case NodeKind::kGate:
      return gate_definition(id);
    case NodeKind::kSubroutine:
      return subroutine(id);
    case NodeKind::kExtern:
      return extern_declaration(node);
    case NodeKind::kInclude:
      return require_global(node, "'include'");
    case NodeKind::kCalibration:
      return calibration(node);
    case NodeKind::kPragma:
      return model_.remark(Remark::kPragma, node.line);
    default:
      break;
  }
  throw Failure{node.at, "not a statement", ""};
}

void Checker::block(NodeId id) {
  open_scope();
  check_each(tree_[id].a);
  close_scope();
}

void Checker::declare_qubits(NodeId id) {
  const Node node = tree_[id];
  require_global(node, "a declaration of qubits");
  Symbol symbol = symbol_of(SymbolKind::kQubits, node);
  symbol.type = type_of(node.a);
  model_.notes[id].symbol = declare(symbol);
}

void Checker::declare_variable(NodeId id) {
  const Node node = tree_[id];
  if (tree_[node.a].word == kWordQubit) return declare_qubits(id);
  require_not_gate(node, "a declaration");
  if ((node.flags & (kInput | kOutput)) != 0) require_global(node, "an input or output");
  Symbol symbol = symbol_of(SymbolKind::kVariable, node);
  symbol.flags = node.flags;
  symbol.type = type_of(node.a);
  if (node.b != 0) initial_value(node.b, symbol.type);
  if (node.flags == kConst) symbol.constant = constant_value(node, symbol.type);
  if (symbol.type.is(ScalarKind::kDuration)) model_.remark(Remark::kTiming, node.line);
  model_.notes[id].symbol = declare(symbol);
}

// Of a constant that is declared; 0 where it holds no scalar: an array, a long register, a duration.
std::uint32_t Checker::constant_value(const Node& node, const Type& type) {
  const bool wide = type.kind == TypeKind::kBits && type.size > kMaxScalarBits;
  if (type.kind == TypeKind::kArray || wide || type.is(ScalarKind::kDuration)) return 0;
  const Scalar* value = model_.constant(node.b);
  if (value == nullptr) {
    explain(node.b);
    throw Failure{tree_[node.b].at, quoted(model_.names.text(node.name)) + ": the value is not constant", ""};
  }
  try {
    return model_.add_constant(convert(*value, model_.note(node.b).type, type));
  } catch (const ArithmeticFault& fault) {
    throw Failure{tree_[node.b].at, fault.what(), ""};
  }
}

// Why an expression of constants has no value, where that is so.
void Checker::explain(NodeId id) const {
  const Node& node = tree_[id];
  const bool operates = node.kind == NodeKind::kUnary || node.kind == NodeKind::kBinary;
  const bool calls = node.kind == NodeKind::kCall && model_.note(id).symbol == 0;
  if (!operates && !calls) return;
  const NodeId first = node.a;
  const NodeId second = calls ? tree_[first].next : node.kind == NodeKind::kBinary ? node.b : 0;
  explain(first);
  if (second != 0) explain(second);
  const Scalar* a = model_.constant(first);
  const Scalar* b = second == 0 ? a : model_.constant(second);
  if (a == nullptr || b == nullptr) return;
  try {
    apply(model_.note(id).op, *a, *b);
  } catch (const ArithmeticFault& fault) {
    throw Failure{node.at, fault.what(), ""};
  }
}

// Older programs join qubits with ||.
void Checker::join_old_style(NodeId id) {
  Node& node = tree_[id];
  if (node.kind != NodeKind::kBinary || node.op != Operator::kOr) return;
  node.kind = NodeKind::kConcat;
  join_old_style(node.a);
  join_old_style(tree_[id].b);
}

void Checker::alias(NodeId id) {
  const Node node = tree_[id];
  require_not_gate(node, "an alias");
  join_old_style(node.a);
  Symbol symbol = symbol_of(SymbolKind::kAlias, node);
  symbol.type = expression(node.a);
  const NodeKind kind = tree_[node.a].kind;
  const bool names_something =
      kind == NodeKind::kName || kind == NodeKind::kIndex || kind == NodeKind::kConcat || kind == NodeKind::kPhysical;
  const bool is_bits = symbol.type.kind == TypeKind::kBits || symbol.type.is(ScalarKind::kBit);
  if (!names_something || !(symbol.type.is_quantum() || is_bits || symbol.type.kind == TypeKind::kArray)) {
    throw Failure{tree_[node.a].at, "an alias names qubits, bits or elements of an array", ""};
  }
  model_.notes[id].symbol = declare(symbol);
}

void Checker::assign(NodeId id) {
  const Node node = tree_[id];
  require_not_gate(node, "an assignment");
  const Type type = expression(node.a);
  NodeId base = node.a;
  while (tree_[base].kind == NodeKind::kIndex) base = tree_[base].a;
  const Symbol& symbol = model_.symbols[model_.note(base).symbol];
  const std::string name = quoted(model_.names.text(symbol.name));
  if (type.is_quantum()) throw Failure{node.at, name + " is a qubit and cannot be assigned to", ""};
  if ((symbol.flags & (kConst | kReadonly)) != 0) throw Failure{node.at, name + " is constant", ""};
  if (symbol.kind == SymbolKind::kParameter) throw Failure{node.at, name + " is a parameter of a gate", ""};
  if ((node.flags & kCompound) == 0) {
    initial_value(node.b, type);
    return;
  }
  const Type by = value(node.b);
  const Operator op = node.op;
  const Type result = type.kind == TypeKind::kArray || by.kind == TypeKind::kArray ? Type{} : result_type(op, type, by);
  if (result.kind == TypeKind::kNothing || !converts(result, type, true)) {
    throw Failure{
        node.at,
        quoted(operator_text(op)) + " has no meaning for " + model_.type_text(type) + " and " + model_.type_text(by),
        ""};
  }
}

void Checker::condition(NodeId node) {
  const Type type = value(node);
  if (type.kind == TypeKind::kBits ||
      (type.is_scalar() && qsim::converts(type.scalar, {ScalarKind::kBool, 1}, false))) {
    return;
  }
  throw Failure{tree_[node].at, model_.type_text(type) + " cannot be a condition", ""};
}

// The flag kCompound marks a loop that something inside may leave early.
void Checker::for_loop(NodeId id) {
  const Node node = tree_[id];
  Symbol symbol = symbol_of(SymbolKind::kVariable, node);
  symbol.type = type_of(node.a);
  if (symbol.type.kind == TypeKind::kArray || symbol.type.is_quantum()) {
    throw Failure{tree_[node.a].at, "a loop variable of type " + model_.type_text(symbol.type), ""};
  }
  const Type element = loop_values(node.b);
  if (!converts(element, symbol.type, true)) {
    throw Failure{tree_[node.b].at, model_.type_text(element) + " cannot become " + model_.type_text(symbol.type), ""};
  }
  open_scope();
  model_.notes[id].symbol = declare(symbol);
  ++loops_;
  block(node.c);
  --loops_;
  close_scope();
  if (leaves_early(node.c)) tree_[id].flags |= kCompound;
}

// Whether something inside may leave the loop that `node` is the body of.
bool Checker::leaves_early(NodeId id) const {
  const Node& node = tree_[id];
  switch (node.kind) {
    case NodeKind::kBreak:
    case NodeKind::kEnd:
    case NodeKind::kReturn:
      return true;
    case NodeKind::kIf:
      return leaves_early(node.b) || (node.c != 0 && leaves_early(node.c));
    case NodeKind::kWhile:
    case NodeKind::kBox:
    case NodeKind::kCase:
      return leaves_early(node.b);
    case NodeKind::kFor:
      return leaves_early(node.c);
    case NodeKind::kSwitch:
    case NodeKind::kBlock: {
      bool leaves = false;
      for (const NodeId each : List(tree_, node.kind == NodeKind::kBlock ? node.a : node.b)) {
        leaves = leaves || leaves_early(each);
      }
      return leaves;
    }
    default:
      return false;
  }
}

// Type of what a loop runs through.
Type Checker::loop_values(NodeId node) {
  const Node values = tree_[node];
  if (values.kind == NodeKind::kRange) {
    if (values.a == 0 || values.c == 0) throw Failure{values.at, "the range of a loop needs a start and an end", ""};
    Type type = value(values.a);
    for (const NodeId each : {values.a, values.b, values.c}) {
      if (each == 0) continue;
      const Type bound = value(each);
      if (!bound.is_scalar() ||
          !(bound.is(ScalarKind::kInt) || bound.is(ScalarKind::kUint) || bound.is(ScalarKind::kFloat) ||
            bound.is(ScalarKind::kBit) || bound.is(ScalarKind::kBool))) {
        throw Failure{tree_[each].at, model_.type_text(bound) + " in the range of a loop", ""};
      }
    }
    return type;
  }
  if (values.kind == NodeKind::kSet) {
    Type type;
    for (const NodeId each : List(tree_, values.a)) type = value(each);
    return type;
  }
  const Type type = value(node);
  if (type.kind == TypeKind::kBits) return scalar_type(ScalarKind::kBit, 1);
  if (type.kind == TypeKind::kArray && model_.shapes[type.shape].size() == 1) {
    return {TypeKind::kScalar, type.scalar, 1, 0};
  }
  throw Failure{values.at,
                "a loop runs through a range, a set, an array or a bit register, not " + model_.type_text(type), ""};
}

void Checker::switch_cases(NodeId id) {
  const Node node = tree_[id];
  require_not_gate(node, "'switch'");
  const Type type = value(node.a);
  const bool whole = type.is(ScalarKind::kInt) || type.is(ScalarKind::kUint) || type.kind == TypeKind::kBits ||
                     type.is(ScalarKind::kBit) || type.is(ScalarKind::kBool);
  if (!whole) throw Failure{tree_[node.a].at, "'switch' needs an integer, not " + model_.type_text(type), ""};
  std::vector<Scalar> seen;
  bool has_case = false, has_default = false;
  for (const NodeId each : List(tree_, node.b)) {
    const Node one = tree_[each];
    if (has_default) throw Failure{one.at, "'default' must come last", ""};
    has_default = one.word == kWordDefault;
    has_case = has_case || !has_default;
    for (const NodeId label : List(tree_, one.a)) {
      const Type own = value(label);
      const Scalar* constant = model_.constant(label);
      if (constant == nullptr) {
        explain(label);
        throw Failure{tree_[label].at, "the value of a case must be constant", ""};
      }
      if (own.is(ScalarKind::kFloat) || own.is(ScalarKind::kComplex) || own.is(ScalarKind::kAngle)) {
        throw Failure{tree_[label].at, "the value of a case must be an integer", ""};
      }
      for (const Scalar& before : seen) {
        if (truth(apply(Operator::kEqual, before, *constant))) {
          throw Failure{tree_[label].at, "case " + value_text(*constant) + " appears twice", ""};
        }
      }
      seen.push_back(*constant);
    }
    block(one.b);
  }
  if (!has_case) throw Failure{node.at, "'switch' without a case", ""};
}

void Checker::return_value(const Node& node) {
  if (context_ != Context::kSubroutine) throw Failure{node.at, "'return' outside of a subroutine", ""};
  const bool wanted = result_.kind != TypeKind::kNothing;
  if (node.a == 0) {
    if (wanted) throw Failure{node.at, "'return' without a value: " + model_.type_text(result_) + " is needed", ""};
    return;
  }
  if (!wanted) {
    if (tree_[node.a].kind != NodeKind::kMeasure) value(node.a);
    throw Failure{node.at, "a value is returned, but the subroutine has no type",
                  "say it as in: def f() -> int { ... }"};
  }
  initial_value(node.a, result_);
}

void Checker::timing(NodeId id) {
  const Node node = tree_[id];
  model_.remark(Remark::kTiming, node.line);
  if (node.a != 0) {
    const Type type = value(node.a);
    if (!type.is(ScalarKind::kDuration)) {
      throw Failure{tree_[node.a].at, model_.type_text(type) + " where a duration is needed", "as in 100ns"};
    }
  }
  if (node.kind == NodeKind::kDelay) return operands(node.b, "'delay'", false);
  block(node.b);
}

}  // namespace qsim::qasm3
