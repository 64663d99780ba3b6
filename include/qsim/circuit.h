// A quantum circuit as a flat list of operations over pooled operands: 1,000,000 gates take well under 100 MB.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qsim/control.h"
#include "qsim/gate.h"
#include "qsim/types.h"

namespace qsim {

/// A named register: bits [first, first + size) of all qubits (or classical bits) in declaration order.
struct Register {
  std::string name;
  std::uint32_t first = 0;
  std::uint32_t size = 0;
  friend bool operator==(const Register&, const Register&) = default;
};

enum class OpKind : std::uint8_t {
  kGate,           // row of the gate table with controls
  kUnitary,        // arbitrary 2^t x 2^t matrix on t targets, with controls
  kPauliRotation,  // exp(-i angle/2 P), P a product of X, Y, Z on the targets, with controls
  kMeasure,        // target qubit -> classical bit
  kReset,
  kBarrier,
};

/// Runs only when the classical register `creg`, read as an unsigned number, equals `value` (`negated`: differs).
struct Condition {
  std::uint32_t creg = 0;
  Index value = 0;
  bool negated = false;
  std::vector<Index> high = {};  // bits 64.. of the number, 64 a word; never set for registers of fewer than 64 bits
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// One operation; its operands live in the circuit's pools and are read through Circuit's accessors.
struct Operation {
  OpKind kind = OpKind::kGate;
  Gate gate = Gate::kId;  // kGate only
  std::uint16_t controls = 0;
  std::uint32_t targets = 0;
  std::uint32_t operand_begin = 0;  // controls, then targets, then (kPauliRotation) a letter 1..3 = X..Z for each
                                    // target, (kMeasure) the classical bit
  std::uint64_t param_begin = 0;    // angles; kUnitary: re, im pairs of the matrix, row-major
  std::int32_t condition = -1;      // index into Circuit::conditions(), -1 = always
  std::uint32_t line = 0;           // source line, 0 = none
};

/// Circuit over `qubits` qubits and named classical registers. Every `add_*` checks its operands and throws
/// CircuitError.
class Circuit {
 public:
  Circuit() = default;
  /// One quantum register "q" of `qubits` and, when clbits > 0, one classical register "c".
  explicit Circuit(std::uint32_t qubits, std::uint32_t clbits = 0);

  std::uint32_t add_qreg(const std::string& name, std::uint32_t size);  // returns its index
  std::uint32_t add_creg(const std::string& name, std::uint32_t size);
  /// Value of a classical bit before the first operation; 0 unless it is set.
  void set_initial(Clbit clbit, bool value);
  bool initial(Clbit clbit) const { return clbit < initial_.size() && initial_[clbit]; }

  /// Appends gate `gate` (angles in radians; those beyond 4 pi are kept reduced, which no gate can tell). Controls come
  /// first; a repeated or out-of-range qubit is an error.
  void add_gate(Gate gate, std::span<const Qubit> controls, std::span<const Qubit> targets,
                std::span<const double> params = {});
  /// Appends a matrix of order 2^targets (row-major, bit j of an index is target j). Checked to be unitary to 1e-10
  /// unless `check_unitary` is false.
  void add_unitary(std::span<const Complex> matrix, std::span<const Qubit> controls, std::span<const Qubit> targets,
                   bool check_unitary = true);
  /// Appends exp(-i angle/2 P) with `letters[j]` in "XYZ" acting on targets[j].
  void add_pauli_rotation(double angle, std::string_view letters, std::span<const Qubit> targets,
                          std::span<const Qubit> controls = {});
  void add_measure(Qubit qubit, Clbit clbit);
  void add_reset(Qubit qubit);
  void add_barrier(std::span<const Qubit> qubits);
  /// Copies `op` of `other` (same qubit numbering) with all its operands; its condition too.
  void append(const Circuit& other, const Operation& op);
  /// The same without the condition.
  void append_unconditional(const Circuit& other, Operation op);

  /// The operations run as `control` says, not in their order: they are its blocks, and all unitary. Its registers are
  /// the circuit's.
  void set_control(Control control);
  const Control* control() const { return control_ ? &*control_ : nullptr; }

  /// Takes back the operations from number `operations` on.
  void truncate(std::size_t operations);

  /// The operations appended until the next call carry this condition / this source line (end with clear_condition()).
  void set_condition(const Condition& condition);
  void clear_condition() { current_condition_ = -1; }
  void set_line(std::uint32_t line) { current_line_ = line; }

  // Short forms for the commonest gates.
  void h(Qubit q);
  void x(Qubit q);
  void cx(Qubit control, Qubit target);
  void cp(double angle, Qubit control, Qubit target);
  void swap(Qubit a, Qubit b);

  std::uint32_t qubits() const { return qubits_; }
  std::uint32_t clbits() const { return clbits_; }
  const std::vector<Register>& qregs() const { return qregs_; }
  const std::vector<Register>& cregs() const { return cregs_; }
  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<Condition>& conditions() const { return conditions_; }
  std::span<const Qubit> controls(const Operation& op) const;
  std::span<const Qubit> targets(const Operation& op) const;
  std::span<const std::uint32_t> letters(const Operation& op) const;  // kPauliRotation: 1, 2, 3 = X, Y, Z
  Clbit clbit(const Operation& op) const;                             // kMeasure
  std::span<const double> params(const Operation& op) const;          // angles, or the matrix as re, im pairs
  /// Matrix on the targets alone (controls left out); kGate, kUnitary and kPauliRotation.
  Matrix matrix(const Operation& op) const;

  /// Longest chain of operations that share a qubit or a classical bit (barriers count as dependencies, not as levels).
  std::uint64_t depth() const;
  /// Number of operations without barriers.
  std::uint64_t operation_count() const;
  /// How far the circuit itself may move the norm of a state: what its matrices lack of being unitary, added up.
  double unitarity_defect() const;
  /// The circuit's inverse; throws UnsupportedError for measure, reset, conditions and control.
  Circuit inverse() const;
  /// True when something is measured.
  bool measures() const;
  /// True when every measurement is terminal (neither its qubit nor its bit is used later) and there is no reset,
  /// condition or control.
  bool measurements_are_terminal() const;

 private:
  Operation& append_operation(OpKind kind, std::span<const Qubit> controls, std::span<const Qubit> targets);
  std::int32_t intern_condition(const Condition& condition);

  std::uint32_t qubits_ = 0, clbits_ = 0;
  std::vector<Register> qregs_, cregs_;
  std::vector<Operation> operations_;
  std::vector<std::uint32_t> operands_;
  std::vector<double> params_;
  std::vector<Condition> conditions_;
  std::optional<Control> control_;
  std::vector<bool> initial_;  // of classical bits; shorter when the rest is 0
  std::int32_t current_condition_ = -1;
  std::uint32_t current_line_ = 0;
};

}  // namespace qsim
