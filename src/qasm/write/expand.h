// Operations without an OpenQASM name, written as bodies of gate definitions over qelib1.inc, or stdgates.inc and u.
#pragma once

#include <string>

#include "qsim/qasm.h"

namespace qsim {

/// Shortest decimal form that reads back to the same double and is a real number in OpenQASM 2.
std::string qasm_real(double value);

/// Body of a gate definition that does what `op` does up to a global phase; its arguments are a0, a1, ... = controls,
/// then targets. Empty when nothing is left to do. UnsupportedError when the body would be too long.
std::string expand_operation(const Circuit& circuit, const Operation& op, QasmVersion version = QasmVersion::k2);

}  // namespace qsim
