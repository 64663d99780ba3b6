// Names, types and constants of one statement after the other; errors are Failures with places for offsets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "circuit/gate_table.h"
#include "qasm3/types/model.h"

namespace qsim::qasm3 {

/// What a statement costs at least when it is lowered; sums and products saturate.
struct Cost {
  std::uint64_t operations = 0, steps = 0;
};

class Checker {
 public:
  explicit Checker(Model& model);

  /// Called with each error.
  std::function<void(const Failure&)> report;

  /// Checks a statement of global scope. False when something was reported.
  bool check(NodeId statement);
  /// Checks an expression that is to be the value of an input of `type`. Failure.
  void check_input(NodeId value, const Type& type);
  /// Declares the gates of stdgates.inc (once). Failure at `at` where the program has one of the names already.
  void add_standard_gates(std::uint32_t at);
  /// What lowering `statement` costs at least.
  Cost cost(NodeId statement) const;

 private:
  struct Scope {
    std::vector<std::pair<Name, SymbolId>> hidden;  // what each name meant outside
    std::uint32_t frame = 0;
  };
  enum class Context : std::uint8_t { kGlobal, kGate, kSubroutine };

  // scopes.cpp
  SymbolId declare(const Symbol& symbol);
  void open_scope();
  void close_scope();
  SymbolId find(Name name) const;
  SymbolId resolve(Name name, std::uint32_t at);
  SymbolId resolve_gate(Name name, std::uint32_t at);
  void add_builtins();
  void add_gate(std::string_view name, const GateDefinition& gate, std::uint32_t at);
  void add_table_gate(std::string_view name, GateName row, std::uint32_t at);
  void add_constant_name(std::string_view name, double value);
  void enter_function(Context context);
  std::uint32_t leave_function();
  bool at_global_scope() const { return context_ == Context::kGlobal && scopes_.size() == 1; }

  // statements.cpp
  void statement(NodeId node);
  void quantum_or_definition(NodeId node);
  void check_each(NodeId list);
  void block(NodeId node);
  void declare_variable(NodeId node);
  void declare_qubits(NodeId node);
  std::uint32_t constant_value(const Node& node, const Type& type);
  void explain(NodeId node) const;
  void join_old_style(NodeId node);
  void alias(NodeId node);
  void assign(NodeId node);
  void condition(NodeId node);
  void for_loop(NodeId node);
  Type loop_values(NodeId node);
  bool leaves_early(NodeId node) const;
  void switch_cases(NodeId node);
  void return_value(const Node& node);
  void timing(NodeId node);
  void require_global(const Node& node, const char* what) const;
  void require_not_gate(const Node& node, const std::string& what) const;

  // definitions.cpp
  void gate_definition(NodeId node);
  void subroutine(NodeId node);
  void subroutine_arguments(const Node& node, Subroutine& subroutine);
  void extern_declaration(const Node& node);
  void calibration(const Node& node);

  // type_nodes.cpp
  Type type_of(NodeId type, bool sizes_may_vary = false);
  std::uint32_t size_of(NodeId size, std::uint32_t natural, std::uint32_t least, bool may_vary);
  Type array_of(NodeId type, bool may_vary);
  Type initial_value(NodeId value, const Type& type);
  void array_literal(NodeId value, const Type& type, std::uint32_t level);
  void require_convertible(NodeId value, const Type& type, bool cast);
  void set_constant(NodeId node, const Scalar& value);

  // expressions.cpp
  Type expression(NodeId node);
  Type expression_kind(NodeId node);
  Type value(NodeId node);    // an expression that is no qubit
  Type integer(NodeId node);  // ... and an integer
  Type literal(NodeId node);
  Type name(NodeId node);
  Type operation(NodeId node);
  void adapt_literal(const Node& node, Operator op);
  Type cast(NodeId node);
  Type index(NodeId node);
  Type array_index(NodeId node, const Type& base);
  Type part_of(NodeId node, const Type& base);
  std::uint32_t items_count(NodeId item, std::uint32_t size);
  Type concatenation(NodeId node);
  Type measurement(NodeId node);
  void fold(NodeId node, Operator op, NodeId a, NodeId b);

  // calls.cpp
  Type call(NodeId node);
  Type builtin(NodeId node);
  Type size_function(NodeId node);
  Type subroutine_call(NodeId node, const Subroutine& subroutine);
  void argument(NodeId value, const Symbol* symbol, const Type& wanted);
  void gate_call(NodeId node);
  std::uint32_t modifiers(NodeId list);
  void angle(NodeId node);
  Type operand(NodeId node);
  void operands(NodeId list, const std::string& what, bool together);
  bool becomes_call(NodeId node);
  Cost call_cost(const Node& node) const;
  Cost for_cost(const Node& node) const;
  Cost block_cost(NodeId list) const;

  Model& model_;
  Tree& tree_;
  std::vector<Scope> scopes_;
  std::vector<SymbolId> meaning_;  // by name: the innermost symbol
  std::vector<bool> poisoned_;     // by name: its declaration failed
  Context context_ = Context::kGlobal;
  std::uint32_t frame_ = 0, frame_high_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> outer_frames_;
  Type result_;  // of the subroutine being read
  int loops_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool has_standard_gates_ = false;
  bool in_angle_ = false;
};

}  // namespace qsim::qasm3
