#include "cli/io/result/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "document/json_parts.h"
#include "document/show/json_stream.h"
#include "simulator/answers.h"

namespace qsim::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return parts::number_or_null<Json>(value); }
/// Seeds, indices and byte counts: they may pass 2^53, so they are text.
Json decimal(std::uint64_t value) { return std::to_string(value); }

template <class Value, class Convert>
Json optional_or_null(const std::optional<Value>& value, Convert convert) {
  return value ? convert(*value) : Json(nullptr);
}

/// The same object where nothing is known.
Json without_values(Json object) {
  for (auto& member : object) member = nullptr;
  return object;
}

Json conventions_json() {
  return {{"bitstring",
           "right-most character is bit 0 of the first declared register; classical registers are separated by a "
           "space, the last declared leftmost"},
          {"index", "qubit 0, the first of the first declared register, is the least significant bit"},
          {"pauli", "sparse: letter and qubit, as in 'Z0 X3'; dense: the right-most letter acts on qubit 0"}};
}

Json run_json(const RunSummary& run) {
  Json json{{"backend", run.backend},
            {"device", parts::text_or_null<Json>(run.device)},
            {"precision", name_of(run.precision)},
            {"ranks", run.ranks},
            {"threads", run.threads},
            {"exchange", parts::text_or_null<Json>(run.exchange)},
            {"seed", decimal(run.seed)},
            {"shots", run.shots}};
  return run.backend.empty() ? without_values(json) : json;
}

std::string text_of(const Json& value) { return parts::text_of(value, 1); }
std::string document_text(const Json& document) { return text_of(document) + "\n"; }

/// Verification, memory, times and work of a run that happened.
void add_measured(Json& document, const Result& result) {
  const Verification& verification = result.verification;
  document["verification"] = {{"norm", optional_or_null(verification.norm, number)},
                              {"gates_planned", verification.gates_planned},
                              {"gates_applied", verification.gates_applied},
                              {"status", verification.status}};
  Json peaks = Json::array();
  for (const std::uint64_t bytes : result.memory.peak_bytes_per_rank) peaks.push_back(decimal(bytes));
  document["memory"] = {{"predicted_bytes_per_rank", decimal(result.memory.predicted_bytes_per_rank)},
                        {"peak_bytes_per_rank", std::move(peaks)},
                        {"state_bytes", decimal(result.memory.state_bytes)},
                        {"read_out_bytes_per_rank", decimal(result.memory.read_out_bytes_per_rank)}};
  const Times& time = result.time;
  document["time_s"] = {{"start", time.start},       {"parse", time.parse},       {"plan", time.plan},
                        {"init", time.init},         {"simulate", time.simulate}, {"exchange", time.exchange},
                        {"read_out", time.read_out}, {"output", time.output},     {"total", time.total}};
  const WorkSummary& work = result.work;
  document["work"] = {{"sweeps", work.sweeps},
                      {"exchanges", work.exchanges},
                      {"bytes_swept_per_rank", decimal(work.bytes_swept_per_rank)},
                      {"bytes_exchanged_per_rank", decimal(work.bytes_exchanged_per_rank)},
                      {"memory_gbps", number(work.memory_gbps)},
                      {"link_gbps", number(work.link_gbps)},
                      {"known_zeros", work.known_zeros}};
}

}  // namespace

void write_result_document(const Result& result, const TextSink& sink) {
  Json measured = Json::object();
  add_measured(measured, result);
  JsonStream out(sink);
  out.open('{');
  const auto member = [&out](const char* name, const Json& value) { out.member(name, text_of(value)); };
  member("schema", "qsim.result/1");
  member("ok", !result.error.has_value());
  member("exit_code", result.error ? static_cast<int>(result.error->code) : 0);
  member("circuit", parts::circuit_json<Json>(result.circuit));
  member("conventions", conventions_json());
  member("run", run_json(result.run));
  out.key("results");
  write_answers(out, result);
  for (const auto& [name, value] : measured.items()) {
    member(name.c_str(), result.run.backend.empty() ? without_values(value) : value);
  }
  member("environment", parts::environment_json<Json>(result.environment));
  member("warnings", result.warnings);
  member("error", optional_or_null(result.error, parts::error_json<Json>));
  out.close('}');
  sink("\n");
}

std::string result_document(const Result& result) {
  std::string text;
  write_result_document(result, [&text](std::string_view part) { text += part; });
  return text;
}

std::string version_document(const BuildInfo& build) {
  return document_text({{"schema", "qsim.version/1"},
                        {"ok", true},
                        {"exit_code", 0},
                        {"version", build.version},
                        {"commit", parts::text_or_null<Json>(build.commit)},
                        {"compiler", parts::text_or_null<Json>(build.compiler)},
                        {"error", nullptr}});
}

std::string info_document(const MachineInfo& info) {
  const auto facts = [](const auto& list) {
    Json object = Json::object();
    for (const auto& [name, value] : list) object[name] = value;
    return object;
  };
  Json choices = Json::array();
  for (const MachineInfo::Choice& choice : info.choices) {
    choices.push_back(
        {{"family", "qft"}, {"qubits", choice.qubits}, {"backend", choice.backend}, {"reason", choice.reason}});
  }
  const MachineInfo::Sizes &cpu = info.largest_on_cpu, gpu = info.largest_on_gpu.value_or(cpu);
  const MachineInfo::Sizes largest{std::max(cpu.in_double, gpu.in_double), std::max(cpu.in_single, gpu.in_single)};
  return document_text({{"schema", "qsim.info/1"},
                        {"ok", true},
                        {"exit_code", 0},
                        {"environment", parts::environment_json<Json>(info.environment)},
                        {"processor", info.processor},
                        {"threads", info.threads},
                        {"instruction_sets", info.instruction_sets},
                        {"memory",
                         {{"total_bytes", decimal(info.memory_bytes)},
                          {"available_bytes", decimal(info.available_bytes)},
                          {"usable_bytes", decimal(info.usable_bytes)}}},
                        {"largest_qubits", {{"double", largest.in_double}, {"single", largest.in_single}}},
                        {"host_facts", facts(info.host)},
                        {"gpu_facts", facts(info.gpus)},
                        {"auto", std::move(choices)},
                        {"error", nullptr}});
}

}  // namespace qsim::cli
