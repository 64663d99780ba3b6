// Definitions: gates, subroutines, external functions, calibrations.
#include <utility>

#include "qasm3/types/checker.h"

namespace qsim::qasm3 {

using qasm::quoted;

void Checker::gate_definition(NodeId id) {
  const Node node = tree_[id];
  require_global(node, "a definition of a gate");
  GateDefinition gate;
  gate.kind = GateKind::kBody;
  gate.body = node.c;
  enter_function(Context::kGate);
  const auto declare_all = [&](NodeId list, SymbolKind kind, const Type& type) {
    std::uint32_t count = 0;
    for (const NodeId each : List(tree_, list)) {
      Symbol symbol = symbol_of(kind, tree_[each]);
      symbol.type = type;
      declare(symbol);
      ++count;
    }
    return count;
  };
  gate.parameters = declare_all(node.a, SymbolKind::kParameter, scalar_type(ScalarKind::kFloat, 64));
  gate.qubits = declare_all(node.b, SymbolKind::kQubits, {TypeKind::kQubit, {}, 1, 0});
  if (node.b == 0) {
    leave_function();
    throw Failure{node.at, "a gate needs qubits", ""};
  }
  const bool failed_before = std::exchange(failed_, false);
  const int loops = std::exchange(loops_, 0);
  block(node.c);
  loops_ = loops;
  gate.operations = cost(node.c).operations;
  gate.frame = leave_function();
  const bool failed = failed_;
  failed_ = failed_ || failed_before;
  if (failed) throw Failure{node.at, "", "", ExitCode::kCircuit, false, true};
  Symbol symbol = symbol_of(SymbolKind::kGate, node);
  symbol.index = static_cast<std::uint32_t>(model_.gates.size());
  const SymbolId before = find(node.name);
  if (before != 0 && model_.symbols[before].kind == SymbolKind::kGate &&
      model_.gates[model_.symbols[before].index].kind == GateKind::kCalibrated) {
    model_.gates[model_.symbols[before].index] = gate;
    return;
  }
  declare(symbol);
  model_.gates.push_back(gate);
}

void Checker::subroutine_arguments(const Node& node, Subroutine& made) {
  std::size_t position = 0;
  for (const NodeId each : List(tree_, node.a)) {
    const Node argument = tree_[each];
    Symbol symbol = symbol_of(SymbolKind::kVariable, argument);
    symbol.flags = argument.flags;
    symbol.type = made.types[position++];
    if (symbol.type.is_quantum()) symbol.kind = SymbolKind::kQubits;
    if (symbol.type.kind == TypeKind::kArray && argument.flags == 0) symbol.flags = kReadonly;
    made.arguments.push_back(declare(symbol));
  }
}

void Checker::subroutine(NodeId id) {
  const Node node = tree_[id];
  require_global(node, "a definition of a subroutine");
  Symbol symbol = symbol_of(SymbolKind::kSubroutine, node);
  symbol.index = static_cast<std::uint32_t>(model_.subroutines.size());
  declare(symbol);
  model_.subroutines.emplace_back();
  Subroutine made;
  if (node.b != 0) made.result = type_of(node.b, true);
  made.body = node.c;
  // Sizes of arguments are read outside of the subroutine.
  for (const NodeId each : List(tree_, node.a)) made.types.push_back(type_of(tree_[each].a, true));
  enter_function(Context::kSubroutine);
  subroutine_arguments(node, made);
  model_.subroutines[symbol.index] = made;  // the body may call it
  result_ = made.result;
  const int loops = std::exchange(loops_, 0);
  check_each(tree_[node.c].a);
  loops_ = loops;
  made.operations = block_cost(tree_[node.c].a).operations;
  made.frame = leave_function();
  model_.subroutines[symbol.index] = made;
}

void Checker::extern_declaration(const Node& node) {
  require_global(node, "a declaration of an external function");
  Symbol symbol = symbol_of(SymbolKind::kSubroutine, node);
  symbol.index = static_cast<std::uint32_t>(model_.subroutines.size());
  Subroutine made;
  made.is_extern = true;
  for (const NodeId each : List(tree_, node.a)) made.types.push_back(type_of(each, true));
  if (node.b != 0) made.result = type_of(node.b, true);
  declare(symbol);
  model_.subroutines.push_back(made);
  model_.remark(Remark::kExtern, node.line);
}

// A gate that has a defcal alone may be named, but nothing says what it does.
void Checker::calibration(const Node& node) {
  model_.remark(Remark::kCalibration, node.line);
  for (const NodeId each : List(tree_, node.a)) operand(each);
  if (node.word != kWordDefcal || node.name < kReservedWords || find(node.name) != 0) return;
  GateDefinition gate;
  gate.kind = GateKind::kCalibrated;
  const std::string name(model_.names.text(node.name));
  Symbol symbol = symbol_of(SymbolKind::kGate, node);
  symbol.index = static_cast<std::uint32_t>(model_.gates.size());
  declare(symbol);
  model_.gates.push_back(gate);
}

}  // namespace qsim::qasm3
