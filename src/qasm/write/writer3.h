// Circuits as text of OpenQASM 3.1.
#pragma once

#include <string>

#include "qsim/circuit.h"

namespace qsim {

std::string write_qasm3(const Circuit& circuit);

}  // namespace qsim
