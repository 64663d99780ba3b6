// The classical bits of a run, and how they are written: right-most character is bit 0, registers separated by a space,
// the last declared leftmost.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "qsim/circuit.h"

namespace qsim {

using ClassicalBits = std::vector<bool>;

/// What the classical bits are before the first operation.
ClassicalBits initial_bits(const Circuit& circuit);
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

}  // namespace qsim
