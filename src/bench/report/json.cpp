// `qsim.bench/1` (docs/json.md), written and read; and the comparison with an earlier one.
#include <nlohmann/json.hpp>

#include "base/file/files.h"
#include "base/text.h"
#include "bench/bench.h"
#include "bench/names.h"
#include "document/json_parts.h"
#include "qsim/error.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "qsim.bench/1";

Json number(double value) { return parts::number_or_null<Json>(value); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

Json times_json(const BenchTimes& times) {
  if (times.seconds.empty()) return nullptr;
  return {{"median", times.median()},
          {"minimum", times.minimum()},
          {"maximum", times.maximum()},
          {"spread", number(times.spread())},
          {"repeats", times.seconds}};
}

Json checks_json(const std::vector<BenchCheck>& checks) {
  Json list = Json::array();
  for (const BenchCheck& check : checks) {
    list.push_back(Json{{"name", check.name}, {"passed", check.passed}, {"detail", check.detail}});
  }
  return list;
}

Json work_json(const BenchRow& row) {
  if (row.simulate.seconds.empty()) return nullptr;
  Json json{{"sweeps", row.work.sweeps},
            {"exchanges", row.work.exchanges},
            {"bytes_swept_per_rank", std::to_string(row.work.bytes_swept_per_rank)},
            {"bytes_exchanged_per_rank", std::to_string(row.work.bytes_exchanged_per_rank)},
            {"memory_gbps", number(row.memory_gbps())},
            {"copy_gbps", number(row.copy_gbps)},
            {"memory_fraction", number(row.memory_fraction())},
            {"link_gbps", number(row.link_rate_gbps())},
            {"measured_link_gbps", number(row.link_gbps)},
            {"link_fraction", number(row.link_fraction())}};
  Json peaks = Json::array();
  for (const std::uint64_t peak : row.memory.peak_bytes_per_rank) peaks.push_back(std::to_string(peak));
  json["peak_bytes_per_rank"] = peaks;
  return json;
}

Json row_json(const BenchRow& row) {
  const bool failed = row.status == BenchStatus::kFailed;
  return {{"name", row.name},
          {"circuit_xxh3", row.circuit_hash},
          {"qubits", row.qubits},
          {"depth", row.depth},
          {"operations", row.operations},
          {"from", bench::start_name(row.start)},
          {"precision", name_of(row.precision)},
          {"ranks", row.ranks},
          {"threads", row.run.threads},
          {"backend", parts::text_or_null<Json>(row.run.backend)},
          {"device", parts::text_or_null<Json>(row.run.device)},
          {"exchange", parts::text_or_null<Json>(row.run.exchange)},
          {"status", bench::status_name(row.status)},
          {"reason", parts::text_or_null<Json>(row.reason)},
          {"simulate_s", failed ? Json(nullptr) : times_json(row.simulate)},
          {"read_out_s", failed || !row.reads_out ? Json(nullptr) : times_json(row.read_out)},
          {"plan_s", row.time.plan},
          {"init_s", row.time.init},
          {"exchange_s", row.time.exchange},
          {"overhead_s", number(row.overhead_seconds)},
          {"work", failed ? Json(nullptr) : work_json(row)},
          {"checks", checks_json(row.checks)},
          {"unchecked", row.unchecked}};
}

Json comparison_json(const BenchReport& report) {
  if (!report.comparison) return nullptr;
  const BenchComparison& comparison = *report.comparison;
  Json pairs = Json::array();
  for (const BenchComparison::Pair& pair : comparison.pairs) {
    pairs.push_back(Json{{"run", pair.row},
                         {"baseline_s", pair.baseline_seconds},
                         {"ratio", number(pair.ratio)},
                         {"too_slow", pair.too_slow}});
  }
  return {{"file", bench::base_name(comparison.baseline_file)},
          {"machine", parts::text_or_null<Json>(comparison.baseline_machine)},
          {"date", parts::text_or_null<Json>(comparison.baseline_date)},
          {"max_ratio", number(comparison.max_ratio)},
          {"pairs", pairs}};
}

Json read_document(const std::string& path) {
  constexpr std::uint64_t kLargestFile = 64u << 20;
  Json document = Json::parse(read_file(path, kLargestFile), nullptr, false);
  if (document.is_discarded()) throw UsageError("`compare`: " + escape_text(path) + " is not JSON");
  const Json schema = document.is_object() && document.contains("schema") ? document["schema"] : Json();
  if (schema != kSchema) {
    throw UsageError("`compare`: " + escape_text(path) + " is not of schema " + kSchema,
                     "a benchmark's own JSON document is one");
  }
  return document;
}

/// The median of the run of `document` that is the same circuit under the same conditions as `row`.
std::optional<double> baseline_of(const Json& document, const BenchRow& row, const std::string& file) {
  bool other = false;  // files of one name may lie in several folders
  for (const Json& run : document.at("runs")) {
    const bool same = bench::base_name(run.at("name").get<std::string>()) == row.name &&
                      run.at("qubits") == row.qubits && run.at("from") == bench::start_name(row.start) &&
                      run.at("precision") == name_of(row.precision) && run.at("ranks") == row.ranks;
    if (!same || run.at("simulate_s").is_null()) continue;
    if (run.at("circuit_xxh3") == row.circuit_hash) return run.at("simulate_s").at("median").get<double>();
    other = true;
  }
  if (other) {
    throw UsageError("`compare`: " + escape_text(row.name) + " with " + std::to_string(row.qubits) +
                         " qubits is another circuit in " + escape_text(file),
                     "its operations differ: `depth`, the seed or the file is not the same");
  }
  return std::nullopt;
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  Json runs = Json::array();
  for (const BenchRow& row : report.rows) runs.push_back(row_json(row));
  const int code = static_cast<int>(report.exit_code());
  Json document{{"schema", kSchema},
                {"ok", code == 0},
                {"exit_code", code},
                {"date", parts::text_or_null<Json>(report.date)},
                {"machine", parts::text_or_null<Json>(report.machine)},
                {"environment", parts::environment_json<Json>(report.environment)},
                {"warm_ups", report.warm_ups},
                {"repeats", report.repeats},
                {"runs", runs},
                {"comparison", comparison_json(report)},
                {"verdict", report.error ? Json(nullptr) : Json(report.verdict())},
                {"error", report.error ? parts::error_json<Json>(*report.error) : Json(nullptr)}};
  return parts::text_of(document, 2) + "\n";
}

void compare_bench(BenchReport& report, const std::string& file, std::optional<double> max_ratio) {
  const Json document = read_document(file);
  BenchComparison comparison;
  comparison.baseline_file = file;
  comparison.max_ratio = max_ratio;
  try {
    comparison.baseline_machine = document.value("machine", "");
    comparison.baseline_date = document.value("date", "");
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      const BenchRow& row = report.rows[i];
      if (row.status != BenchStatus::kOk) continue;
      const std::optional<double> before = baseline_of(document, row, file);
      if (!before) continue;
      const double ratio = *before > 0 ? row.simulate.median() / *before : 1;
      comparison.pairs.push_back({i, *before, ratio, max_ratio && ratio > *max_ratio});
    }
  } catch (const Json::exception&) {
    throw UsageError("`compare`: " + escape_text(file) + " lacks keys of " + kSchema);
  }
  if (comparison.pairs.empty()) {
    throw UsageError("`compare`: " + escape_text(file) + " has none of these circuits",
                     "a run is compared with one of the same name, size, start, precision and ranks");
  }
  report.comparison = std::move(comparison);
}

}  // namespace qsim
