#include "cli/io/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json_parts.h"

namespace qsim::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
/// Seeds, indices and byte counts: they may pass 2^53, so they are text.
Json decimal(std::uint64_t value) { return std::to_string(value); }

template <class Value, class Convert>
Json optional_or_null(const std::optional<Value>& value, Convert convert) {
  return value ? convert(*value) : Json(nullptr);
}

Json object_of_nulls(std::initializer_list<const char*> keys) {
  Json object = Json::object();
  for (const char* key : keys) object[key] = nullptr;
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
  if (run.backend.empty()) {
    return object_of_nulls({"backend", "device", "precision", "ranks", "threads", "exchange", "seed", "shots"});
  }
  return {{"backend", run.backend},
          {"device", parts::text_or_null<Json>(run.device)},
          {"precision", run.precision == Precision::kDouble ? "double" : "single"},
          {"ranks", run.ranks},
          {"threads", run.threads},
          {"exchange", parts::text_or_null<Json>(run.exchange)},
          {"seed", decimal(run.seed)},
          {"shots", run.shots}};
}

Json probabilities_json(const std::vector<QubitProbabilities>& entries) {
  Json list = Json::array();
  for (const QubitProbabilities& entry : entries) {
    list.push_back(Json{{"qubits", entry.qubits}, {"values", entry.values}});
  }
  return list;
}

Json amplitudes_json(const std::vector<AmplitudeEntry>& entries, std::uint32_t qubits) {
  Json list = Json::array();
  for (const AmplitudeEntry& entry : entries) {
    list.push_back(Json{{"index", decimal(entry.index)},
                        {"bits", bit_string(entry.index, qubits)},
                        {"re", number_or_null(entry.value.real())},
                        {"im", number_or_null(entry.value.imag())},
                        {"probability", number_or_null(entry.probability)}});
  }
  return list;
}

Json expectation_json(const std::vector<ExpectationValue>& entries) {
  Json list = Json::array();
  for (const ExpectationValue& entry : entries) {
    Json terms = Json::array();
    for (const PauliTermValue& term : entry.terms) {
      terms.push_back(Json{{"pauli", term.pauli},
                           {"coefficient", number_or_null(term.coefficient)},
                           {"value", number_or_null(term.value)}});
    }
    list.push_back(Json{{"name", entry.name}, {"value", number_or_null(entry.value)}, {"terms", std::move(terms)}});
  }
  return list;
}

Json files_json(const std::vector<OutputFile>& files) {
  Json list = Json::array();
  for (const OutputFile& file : files) {
    list.push_back(Json{{"kind", file.kind}, {"path", file.path}, {"dtype", file.dtype}, {"shape", file.shape}});
  }
  return list;
}

Json results_json(const Results& results, std::uint32_t qubits) {
  return {
      {"counts", optional_or_null(results.counts, [](const auto& v) { return Json(v); })},
      {"distribution", optional_or_null(results.distribution, [](const auto& v) { return Json(v); })},
      {"probabilities", optional_or_null(results.probabilities, probabilities_json)},
      {"marginals", optional_or_null(results.marginals, [](const auto& v) { return Json(v); })},
      {"amplitudes", optional_or_null(results.amplitudes, [&](const auto& v) { return amplitudes_json(v, qubits); })},
      {"expectation", optional_or_null(results.expectation, expectation_json)},
      {"files", optional_or_null(results.files, files_json)}};
}

/// Verification, memory, times and work of a run that happened.
void add_measured(Json& document, const Result& result) {
  const Verification& verification = result.verification;
  document["verification"] = {{"norm", optional_or_null(verification.norm, number_or_null)},
                              {"gates_planned", verification.gates_planned},
                              {"gates_applied", verification.gates_applied},
                              {"status", verification.status}};
  Json peaks = Json::array();
  for (const std::uint64_t bytes : result.memory.peak_bytes_per_rank) peaks.push_back(decimal(bytes));
  document["memory"] = {{"predicted_bytes_per_rank", decimal(result.memory.predicted_bytes_per_rank)},
                        {"peak_bytes_per_rank", std::move(peaks)},
                        {"state_bytes", decimal(result.memory.state_bytes)}};
  const Times& time = result.time;
  document["time_s"] = {{"start", time.start},       {"parse", time.parse},       {"plan", time.plan},
                        {"init", time.init},         {"simulate", time.simulate}, {"exchange", time.exchange},
                        {"read_out", time.read_out}, {"output", time.output},     {"total", time.total}};
  const WorkSummary& work = result.work;
  document["work"] = {{"sweeps", work.sweeps},
                      {"exchanges", work.exchanges},
                      {"bytes_swept_per_rank", decimal(work.bytes_swept_per_rank)},
                      {"bytes_exchanged_per_rank", decimal(work.bytes_exchanged_per_rank)},
                      {"memory_gbps", number_or_null(work.memory_gbps)},
                      {"link_gbps", number_or_null(work.link_gbps)},
                      {"known_zeros", work.known_zeros}};
}

void add_unmeasured(Json& document) {
  document["verification"] = object_of_nulls({"norm", "gates_planned", "gates_applied", "status"});
  document["memory"] = object_of_nulls({"predicted_bytes_per_rank", "peak_bytes_per_rank", "state_bytes"});
  document["time_s"] =
      object_of_nulls({"start", "parse", "plan", "init", "simulate", "exchange", "read_out", "output", "total"});
  document["work"] = object_of_nulls({"sweeps", "exchanges", "bytes_swept_per_rank", "bytes_exchanged_per_rank",
                                      "memory_gbps", "link_gbps", "known_zeros"});
}

}  // namespace

std::string result_document(const Result& result) {
  Json document;
  document["schema"] = "qsim.result/1";
  document["ok"] = !result.error.has_value();
  document["exit_code"] = result.error ? static_cast<int>(result.error->code) : 0;
  document["circuit"] = parts::circuit_json<Json>(result.circuit);
  document["conventions"] = conventions_json();
  document["run"] = run_json(result.run);
  document["results"] = results_json(result.results, result.circuit.qubits);
  if (result.run.backend.empty()) {
    add_unmeasured(document);
  } else {
    add_measured(document, result);
  }
  document["environment"] = parts::environment_json<Json>(result.environment);
  document["warnings"] = result.warnings;
  document["error"] = optional_or_null(result.error, parts::error_json<Json>);
  // File names and messages may hold bytes that are not UTF-8.
  return document.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string bit_string(Index index, std::uint32_t qubits) {
  std::string bits(qubits, '0');
  for (std::uint32_t qubit = 0; qubit < qubits && qubit < 64; ++qubit) {
    if ((index >> qubit) & 1) bits[qubits - 1 - qubit] = '1';
  }
  return bits;
}

}  // namespace qsim::cli
