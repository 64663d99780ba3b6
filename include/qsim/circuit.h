// A quantum circuit as a flat list of operations over pooled operands: 1,000,000 gates take well under 100 MB.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>

#include "qsim/gate.h"

namespace QSIM_PUBLIC qsim {

struct Control;  // classical control of programs that were read; not for callers
struct Finish;   // their classical end; not for callers

/// Circuit over `qubits` qubits and named classical registers. What appends checks its operands, throws CircuitError
/// and returns the circuit.
class Circuit {
 public:
  Circuit() = default;
  /// One quantum register "q" of `qubits` and, when clbits > 0, one classical register "c".
  explicit Circuit(std::uint32_t qubits, std::uint32_t clbits = 0);

  std::uint32_t add_qreg(const std::string& name, std::uint32_t size);  // returns its index
  /// No result shows the bits of registers without a name, which come last.
  std::uint32_t add_creg(const std::string& name, std::uint32_t size);
  void set_initial(Clbit clbit, bool value);  // before the first operation; 0 unless it is set
  bool initial(Clbit clbit) const { return clbit < initial_.size() && initial_[clbit]; }

  /// Gate `gate` of the table (angles in radians; those beyond 4 pi are kept reduced, which no gate can tell).
  Circuit& add_gate(Gate gate, std::span<const Qubit> controls, std::span<const Qubit> targets,
                    std::span<const double> params = {});
  /// The same with controls on 0 or 1 and angles that may be open.
  Circuit& apply(Gate gate, std::span<const ControlQubit> controls, std::span<const Qubit> targets,
                 std::span<const Angle> angles = {});
  /// The gate of gate_spellings() that is called `name` ("ccx", "crz", "rxx"): controls, then targets.
  Circuit& apply(std::string_view name, std::span<const Qubit> qubits, std::span<const Angle> angles = {});
  /// A matrix of order 2^targets (row-major, bit j of an index is target j). Checked to be unitary to 1e-10 unless
  /// `check_unitary` is false.
  Circuit& add_unitary(std::span<const Complex> matrix, std::span<const Qubit> controls, std::span<const Qubit> targets,
                       bool check_unitary = true);
  /// exp(-i angle/2 P) with `letters[j]` in "XYZ" acting on targets[j].
  Circuit& add_pauli_rotation(const Angle& angle, std::string_view letters, std::span<const Qubit> targets,
                              std::span<const Qubit> controls = {});
  /// What append(qubits of `controls`) appends, between flips of those that are met on 0. Where it throws, nothing is
  /// appended.
  Circuit& between_flips(std::span<const ControlQubit> controls,
                         const std::function<void(std::span<const Qubit> qubits)>& append);
  Circuit& add_measure(Qubit qubit, Clbit clbit);
  Circuit& add_reset(Qubit qubit);
  Circuit& add_barrier(std::span<const Qubit> qubits);

  // The gates by their names: angles, controls, targets.
  Circuit &id(Qubit q), &x(Qubit q), &y(Qubit q), &z(Qubit q), &h(Qubit q), &s(Qubit q), &sdg(Qubit q), &t(Qubit q);
  Circuit &tdg(Qubit q), &sx(Qubit q), &sxdg(Qubit q), &swap(Qubit a, Qubit b), &iswap(Qubit a, Qubit b);
  Circuit &dcx(Qubit a, Qubit b), &dcxdg(Qubit a, Qubit b), &ecr(Qubit a, Qubit b), &rccx(Qubit a, Qubit b, Qubit q);
  Circuit &rc3x(Qubit a, Qubit b, Qubit c, Qubit q), &rc3xdg(Qubit a, Qubit b, Qubit c, Qubit q);
  Circuit &rx(Angle angle, Qubit q), &ry(Angle angle, Qubit q), &rz(Angle angle, Qubit q), &p(Angle angle, Qubit q);
  Circuit &u0(Angle angle, Qubit q), &u2(Angle phi, Angle lambda, Qubit q), &r(Angle theta, Angle phi, Qubit q);
  Circuit& u(Angle theta, Angle phi, Angle lambda, Qubit q);
  Circuit& cu3(Angle theta, Angle phi, Angle lambda, Qubit c, Qubit q);
  Circuit& uphase(Angle theta, Angle phi, Angle lambda, Angle gamma, Qubit q);
  Circuit& cu(Angle theta, Angle phi, Angle lambda, Angle gamma, Qubit c, Qubit q);
  Circuit &rxx(Angle angle, Qubit a, Qubit b), &ryy(Angle angle, Qubit a, Qubit b), &rzz(Angle angle, Qubit a, Qubit b);
  Circuit &rzx(Angle angle, Qubit a, Qubit b), &xx_minus_yy(Angle theta, Angle beta, Qubit a, Qubit b);
  Circuit& xx_plus_yy(Angle theta, Angle beta, Qubit a, Qubit b);
  Circuit &cx(Qubit c, Qubit q), &cy(Qubit c, Qubit q), &cz(Qubit c, Qubit q), &ch(Qubit c, Qubit q);
  Circuit &cs(Qubit c, Qubit q), &csdg(Qubit c, Qubit q), &csx(Qubit c, Qubit q), &ccx(Qubit c, Qubit d, Qubit q);
  Circuit &ccz(Qubit c, Qubit d, Qubit q), &c3x(Qubit c, Qubit d, Qubit e, Qubit q);
  Circuit &c3sx(Qubit c, Qubit d, Qubit e, Qubit q), &c4x(Qubit c, Qubit d, Qubit e, Qubit f, Qubit q);
  Circuit &crx(Angle angle, Qubit c, Qubit q), &cry(Angle angle, Qubit c, Qubit q), &crz(Angle angle, Qubit c, Qubit q);
  Circuit &cp(Angle angle, Qubit c, Qubit q), &cswap(Qubit c, Qubit a, Qubit b);

