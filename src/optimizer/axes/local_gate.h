// Any gate on one qubit as Hadamard gates, rotations and phases.
#pragma once

#include "base/numbers/matrix2.h"
#include "qsim/circuit.h"

namespace qsim {

/// Whether the angle is a whole number of `parts`-ths of a turn.
bool is_of_parts(double angle, unsigned parts);

/// Appends the gate, with the phases beside a Hadamard gate or a rotation where it is that. `rounding`: what its angles
/// may be off. Returns the phase (radians) that is not in what was appended.
double append_local_gate(Circuit& out, Qubit wire, const Matrix2& matrix, double rounding);

}  // namespace qsim
