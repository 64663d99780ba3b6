#include "runtime/check/question_check.h"

#include <string>

#include "base/bits.h"
#include "qsim/error.h"

namespace qsim {

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

}  // namespace qsim
