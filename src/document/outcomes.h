// Outcomes of classical bits: their order, two tables side by side, and how they are written.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "qsim/circuit.h"
#include "qsim/session.h"

namespace qsim {

/// The words of an outcome, or of all classical bits: the last one is the most significant.
using OutcomeWords = std::span<const std::uint64_t>;

/// As numbers of as many words.
inline std::strong_ordering compare_outcomes(OutcomeWords a, OutcomeWords b) {
  for (std::size_t word = a.size(); word-- > 0;) {
    if (a[word] != b[word]) return a[word] <=> b[word];
  }
  return std::strong_ordering::equal;
}

/// Calls visit(words, value in `first`, value in `second`) for each outcome of either; 0 where it is not listed.
template <typename Value, typename Visitor>
void visit_both(const Outcomes<Value>& first, const Outcomes<Value>& second, Visitor&& visit) {
  for (std::size_t i = 0, j = 0; i < first.size() || j < second.size();) {
    const auto order = i == first.size()    ? std::strong_ordering::greater
                       : j == second.size() ? std::strong_ordering::less
                                            : compare_outcomes(first[i], second[j]);
    const OutcomeWords words = order <= 0 ? first[i] : second[j];
    const Value in_first = order <= 0 ? first.values[i++] : Value{};
    const Value in_second = order >= 0 ? second.values[j++] : Value{};
    visit(words, in_first, in_second);
  }
}

/// How many of the classical bits are in outcomes: the first ones, those of `registers` with a name.
std::uint32_t shown_bits(std::span<const Register> registers);

/// Writes the bits behind `text` as Qiskit does: right-most character is bit 0, registers separated by a space, the
/// last declared leftmost. Without registers that have no name.
void append_bits(std::string& text, OutcomeWords words, std::span<const Register> registers);

/// The same alone.
std::string bits_text(OutcomeWords words, std::span<const Register> registers);

/// The bit string of a basis state: right-most character is qubit 0; "" for no qubits.
std::string bit_string(Index index, std::uint32_t qubits);

}  // namespace qsim
