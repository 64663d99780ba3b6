// A parametric circuit as the data that batch loops walk.
#pragma once

#include "device/batch_program.h"
#include "qsim/batch.h"

namespace qsim {

BatchProgram batch_program(const ParametricCircuit& circuit);

}  // namespace qsim
