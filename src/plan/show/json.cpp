// The qsim.plan/1 document.
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "document/json_parts.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "plan/program/forecast.h"
#include "plan/program/layout.h"
#include "plan/show/show.h"
#include "plan/show/steps.h"
#include "qsim/types.h"

namespace qsim {
namespace {

using Json = nlohmann::ordered_json;

// Byte counts may pass 2^53, so they are text.
Json decimal(std::uint64_t value) { return std::to_string(value); }
Json bits_json(Index mask) {
  Json list = Json::array();
  for (; mask != 0; mask &= mask - 1) list.push_back(std::countr_zero(mask));
  return list;
}

Json exchange_json(const Exchange& exchange) {
  Json swaps = Json::array();
  for (const auto& [local, global] : exchange.swaps) swaps.push_back(Json::array({local, global}));
  return {{"swaps", std::move(swaps)},
          {"chunk_bits", bits_json(exchange.chunk_mask)},
          {"unborn_bits", bits_json(exchange.unborn)},
          {"overlap_before", exchange.overlap_before},
          {"overlap_after", exchange.overlap_after},
          {"predicted_s", exchange.predicted_seconds},
          {"predicted_added_s", exchange.predicted_added_seconds}};
}

Json sweep_json(const Sweep& sweep) {
  std::uint64_t gates = 0;
  for (const PlanOp& op : sweep.ops) gates += op.gates;
  Json births = Json::array();
  for (const Birth& birth : sweep.births) births.push_back(birth.bit);
  Json reach = Json::array();
  for (const Index mask : sweep.reach) {
    Json& bits = reach.emplace_back(Json::array());
    for_each_bit(mask, [&](unsigned bit) { bits.push_back(bit); });
  }
  return {{"active_bits", sweep.active},
          {"operations", sweep.ops.size()},
          {"predicted_s", sweep.predicted_seconds},
          {"gates", gates},
          {"permutes", sweep.permutes()},
          {"reads", sweep.reads},
          {"births", std::move(births)},
          {"store_bits", sweep.store},
          {"reach_bits", std::move(reach)}};
}

Json stages_json(const Plan& plan) {
  Json stages = Json::array();
  for (const Stage& stage : plan.stages) {
    Json sweeps = Json::array();
    for (const Sweep& sweep : stage.sweeps) sweeps.push_back(sweep_json(sweep));
    stages.push_back({{"exchange", stage.exchange ? exchange_json(*stage.exchange) : Json(nullptr)},
                      {"layout", stage.layout.bit_of},
                      {"sweeps", std::move(sweeps)}});
  }
  return stages;
}

Json trace_json(const Plan& plan) {
  if (plan.trace.empty()) return nullptr;
  Json trace = Json::array();
  for (const TraceEntry& entry : plan.trace) {
    const bool placed = entry.stage >= 0;
    trace.push_back({{"operation", entry.operation},
                     {"stage", placed ? Json(entry.stage) : Json(nullptr)},
                     {"sweep", placed ? Json(entry.sweep) : Json(nullptr)},
                     {"op", placed ? Json(entry.op) : Json(nullptr)},
                     {"note", parts::text_or_null<Json>(entry.note)}});
  }
  return trace;
}

std::string dump(const Json& document) { return parts::text_of(document, 2) + "\n"; }

Json start_document(const CircuitSummary& circuit, bool ok) {
  return {{"schema", "qsim.plan/1"}, {"ok", ok}, {"circuit", parts::circuit_json<Json>(circuit)}};
}

// What a run does and takes; machine, ranks and precision are those of `plan`.
void add_work(Json& json, const Plan& plan, const PlanWork& work, const PoolLayout& pool, const Machine& machine) {
  json["device"] = machine.name;
  json["ranks"] = std::uint64_t{1} << plan.rank_bits;
  json["precision"] = name_of(plan.precision);
  json["tile_bits"] = plan.tile_bits;
  json["sweeps"] = work.sweeps;
  json["exchanges"] = work.exchanges;
  json["bytes_swept_per_rank"] = decimal(work.bytes_swept_per_rank);
  json["bytes_exchanged_per_rank"] = decimal(work.bytes_exchanged_per_rank);
  json["memory_bytes_per_rank"] = {
      {"state", decimal(pool.state_bytes)},
      {"chunks", decimal(pool.chunk_bytes * pool.chunk_slots)},
      {"tables", decimal(pool.table_bytes)},
      {"scratch", decimal(pool.scratch_bytes + pool.spare_bytes + pool.step_bytes + pool.snapshot_bytes)},
      {"total", decimal(pool.total_bytes())}};
  json["predicted_time_s"] = {
      {"sweeps", work.sweep_seconds}, {"exchange", work.exchange_seconds}, {"total", work.total_seconds}};
  const bool memory_known = machine.memory_bytes_per_rank > 0;
  json["fits"] = memory_known ? Json(pool.total_bytes() <= machine.memory_bytes_per_rank) : Json(nullptr);
  json["largest_qubits"] = memory_known ? Json(largest_qubits(machine, plan.precision, plan.rank_bits)) : Json(nullptr);
}

// What the planner did with the gates of all plans.
void add_gates(Json& json, std::span<const Plan> plans) {
  std::uint64_t gates = 0, removed = 0, refused = 0;
  std::map<std::string, std::uint64_t> merged;
  for (const Plan& plan : plans) {
    gates += plan.gates;
    removed += plan.gates_removed;
    refused += plan.rewrites_refused;
    for (const auto& [kind, count] : plan.merged) merged[kind] += count;
  }
  json["gates"] = gates;
  json["gates_removed"] = removed;
  json["rewrites_refused"] = refused;
  json["merged"] = merged;
}

std::string finish_document(Json& json, const std::vector<std::string>& warnings) {
  json["exit_code"] = 0;
  json["warnings"] = warnings;
  json["error"] = nullptr;
  return dump(json);
}

}  // namespace

std::string plan_json(const Plan& plan, const Machine& machine, const CircuitSummary& circuit,
                      const std::vector<std::string>& warnings, std::span<const RanksForecast> forecasts) {
  Json json = start_document(circuit, true);
  add_work(json, plan, plan_work(plan), pool_layout(plan, machine), machine);
  const bool memory_known = machine.memory_bytes_per_rank > 0;
  json["by_ranks"] = Json::array();
  for (const RanksForecast& forecast : forecasts) {
    json["by_ranks"].push_back({{"ranks", std::uint64_t{1} << forecast.rank_bits},
                                {"predicted_s", forecast.seconds},
                                {"sweeps", forecast.sweeps},
                                {"exchanges", forecast.exchanges},
                                {"memory_bytes_per_rank", decimal(forecast.memory_bytes_per_rank)},
                                {"fits", memory_known ? Json(forecast.fits) : Json(nullptr)}});
  }
  add_gates(json, {&plan, 1});
  json["stages"] = stages_json(plan);
  json["final_layout"] = plan.final_layout.bit_of;
  json["trace"] = trace_json(plan);
  json["program"] = nullptr;
  return finish_document(json, warnings);
}

std::string program_json(const PlannedCircuit& program, const Circuit& circuit, const Machine& machine,
                         const CircuitSummary& summary, const std::vector<std::string>& warnings) {
  Json json = start_document(summary, true);
  const Plan& first = program.plans.front();
  add_work(json, first, program_work(program), program_layout(program, machine, first.rank_bits), machine);
  json["by_ranks"] = nullptr;
  add_gates(json, program.plans);
  for (const char* key : {"stages", "final_layout", "trace"}) json[key] = nullptr;
  Json plans = Json::array();
  for (const Plan& plan : program.plans) {
    const PlanWork work = plan_work(plan);
    plans.push_back({{"gates", plan.gates},
                     {"sweeps", work.sweeps},
                     {"exchanges", work.exchanges},
                     {"predicted_s", work.total_seconds},
                     {"stages", stages_json(plan)},
                     {"final_layout", plan.final_layout.bit_of}});
  }
  Json steps = Json::array();
  for (const Step& step : program.steps) {
    const StepText text = step_text(program, circuit, step);
    steps.push_back({{"kind", text.kind},
                     {"plan", step.kind == Step::Kind::kPlan ? Json(step.plan) : Json(nullptr)},
                     {"text", text.text},
                     {"condition", parts::text_or_null<Json>(text.condition)},
                     {"to", jumps(step.flow) ? Json(step.flow.b) : Json(nullptr)},
                     {"line", step.flow.line == 0 ? Json(nullptr) : Json(step.flow.line)}});
  }
  json["program"] = {{"plans", std::move(plans)},
                     {"steps", std::move(steps)},
                     {"branch_state_bytes_per_rank", decimal(pool_layout(first, machine).state_bytes)}};
  return finish_document(json, warnings);
}

std::string plan_error_json(const CircuitSummary& circuit, const Failure& failure,
                            const std::vector<std::string>& warnings) {
  Json json = start_document(circuit, false);
  for (const char* key : {"device",
                          "ranks",
                          "precision",
                          "tile_bits",
                          "sweeps",
                          "exchanges",
                          "bytes_swept_per_rank",
                          "bytes_exchanged_per_rank",
                          "memory_bytes_per_rank",
                          "predicted_time_s",
                          "fits",
                          "largest_qubits",
                          "by_ranks",
                          "gates",
                          "gates_removed",
                          "rewrites_refused",
                          "merged",
                          "stages",
                          "final_layout",
                          "trace",
                          "program"}) {
    json[key] = nullptr;
  }
  json["exit_code"] = static_cast<int>(failure.code);
  json["warnings"] = warnings;
  json["error"] = parts::error_json<Json>(failure);
  return dump(json);
}

}  // namespace qsim
