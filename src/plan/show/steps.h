// The steps of a program in words.
#pragma once

#include <string>

#include "plan/plan.h"
#include "plan/program/planned_circuit.h"

namespace qsim {

struct StepText {
  std::string kind;       // "plan", "measure", "reset", "assign", "branch", "jump"
  std::string text;       // "measure q[2] -> c[0]"
  std::string condition;  // "c == 3"; empty: always
};
StepText step_text(const PlannedCircuit& program, const Circuit& circuit, const Step& step);

/// The work of all plans, each once.
PlanWork program_work(const PlannedCircuit& program);

}  // namespace qsim
