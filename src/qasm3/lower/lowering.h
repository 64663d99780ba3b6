// Evaluates checked statements into a flow program: what no measurement decides is done here, the rest becomes steps.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "qasm3/lower/memory.h"
#include "qasm3/types/checker.h"

namespace qsim::qasm3 {

struct LoweringLimits {
  std::uint64_t operations = 1ull << 28;
  std::uint64_t while_iterations = 1ull << 20;  // of all loops together
  std::uint64_t flow_steps = 1ull << 22;        // of what measurements decide
  std::uint32_t call_depth = 256;
  std::uint32_t cells = 1u << 22;        // bits and numbers in classical variables
  std::uint32_t possible_values = 1024;  // that a case split tries
};

class Lowering {
 public:
  /// `inputs`: values of input variables, converted to their types by the checker's rules, by symbol.
  Lowering(Model& model, Checker& checker, const LoweringLimits& limits);

  /// Makes a checked expression of the value given for an input variable; throws Failure. Set before run().
  std::function<NodeId(const Symbol& symbol, std::uint32_t at)> input;

  /// Runs a statement of global scope. Statements from included files carry `line` (0: their own). Failure.
  void run(NodeId statement, std::uint32_t line);
  /// The program, when all statements have run.
  Flow finish();

 private:
  /// Cells of a variable, or qubits: `count` numbers from `first`, or those of pool_ from there on.
  struct Binding {
    std::uint32_t first = 0, count = 0;
    bool listed = false;
  };
  enum class Status : std::uint8_t { kNext, kBreak, kContinue, kReturn, kEnd, kDead };
  /// A jump to be aimed, and what was written on the way to it.
  struct Edge {
    std::uint32_t step = 0;
    Changes changes;
  };
  using Edges = std::vector<Edge>;
  struct Loop {
    std::size_t break_mark = 0, continue_mark = 0;
    Edges breaks, continues;
  };
  struct Call {
    std::size_t mark = 0;
    Edges returns;
    std::vector<std::uint32_t> result;  // cells
    Type type;                          // of the result
  };
  /// Thrown where a value must be known and `variable` has few enough possible values to try them one by one.
  struct NeedSplit {
    std::uint32_t variable;
    std::uint32_t at;
  };
  /// Thrown where a subroutine ended the program, or never comes back.
  struct Ended {
    Status status;
  };
  /// What an assignment writes: cells, or (bits not empty) bits of one cell.
  struct Place {
    Type type;
    std::vector<std::uint32_t> cells;
    std::vector<std::uint32_t> bits;
    bool of_number = false;
  };
  /// How deep everything is, to come back to after a case split was asked for.
  struct Depths {
    std::size_t steps, operations, marks, loops, calls, frames, frame_begin, assumed;
    std::uint32_t cells, pool;
    int gates, depth;
    bool in_function;
  };
  struct Checkpoint {
    std::size_t steps, expressions, variables, constants, operations;
    std::uint32_t run_begin;
    double phase;
  };

  // program.cpp: steps, expressions, variables
  void close_run();
  std::uint32_t here();
  std::uint32_t add_step(FlowStep::Kind kind, std::uint32_t a, std::uint32_t b);
  std::uint32_t add_variable(ScalarType type, std::vector<Scalar> possible);
  std::uint32_t name_of(SymbolId symbol);
  void keep(std::uint32_t cell, const Value& value);
  std::uint32_t add_expression(const FlowExpression& expression);
  Value variable_value(std::uint32_t variable);
  std::uint32_t expression_of(const Value& value);
  Value stored(const Value& value);
  const std::vector<Scalar>* possible_values(std::uint32_t expression);
  void charge(std::uint64_t operations, std::uint64_t steps, std::uint32_t at);
  void require_room(const Cost& cost, std::uint32_t at) const;
  Checkpoint checkpoint();
  void back_to(const Checkpoint& point);
  [[noreturn]] void fail_dynamic(std::uint32_t at, const std::string& what) const;
  Scalar require_known(const Value& value, std::uint32_t at);

