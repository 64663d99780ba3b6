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
#include "plan/program/instrument.h"
#include "qsim/circuit.h"

namespace qsim {

/// A dynamic circuit: plans joined by instruments. A circuit with terminal measurements is one plan.
struct Step {
  enum class Kind : std::uint8_t { kPlan, kInstrument, kClassical } kind = Kind::kPlan;
  std::int32_t condition = -1;   // index into PlannedCircuit::conditions
  std::uint32_t plan = 0;        // kPlan: index into PlannedCircuit::plans
  std::uint32_t instrument = 0;  // kInstrument: index into PlannedCircuit::instruments
  Qubit qubit = 0;               // kInstrument
  Clbit clbit = 0;               // kInstrument, if it records; where there is control: the variable
  FlowStep flow = {};            // where there is control: what the step was made of; jumps go to steps of this program
};
struct PlannedCircuit {
  static constexpr std::uint32_t kMeasurement = 0, kReset = 1;  // among the instruments

  std::vector<Plan> plans;
  std::vector<Instrument> instruments = {measurement(), reset()};
  std::vector<Step> steps;  // without the terminal measurements
  std::vector<Condition> conditions;
  std::vector<std::pair<Qubit, Clbit>> terminal_measures;  // in program order; a later one of the same bit wins
  std::optional<Control> control;  // its variables, expressions and outputs; conditions and terminal measures are empty
  bool dynamic = false;            // has an instrument or condition among its steps

  /// Instruments among the steps, each of which may split a branch.
  std::uint64_t collapses() const;
  bool records(const Step& step) const {
    return step.kind == Step::Kind::kInstrument && instruments[step.instrument].records;
  }
};
/// The step of a measurement or reset.
Step collapse_step(const Circuit& circuit, const Operation& op, std::int32_t condition);
PlannedCircuit plan_circuit(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

}  // namespace qsim
