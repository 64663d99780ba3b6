// A run that has been timed, as pictures.
#pragma once

#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/program/planned_circuit.h"
#include "runtime/profile.h"

namespace qsim {

/// What was planned, what was done when, and how near the sweeps of rank 0 came to the machine's ceilings: of one plan;
/// a program of several is drawn without that.
RunPictures run_pictures(const PlannedCircuit& program, const Machine& machine, const RankSpans& spans);

}  // namespace qsim