  // joins.cpp: control flow that measurements decide
  Edge leave(std::size_t mark);
  void end_here();
  void join(Edges& edges);
  Value merged(const Edges& edges, std::uint32_t cell, std::vector<std::pair<std::size_t, std::uint32_t>>& writes);
  Depths depths() const;
  void restore(const Depths& before, std::uint32_t at);
  void end_arm(Status status, Edges& next);
  Status finish_arms(Edges& next);
  Status branch(NodeId node, const Value& condition);
  Status split(const NeedSplit& need, const std::function<Status()>& body);
  /// Runs `body`; where a value must be known for it, once for each of the values, in arms of their own. The body must
  /// ask before it does anything.
  template <typename Body>
  Status guarded(std::uint32_t at, const Body& body) {
    const Depths before = depths();
    try {
      return body();
    } catch (const NeedSplit& need) {
      restore(before, at);
      return split(need, body);
    }
  }
  Status close_loop(Status status);
  void leave_as(Status status);
  Status dynamic_while(NodeId node);
  bool try_dynamic_while(NodeId node, std::vector<std::uint32_t>& carried, Status& status);
  bool continue_loop(const std::vector<std::uint32_t>& variables, std::vector<std::uint32_t>& carried, Edges& latch,
                     std::uint32_t header);

  // statements.cpp
  std::uint32_t line_of(const Node& node) const { return fixed_line_ != 0 ? fixed_line_ : node.line; }
  Status execute(NodeId statement);
  Status execute_kind(NodeId statement);
  Status block(NodeId node);
  Status statements(NodeId list);
  Status if_statement(NodeId node);
  Status switch_statement(NodeId node);
  Status for_loop(NodeId node);
  std::vector<Value> loop_values(NodeId node, const Type& type);
  bool for_range(NodeId node, std::uint32_t cell, Status& status);
  bool iterate(NodeId node, std::uint32_t cell, const Value& value, Status& status);
  Status while_loop(NodeId node);
  Status return_value(NodeId node);
  Status declare(NodeId node);
  void declare_qubits(const Node& node, SymbolId symbol);
  void alias(NodeId node);
  void assign(NodeId node);
  std::vector<Value> compound_bits(Operator op, const std::vector<Value>& before, NodeId by);
  void reset(NodeId node);
  void barrier(NodeId node);
  std::vector<Value> measured(NodeId measure);
  std::uint32_t measure_qubit(std::uint32_t qubit);

  // values.cpp: scalars
  Value load(std::uint32_t cell);
  Value scalar(NodeId node);
  Value scalar_kind(NodeId node);
  Value operation(NodeId node, NodeId a, NodeId b);
  Value combine(Operator op, const Value& a, const Value& b, std::uint32_t at);
  Value converted(const Value& value, ScalarType type, std::uint32_t at);
  Value joined(std::span<const Value> bits, std::uint32_t at);
  Value truth_of(NodeId node);
  std::int64_t integer(NodeId node);
  double real(NodeId node);

  // registers.cpp: bit registers, arrays, places
  std::vector<Value> elements(NodeId node, const Type& type);
  std::vector<Value> bits(NodeId node);
  std::vector<Value> bit_operation(NodeId node);
  static std::vector<Value> shifted(const std::vector<Value>& bits, std::int64_t up);
  std::vector<Value> array_literal(NodeId node, const Type& type);
  std::vector<Value> fitted(std::vector<Value> values, const Type& from, const Type& to, std::uint32_t at);
  std::vector<Value> bits_of(const Value& number, std::uint32_t count);
  void select(NodeId node, std::vector<std::uint32_t>& ids);
  void positions(NodeId item, std::uint32_t size, std::vector<std::uint32_t>& places);
  void select_array(NodeId node, std::vector<std::uint32_t>& ids, Shapes::Shape& shape);
  Place place(NodeId node);
  bool names_cells(NodeId node) const;
  void write(const Place& place, const std::vector<Value>& values);
  std::vector<Value> read(const Place& place);

