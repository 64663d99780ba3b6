#include "plan/show/steps.h"

#include "qasm/write/control.h"
#include "qasm/write/definitions.h"

namespace qsim {
namespace {

const char kVariable[] = "v";

// "c[3]"
std::string bit_text(std::span<const Register> registers, std::uint32_t bit) {
  for (const Register& each : registers) {
    if (bit - each.first < each.size) return each.name + '[' + std::to_string(bit - each.first) + ']';
  }
  return std::to_string(bit);
}

std::string condition_text(const PlannedCircuit& program, const Circuit& circuit, const Step& step) {
  if (step.condition < 0) return "";
  const Condition& condition = program.conditions.at(static_cast<std::size_t>(step.condition));
  return circuit.cregs()[condition.creg].name + (condition.negated ? " != " : " == ") + condition_number(condition);
}

}  // namespace

StepText step_text(const PlannedCircuit& program, const Circuit& circuit, const Step& step) {
  StepText made;
  made.condition = condition_text(program, circuit, step);
  const auto expression = [&](std::uint32_t of) { return expression_text(*program.control, of, kVariable); };
  switch (step.kind) {
    case Step::Kind::kPlan:
      return {"plan", "plan " + std::to_string(step.plan), made.condition};
    case Step::Kind::kInstrument: {
      const std::string& name = program.instruments.at(step.instrument).name;
      made = {name, name + ' ' + bit_text(circuit.qregs(), step.qubit), made.condition};
      if (!program.records(step)) return made;
      made.text += " -> ";
      made.text += program.control ? kVariable + std::to_string(step.clbit) : bit_text(circuit.cregs(), step.clbit);
      return made;
    }
    case Step::Kind::kClassical:
      break;
  }
  const FlowStep& flow = step.flow;
  if (flow.kind == FlowStep::Kind::kAssign) {
    return {"assign", kVariable + std::to_string(flow.a) + " = " + expression(flow.b), ""};
  }
  if (flow.kind == FlowStep::Kind::kJump) return {"jump", "go to " + std::to_string(flow.b), ""};
  return {"branch", "unless " + expression(flow.a) + " go to " + std::to_string(flow.b), ""};
}

PlanWork program_work(const PlannedCircuit& program) {
  PlanWork all;
  for (const Plan& plan : program.plans) {
    const PlanWork work = plan_work(plan);
    all.sweeps += work.sweeps;
    all.exchanges += work.exchanges;
    all.bytes_swept_per_rank += work.bytes_swept_per_rank;
    all.bytes_exchanged_per_rank += work.bytes_exchanged_per_rank;
    all.sweep_seconds += work.sweep_seconds;
    all.exchange_seconds += work.exchange_seconds;
    all.total_seconds += work.total_seconds;
  }
  return all;
}

}  // namespace qsim
