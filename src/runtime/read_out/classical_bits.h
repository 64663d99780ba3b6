// The classical bits of a run, and how they are written: right-most character is bit 0, registers separated by a space,
// the last declared leftmost.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "classical/control.h"
#include "document/result.h"
#include "qsim/circuit.h"

namespace qsim {

using ClassicalBits = std::vector<bool>;

/// What the classical bits are before the first operation.
ClassicalBits initial_bits(const Circuit& circuit);
/// Without registers that have no name.
std::string bit_string(const ClassicalBits& bits, std::span<const Register> registers);
/// Whether `condition` holds for its register, read as an unsigned number of any width.
bool condition_holds(const Condition& condition, const ClassicalBits& bits, std::span<const Register> registers);

/// What terminal measurements make of a logical index.
class TerminalMeasurements {
 public:
  /// `measures` in program order; a later one of the same bit wins.
  TerminalMeasurements(std::span<const std::pair<Qubit, Clbit>> measures, std::size_t clbits);
  /// Qubits that reach a classical bit.
  Index mask() const { return mask_; }
  /// Which qubit each written classical bit gets its value from.
  std::span<const std::pair<Qubit, Clbit>> kept() const { return kept_; }
  void write(Index logical, ClassicalBits& bits) const;

 private:
  std::vector<std::pair<Qubit, Clbit>> kept_;
  Index mask_ = 0;
};

constexpr std::uint64_t kMaxClassicalSteps = std::uint64_t{1} << 24;  // of one branch

/// Does the classical `step`, number `place`, and returns the next one's. ParseError where it has no value.
std::size_t do_classical(const Control& control, const FlowStep& step, std::size_t place, Variables& variables);

/// Values of the variables that results hold by value.
class VariableReader {
 public:
  /// `circuit` must outlive the reader.
  explicit VariableReader(const Circuit& circuit) : circuit_(circuit), outputs_(result_variables(circuit)) {}
  bool any() const { return !outputs_.empty(); }
  const std::vector<FlowOutput>& outputs() const { return outputs_; }
  /// `bits`: the classical ones at the end of a branch; `memory`: its variables, where there is control. ParseError,
  /// UnsupportedError.
  VariableValues read(const ClassicalBits& bits, const Variables& memory) const;

 private:
  Variables finished(const ClassicalBits& bits) const;

  const Circuit& circuit_;
  std::vector<FlowOutput> outputs_;
};

}  // namespace qsim
