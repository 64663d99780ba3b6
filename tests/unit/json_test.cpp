// The result document and the text report as values: keys, types, null rules, limits.
#include "cli/io/result/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/io/result/report.h"
#include "cli/io/values.h"
#include "document/result.h"
#include "support/json_schema.h"
#include "support/outcomes.h"

namespace qsim::cli {
namespace {

using nlohmann::json;

Result some_result() {
  Result result;
  result.circuit.file = "x.qasm";
  result.circuit.language = "OPENQASM 2.0";
  result.circuit.qubits = 3;
  result.run.backend = "cpu";
  result.run.seed = UINT64_MAX;
  result.run.shots = 100;
  result.memory.state_bytes = 1ull << 60;
  result.memory.peak_bytes_per_rank = {1ull << 60};
  return result;
}

TEST(ResultDocument, WritesWideNumbersAsText) {
  Result result = some_result();
  result.results.amplitudes = std::vector<AmplitudeEntry>{{5, {0.5, -0.5}, 0.5}};
  const json document = json::parse(result_document(result));
  EXPECT_EQ(document["run"]["seed"], "18446744073709551615");
  EXPECT_EQ(document["memory"]["state_bytes"], "1152921504606846976");
  EXPECT_EQ(document["memory"]["peak_bytes_per_rank"][0], "1152921504606846976");
  EXPECT_EQ(document["results"]["amplitudes"][0]["index"], "5");
  EXPECT_EQ(document["results"]["amplitudes"][0]["bits"], "101");
  EXPECT_EQ(document["results"]["amplitudes"][0]["im"], -0.5);
}

TEST(ResultDocument, IsWrittenInPartsAsItWouldBeWhole) {
  Result result = some_result();
  result.circuit.file = "\"a\"\n\x9b\xff.qasm";
  for (const bool filled : {false, true}) {
    if (filled) {
      result.circuit.cregs = {{"a", 0, 1}, {"b", 1, 1}};
      result.results.counts = test::outcomes_of<std::uint64_t>({{"00", 3}, {"11", 4}});
      result.results.distribution = test::outcomes_of<double>({{"01", 0.1}, {"10", 0.9}});
      result.results.probabilities = std::vector<QubitProbabilities>{{{0, 2}, {0.25, 0.75}}, {{1}, {1, 0}}};
      result.results.marginals = {0.5, 1e-20};
      result.results.amplitudes = std::vector<AmplitudeEntry>{{5, {0.5, -0.5}, 0.5}, {1, {0, 0}, 0}};
      result.results.expectation =
          std::vector<ExpectationValue>{{"Z0 \n", 1, {{"Z0", 1, 2}, {"X1", 3, 4}}}, {"", 0, {}}};
      result.results.files = std::vector<OutputFile>{{"statevector", "x\n.npy", "complex128", {8}}};
    } else {
      result.results.counts.emplace();
      result.results.amplitudes.emplace();
    }
    const std::string document = result_document(result);
    if (filled) {
      EXPECT_NE(document.find("\"counts\": {\n   \"0 0\": 3,\n   \"1 1\": 4\n  },"), std::string::npos) << document;
      EXPECT_NE(document.find("\"0 1\": 0.1,\n   \"1 0\": 0.9\n"), std::string::npos) << document;
    }
    EXPECT_EQ(nlohmann::ordered_json::parse(document).dump(1, ' ', true) + "\n", document);
  }
}

TEST(ResultDocument, HasNoNumberThatJsonDoesNotKnow) {
  Result result = some_result();
  result.work.memory_gbps = std::numeric_limits<double>::infinity();
  result.verification.norm = std::numeric_limits<double>::quiet_NaN();
  result.results.expectation = std::vector<ExpectationValue>{{"Z0", std::numeric_limits<double>::quiet_NaN(), {}}};
  const json document = json::parse(result_document(result));
  EXPECT_TRUE(document["work"]["memory_gbps"].is_null());
  EXPECT_TRUE(document["verification"]["norm"].is_null());
  EXPECT_TRUE(document["results"]["expectation"][0]["value"].is_null());
}

TEST(ResultDocument, KeepsEveryKeyOnFailure) {
  Result result;
  result.circuit.file = "bad\xff.qasm";
  result.error = Failure{};
  result.error->code = ExitCode::kCapacity;
  result.error->message = "36 qubits";
  const json failed = json::parse(result_document(result));
  const json good = json::parse(result_document(some_result()));
  EXPECT_EQ(failed["exit_code"], 5);
  EXPECT_EQ(failed["error"]["code"], 5);
  EXPECT_TRUE(failed["error"]["line"].is_null());
  for (const auto& [key, value] : good.items()) {
    ASSERT_TRUE(failed.contains(key)) << key;
    if (!value.is_object()) continue;
    for (const auto& [inner, unused] : value.items()) EXPECT_TRUE(failed[key].contains(inner)) << key << "." << inner;
  }
  EXPECT_TRUE(failed["run"]["seed"].is_null());
  EXPECT_TRUE(failed["work"]["sweeps"].is_null());
}

TEST(ResultDocument, ConformsToItsSchema) {
  Result full = some_result();
  full.circuit.xxh3 = "0123456789abcdef";
  full.circuit.qregs = {{"q", 0, 3}};
  full.circuit.cregs = {{"c", 0, 3}};
  full.results.counts = test::outcomes_of<std::uint64_t>({{"000", 100}});
  full.results.distribution = test::outcomes_of<double>({{"000", 1.0}});
  full.results.probabilities = std::vector<QubitProbabilities>{{{0}, {1, 0}}};
  full.results.marginals = std::vector<double>{0, 0, 0};
  full.results.amplitudes = std::vector<AmplitudeEntry>{{0, {1, 0}, 1}};
  full.results.expectation = std::vector<ExpectationValue>{{"Z0", 1, {{"Z0", 1, 1}}}};
  full.results.files = std::vector<OutputFile>{{"statevector", "x.npy", "<c16", {8}}};
  full.verification.norm = 1;
  Result failed;
  failed.error = Failure{ExitCode::kCircuit, "m", "h", "f", 1, 2, 0, 0, 0, {}};
  for (const Result& result : {full, some_result(), failed}) {
    for (const std::string& violation : test::schema_violations(result_document(result), "qsim.result.1.json")) {
      ADD_FAILURE() << violation;
    }
  }
}

std::string report_of(const Result& result, const ReportScope& scope = {}) {
  std::string text;
  write_result_report(result, scope, [&text](std::string_view part) { text += part; });
  return text;
}

TEST(TextReport, NeverPassesTwentyFiveLinesWithWhatNobodyAskedFor) {
  Result result = some_result();
  std::map<std::string, std::uint64_t> counts;
  for (int i = 0; i < 300; ++i) counts[bit_string(static_cast<Index>(i), 9)] = 1;
  result.circuit.cregs = {{"c", 0, 9}};
  result.results.counts = test::outcomes_of(counts);
  result.results.amplitudes = std::vector<AmplitudeEntry>(300, AmplitudeEntry{0, {1, 0}, 1});
  result.warnings = std::vector<std::string>(9, "something");
  const std::string text = report_of(result);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 25) << text;
  EXPECT_NE(text.find("--json has all"), std::string::npos);
  EXPECT_NE(text.find("--verbose or --json has all"), std::string::npos) << "warnings do not vanish\n" << text;
  for (const char* title : {"counts of", "amplitudes"}) EXPECT_NE(text.find(title), std::string::npos) << text;
}

TEST(TextReport, CutsNothingThatWasAskedFor) {
  Result result = some_result();
  std::map<std::string, std::uint64_t> counts;
  for (int i = 0; i < 300; ++i) counts[bit_string(static_cast<Index>(i), 9)] = 1;
  result.circuit.cregs = {{"c", 0, 9}};
  result.results.counts = test::outcomes_of(counts);
  result.results.marginals = std::vector<double>(620, 0.5);
  result.results.probabilities =
      std::vector<QubitProbabilities>(12, QubitProbabilities{{0, 1}, {0.25, 0.25, 0.25, 0.25}});
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  ReportScope scope;
  scope.header = false;
  const long asked = 1 + 124 + 12 * 5;
  EXPECT_EQ(lines(report_of(result, scope)), asked + 5) << "a few lines stand of what was not";
  scope.counts = true;
  EXPECT_EQ(lines(report_of(result, scope)), asked + 301);
  scope.counts = false;
  scope.all = true;
  EXPECT_EQ(lines(report_of(result, scope)), asked + 301);
}

TEST(TextReport, ListsTheMostFrequentFirstAndTiesByBits) {
  Result result = some_result();
  result.circuit.cregs = {{"c", 0, 3}};
  result.results.counts = test::outcomes_of<std::uint64_t>({{"001", 45}, {"010", 10}, {"111", 45}});
  const std::string text = report_of(result);
  EXPECT_LT(text.find("001 "), text.find("111 "));
  EXPECT_LT(text.find("111 "), text.find("010 "));
}

TEST(CommandLineValues, ReadSizesListsAndShares) {
  EXPECT_EQ(parse_bytes("--max-memory", "1.5G"), 1536ull << 20);
  EXPECT_EQ(parse_bytes("--max-memory", "512MiB"), 512ull << 20);
  EXPECT_EQ(parse_bytes("--max-memory", "4096"), 4096u);
  EXPECT_EQ(parse_bytes("--max-memory", "1e9"), 1'000'000'000u);
  EXPECT_EQ(parse_bytes("--max-memory", "1.5e+3K"), 1500u << 10);
  for (const char* wrong : {"1e", "1eG", "e9", "1e-9", "1e99", "1e400"}) {
    EXPECT_THROW(parse_bytes("--max-memory", wrong), UsageError) << wrong;
  }
  EXPECT_EQ(parse_share("--pool", "90%"), 0.9);
  EXPECT_EQ(parse_list("--amplitudes", "3,1,18446744073709551615"), (std::vector<std::uint64_t>{3, 1, UINT64_MAX}));
  for (const char* text : {"", "x", "1.2.3G", "-5", "5X", "0", "99999999999G"}) {
    EXPECT_THROW(parse_bytes("--max-memory", text), UsageError) << text;
  }
  for (const char* text : {"", "1,,2", "1,", "a", "18446744073709551616", " 1", "0x10"}) {
    EXPECT_THROW(parse_list("--amplitudes", text), UsageError) << text;
  }
  for (const char* text : {"0", "101%", "x", "50%%"}) EXPECT_THROW(parse_share("--pool", text), UsageError) << text;
}

TEST(CommandLineValues, RankCountsAreNamedByTheNearestPowersOfTwo) {
  EXPECT_NO_THROW(check_rank_count(1, "ranks"));
  EXPECT_NO_THROW(check_rank_count(1024, "ranks"));
  try {
    check_rank_count(6, "ranks");
    FAIL() << "6 is no power of two";
  } catch (const UsageError& error) {
    EXPECT_NE(error.hint().find("4 or 8"), std::string::npos) << error.hint();
  }
}

}  // namespace
}  // namespace qsim::cli
