// The classical bits of a run, and what is read from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "classical/control.h"
#include "document/result.h"
#include "qsim/circuit.h"

namespace qsim {

/// Bit b is bit b % 64 of word b / 64.
class ClassicalBits {
 public:
  explicit ClassicalBits(std::size_t size = 0) : words_((size + 63) / 64) {}
  bool operator[](std::size_t bit) const { return test_bit(words_[bit / 64], bit % 64); }
  void set(std::size_t bit, bool value) {
    std::uint64_t& word = words_[bit / 64];
    word = value ? word | bit_mask(bit % 64) : word & ~bit_mask(bit % 64);
  }
  std::span<std::uint64_t> words() { return words_; }
  std::span<const std::uint64_t> words() const { return words_; }
  friend bool operator==(const ClassicalBits&, const ClassicalBits&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

/// What the classical bits are before the first operation.
ClassicalBits initial_bits(const Circuit& circuit);
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
  /// Qubits that go to bits of one word by the same turn.
  struct Move {
    std::size_t word = 0;
    int turn = 0;            // to the left
    std::uint64_t bits = 0;  // of the word
  };
  std::vector<std::pair<Qubit, Clbit>> kept_;
  std::vector<Move> moves_;
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
