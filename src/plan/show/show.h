// Plans as text, as JSON and as pictures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/program/forecast.h"
#include "plan/program/planned_circuit.h"

namespace qsim {

/// `qsim plan`'s text: a timetable of stages, exchanges and sweeps, and what other numbers of ranks would take.
std::string plan_text(const Plan& plan, const Machine& machine, std::span<const RanksForecast> forecasts = {});

/// The `qsim.plan/1` document of a plan, and of a failure to plan (every key null but circuit, exit_code, error).
std::string plan_json(const Plan& plan, const Machine& machine, const CircuitSummary& circuit,
                      const std::vector<std::string>& warnings = {}, std::span<const RanksForecast> forecasts = {});
std::string plan_error_json(const CircuitSummary& circuit, const Failure& failure,
                            const std::vector<std::string>& warnings = {});

/// `qsim plan`'s text of a circuit that is several plans: its steps, its plans, and what its branches take.
std::string program_text(const PlannedCircuit& program, const Circuit& circuit, const Machine& machine);

/// The `qsim.plan/1` document of such a circuit: sums over its plans, each once, and the key `program`.
std::string program_json(const PlannedCircuit& program, const Circuit& circuit, const Machine& machine,
                         const CircuitSummary& summary, const std::vector<std::string>& warnings = {});

/// The timetable of a plan, or of all plans of a program, as SVG: a row for each rank, as long as predicted.
std::string plan_svg(const Plan& plan, const Machine& machine, std::size_t width = 1000);
std::string program_svg(const PlannedCircuit& program, const Machine& machine, std::size_t width = 1000);

}  // namespace qsim
