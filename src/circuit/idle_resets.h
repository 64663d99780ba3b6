// Resets that do nothing.
#pragma once

#include <optional>

#include "qsim/circuit.h"

namespace qsim {

/// `circuit` without resets of qubits that nothing has touched yet, which are |0> already; nullopt where there are
/// none.
std::optional<Circuit> without_idle_resets(const Circuit& circuit);

}  // namespace qsim
