// Circuits of open angles as the passes take them.
#pragma once

#include <span>

#include "optimizer/open/open_angles.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"

namespace qsim {

/// Writes every gate with an open angle as fixed gates around rotations about Z and controlled phases: those alone are
/// open in the circuit that comes out. Its parameters are the angles by number, "0", "1", ...; the constant of an open
/// angle is its value at `point`. Barriers and measurements, which must be terminal, are dropped.
Rewritten open_form(const Circuit& circuit, const OpenAngles& angles, std::span<const double> point);

}  // namespace qsim