  struct EndWhen {
    std::int32_t outer = -1;
    void operator()(Circuit* circuit) const { circuit->current_condition_ = outer; }
  };
  using When = std::unique_ptr<Circuit, EndWhen>;
  /// While what it gives lives, operations that are appended run only where the condition holds. It ends before an
  /// outer one does, and before the circuit is moved.
  [[nodiscard]] When when(const Condition& condition);

  /// Copies `op` of `other` (same qubit numbering) with all its operands, and its condition unless it is to have none.
  void append(const Circuit& other, const Operation& op, bool with_condition = true);
  /// The same registers, parameters, initial bits and classical end; no operations, but room for as many.
  Circuit without_operations() const;
  void truncate(std::size_t operations);  // takes back the operations from that number on

  const std::vector<std::string>& parameters() const { return parameters_; }  // names, in the order of first use
  /// Gives parameters these places in parameters() before they are used.
  void name_parameters(std::span<const std::string> names);
  /// The circuit with values[i] put in for parameters()[i]. UsageError as require_values(), and for angles that are not
  /// finite then.
  Circuit bind(std::span<const double> values) const;
  /// UsageError where there is not one for each parameter, or one is not finite.
  void require_values(std::span<const double> values) const;

  std::uint32_t qubits() const { return qubits_; }
  std::uint32_t clbits() const { return clbits_; }
  const std::vector<Register>& qregs() const { return qregs_; }
  const std::vector<Register>& cregs() const { return cregs_; }
  std::vector<Register> shown_cregs() const;  // those with a name
  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<Condition>& conditions() const { return conditions_; }
  std::span<const Qubit> controls(const Operation& op) const;
  std::span<const Qubit> targets(const Operation& op) const;
  std::span<const std::uint32_t> letters(const Operation& op) const;  // kPauliRotation: 1, 2, 3 = X, Y, Z
  Clbit clbit(const Operation& op) const;                             // kMeasure
  std::span<const double> params(const Operation& op) const;  // angles (of open ones the constant), or matrix: re, im
  /// Multiples of parameters that are added to angle number `param` of the circuit, as Operation::param_begin counts.
  struct OpenTerm {
    std::uint32_t parameter = 0;  // index into parameters()
    double factor = 1;
  };
  std::span<const OpenTerm> open_terms(std::uint64_t param) const;
  /// Matrix on the targets alone (controls left out); kGate, kUnitary and kPauliRotation.
  Matrix matrix(const Operation& op) const;

  /// Longest chain of operations that share qubits or bits, and all of them. Barriers order operations, uncounted.
  std::uint64_t depth() const, operation_count() const;
  /// The circuit's inverse; UnsupportedError for measure, reset, conditions and classical control.
  Circuit inverse() const;
  bool measures() const;  // anything
  /// True when every measurement is terminal (neither its qubit nor its bit is used later) and there is no reset,
  /// condition or classical control.
  bool measurements_are_terminal() const;

  /// What readers of programs make: the operations, all unitary, are its blocks and run as it says; registers as here.
  void set_control(std::shared_ptr<const Control> control);
  const Control* control() const { return control_.get(); }
  /// What is computed from the classical bits when the operations have run.
  void set_finish(std::shared_ptr<const Finish> finish);
  const Finish* finish() const { return finish_.get(); }

 private:
  friend struct SourceLines;
  Operation& append_operation(OpKind kind, std::span<const Qubit> controls, std::span<const Qubit> targets);
  std::int32_t intern_condition(const Condition& condition);
  std::uint32_t parameter_index(const std::string& name);     // in parameters_, where it is put if it is new
  void open_last(const Angle& angle, std::size_t back = 0);   // notes what is open of the last angle but `back`
  void open_inverse(const Circuit& of, const Operation& op);  // the same of the last operation, the inverse of `op`

  std::uint32_t qubits_ = 0, clbits_ = 0, current_line_ = 0;
  std::vector<Register> qregs_, cregs_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> operands_;
  std::vector<double> params_;
  std::vector<Condition> conditions_;
  std::vector<std::string> parameters_;
  std::map<std::string, std::uint32_t> numbers_;         // their places in parameters_
  std::map<std::uint64_t, std::vector<OpenTerm>> open_;  // by place in params_
  std::shared_ptr<const Control> control_;
  std::shared_ptr<const Finish> finish_;
  std::vector<bool> initial_;  // of classical bits; shorter when the rest is 0
  std::int32_t current_condition_ = -1;
};

}  // namespace qsim