  // calls.cpp
  std::vector<Value> call(NodeId node);
  using ArgumentShapes = std::map<SymbolId, Shapes::Shape>;
  void bind_argument(NodeId node, SymbolId argument, Binding& of, ArgumentShapes& shapes);
  std::vector<Value> enter(const Subroutine& called, const std::vector<Binding>& arguments, Call open,
                           ArgumentShapes shapes);
  void operand(NodeId node, std::vector<std::uint32_t>& qubits);
  std::uint32_t physical(std::uint32_t place);
  Binding& binding(SymbolId symbol);
  std::uint32_t bound(const Binding& binding, std::uint32_t element) const {
    return binding.listed ? pool_[binding.first + element] : binding.first + element;
  }
  Binding listed(const std::vector<std::uint32_t>& ids);
  static bool has_twice(std::vector<std::uint32_t> ids);

  // gates.cpp
  void gate_call(NodeId node);
  void apply_broadcast(const Node& node, const GateDefinition& gate, std::span<const double> parameters);
  void apply_modified(const Node& node, const GateDefinition& gate, std::span<const double> parameters,
                      std::span<const Qubit> qubits);
  bool single_qubit(NodeId node, Qubit& qubit);
  void apply_gate(const GateDefinition& gate, std::span<const double> parameters, std::span<const Qubit> qubits,
                  std::uint32_t at);
  void apply_body(const GateDefinition& gate, std::span<const double> parameters, std::span<const Qubit> qubits);
  void add_operation(Gate gate, std::span<const Qubit> controls, std::span<const Qubit> targets,
                     std::span<const double> parameters);
  void add_phase(double angle);

  // powers.cpp
  /// What a gate does, apart from where it is applied.
  struct Recorded {
    Circuit body;
    double phase = 0;
  };
  Recorded record(const GateDefinition& gate, std::span<const double> parameters, std::span<const Qubit> qubits,
                  std::uint32_t at);
  void apply_powers(const GateDefinition& gate, std::span<const double> parameters, std::span<const Qubit> qubits,
                    std::span<const double> exponents, std::uint32_t at);
  void repeat(const Recorded& recorded, double exponent, std::span<const Qubit> qubits, std::uint32_t at);
  void replay(const Recorded& recorded, bool inverse);
  void apply_matrix(const Recorded& recorded, std::span<const Qubit> qubits, std::span<const double> exponents,
                    std::uint32_t at);

  // finish.cpp
  std::vector<std::uint32_t> result_cells();
  void add_outputs(Flow& flow);
  void number_physical(Flow& flow);

  Model& model_;
  Checker& checker_;
  Tree& tree_;
  LoweringLimits limits_;
  Flow flow_;
  std::uint32_t run_begin_ = 0;                               // first operation that no step holds yet
  std::vector<std::vector<Scalar>> possible_;                 // by variable; empty: too many
  std::vector<std::uint32_t> variable_leaf_;                  // by variable: its expression
  std::map<std::uint32_t, std::vector<Scalar>> possible_of_;  // by expression
  std::vector<std::pair<std::uint32_t, Scalar>> assumed_;     // variables in the case at hand
  /// Of variables, by symbol and name: their numbers in Control::names, from 1.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> names_;
  Memory memory_;
  std::vector<Binding> globals_, frames_;
  std::size_t frame_begin_ = 0;
  std::vector<std::uint32_t> pool_;
  std::vector<std::uint32_t> physical_;  // by place in Model::physical: qubit + 1, 0 = not used yet
  std::vector<Loop> loops_;
  std::vector<Call> calls_;
  Edges ends_;
  std::vector<Qubit> controls_;  // that everything is under
  Circuit* out_ = nullptr;       // what operations are added to
  double phase_ = 0;
  std::vector<SymbolId> global_variables_;
  ArgumentShapes argument_shapes_;  // of array arguments that take any sizes
  std::uint64_t operations_ = 0, steps_ = 0, iterations_ = 0;
  std::uint32_t line_ = 0, fixed_line_ = 0;
  std::uint32_t at_ = 0;  // place of the statement
  int gates_ = 0;         // bodies that are open
  int depth_ = 0;
  bool ended_ = false;
  bool in_function_ = false;  // names that are not global lie in frames_
};

}  // namespace qsim::qasm3
