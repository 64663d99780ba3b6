// OpenQASM 3 as it is lowered, before it becomes a circuit.
#pragma once

#include <string_view>

#include "classical/flow.h"
#include "qsim/qasm.h"

namespace qsim {

/// OpenQASM 3 with everything that measurements decide. Errors as parse_qasm().
Flow parse_flow(std::string_view text, const QasmOptions& options = {});

}  // namespace qsim
