// What may be asked of a state: qubits and indices that it has.
#pragma once

#include <span>
#include <vector>

#include "base/ranks/agreement.h"
#include "qsim/pauli.h"
#include "qsim/types.h"
#include "runtime/read_out/answers.h"

namespace qsim {

/// UsageError for a list of qubits that is empty, names one twice, or one beyond the last of `qubits`.
void require_probabilities(std::span<const Qubit> list, std::uint32_t qubits);
/// UsageError for an index of no basis state.
void require_amplitude(Index index, std::uint32_t qubits);
/// UsageError for a string that names a qubit beyond the last, and for a coefficient that is not finite.
void require_expectation(const PauliString& pauli, std::uint32_t qubits);
void require_expectation(const PauliSum& sum, std::uint32_t qubits);

/// What ranks must be asked alike, but for shots and seeds.
std::vector<Fact> facts_of(const ReadOuts& asked);

}  // namespace qsim
