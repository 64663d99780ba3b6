// A circuit as plans and what joins them.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "classical/control.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"

namespace qsim {

/// A dynamic circuit: plans joined by measurements and resets. A circuit with terminal measurements is one plan.
struct Step {
  enum class Kind : std::uint8_t { kPlan, kMeasure, kReset, kClassical } kind = Kind::kPlan;
  std::int32_t condition = -1;  // index into PlannedCircuit::conditions
  std::uint32_t plan = 0;       // kPlan: index into PlannedCircuit::plans
  std::uint32_t draw = 0;       // kMeasure, kReset: which of a shot's random words decides; no two steps share one
  Qubit qubit = 0;              // kMeasure, kReset
  Clbit clbit = 0;              // kMeasure; where there is control: the variable
  FlowStep flow = {};           // where there is control: what the step was made of; jumps go to steps of this program
};
struct PlannedCircuit {
  std::vector<Plan> plans;
  std::vector<Step> steps;  // without the terminal measurements
  std::vector<Condition> conditions;
  std::vector<std::pair<Qubit, Clbit>> terminal_measures;  // in program order; a later one of the same bit wins
  std::uint32_t terminal_draw = 0;                         // as Step::draw, of the terminal measurements together
  std::optional<Control> control;  // its variables, expressions and outputs; conditions and terminal measures are empty
  bool dynamic = false;            // has a measure, reset or condition among its steps

  /// Measurements and resets among the steps, each of which may split a branch in two.
  std::uint64_t collapses() const;
};
PlannedCircuit plan_circuit(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

}  // namespace qsim
