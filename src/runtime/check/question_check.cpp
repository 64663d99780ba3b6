#include "runtime/check/question_check.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "base/bits.h"
#include "qsim/error.h"

namespace qsim {
namespace {

std::vector<std::uint64_t> words_of(std::span<const PauliSum> sums) {
  std::vector<std::uint64_t> words;
  for (const PauliSum& sum : sums) {
    words.push_back(sum.terms.size());
    for (const PauliTerm& term : sum.terms) words.insert(words.end(), {term.pauli.x, term.pauli.z});
  }
  return words;
}

std::vector<std::uint64_t> words_of(std::span<const std::vector<Qubit>> lists) {
  std::vector<std::uint64_t> words;
  for (const std::vector<Qubit>& list : lists) {
    words.push_back(list.size());
    words.insert(words.end(), list.begin(), list.end());
  }
  return words;
}

}  // namespace

void require_probabilities(std::span<const Qubit> list, std::uint32_t qubits) {
  Index seen = 0;
  for (const Qubit qubit : list) {
    if (qubit >= qubits) {
      throw UsageError("`probabilities`: there is no qubit " + std::to_string(qubit) + ", there are " +
                       std::to_string(qubits));
    }
    if (test_bit(seen, qubit)) throw UsageError("`probabilities` names qubit " + std::to_string(qubit) + " twice");
    seen |= bit_mask(qubit);
  }
  if (list.empty()) throw UsageError("`probabilities` without a qubit");
}

void require_amplitude(Index index, std::uint32_t qubits) {
  if (index >> qubits == 0) return;
  throw UsageError("`amplitudes`: index " + std::to_string(index) + " is outside 0 .. 2^" + std::to_string(qubits) +
                   "-1");
}

void require_expectation(const PauliString& pauli, std::uint32_t qubits) {
  if ((pauli.x | pauli.z) >> qubits == 0) return;
  throw UsageError("`expectation`: " + pauli_text(pauli) + " names a qubit beyond the last one, " +
                   std::to_string(qubits - 1));
}

void require_expectation(const PauliSum& sum, std::uint32_t qubits) {
  for (const PauliTerm& term : sum.terms) {
    require_expectation(term.pauli, qubits);
    if (std::isfinite(term.coefficient)) continue;
    throw UsageError("`expectation`: the coefficient of " + pauli_text(term.pauli) + " is not a finite number");
  }
}

std::vector<Fact> facts_of(const ReadOuts& asked) {
  return {{"marginals", std::to_string(asked.marginals)},
          {"distribution", std::to_string(asked.distribution)},
          {"probabilities", digest_text(words_of(asked.probabilities))},
          {"amplitude indices", digest_text(asked.indices)},
          {"most probable amplitudes", std::to_string(asked.top)},
          {"amplitudes", std::to_string(asked.amplitudes)},
          {"expectation values", digest_text(words_of(asked.expectation))},
          {"state file", std::to_string(!asked.statevector.empty())},
          {"iterations", std::to_string(asked.max_iterations)}};
}

}  // namespace qsim
