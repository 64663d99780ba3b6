// OpenQASM 3 through the program itself: inputs, results, refusals.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "golden/cli_program.h"
#include "support/json_schema.h"

namespace qsim::test {
namespace {

using nlohmann::json;

constexpr const char* kHead = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n";

/// Standard error of a run that ends with `code`.
std::string failure(int code, const std::string& program, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"run", "-"});
  const ProgramRun run = run_qsim(flags, kHead + program);
  EXPECT_EQ(code, run.exit_code) << run.err;
  EXPECT_EQ("", run.out);
  return run.err;
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kTurned =
    "input float[64] turn;\ninput bit[2] mask;\nqubit[2] q;\nrx(turn) q[0];\nif (mask[1]) x q[1];\n"
    "bit[2] c = measure q;\n";

json results_of(const std::vector<std::string>& flags, const std::string& program) {
  std::vector<std::string> words{"run", "-", "--json"};
  words.insert(words.end(), flags.begin(), flags.end());
  const ProgramRun run = run_qsim(words, kHead + program);
  EXPECT_EQ(0, run.exit_code) << run.err;
  return run.exit_code == 0 ? json::parse(run.out)["results"] : json();
}

TEST(Qasm3Program, InputsTakeTheirValuesFromFlagsAndFiles) {
  const TemporaryFolder folder;
  const std::string file = folder.file("values.json", R"({"turn": 3.141592653589793, "mask": "10"})");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--param", "turn=pi", "--param", "mask=10"}, {"--params", file}}) {
    std::vector<std::string> all{"--distribution", "--shots", "0"};
    all.insert(all.end(), flags.begin(), flags.end());
    EXPECT_NEAR(1, results_of(all, kTurned)["distribution"].value("11", 0.0), 1e-14);
  }
}

TEST(Qasm3Program, InputsWithoutAValueAndValuesWithoutAnInputAreNamed) {
  const std::string missing = failure(3, kTurned, {"--param", "turn=1"});
  EXPECT_TRUE(mentions(missing, "-") && mentions(missing, ":4:")) << missing;
  EXPECT_TRUE(mentions(missing, "input 'mask' has no value")) << missing;
  EXPECT_TRUE(mentions(failure(2, "qubit q;", {"--param", "turn=1"}), "'turn' would have no effect"));
  EXPECT_TRUE(mentions(failure(2, kTurned, {"--param", "turn"}), "is not NAME=VALUE"));
  EXPECT_TRUE(mentions(failure(2, kTurned, {"--param", "turn=1", "--param", "turn=2"}), "has two values"));
  EXPECT_TRUE(mentions(failure(3, kTurned, {"--param", "turn=x", "--param", "mask=11"}), "of input 'turn'"));
  EXPECT_TRUE(mentions(failure(3, kTurned, {"--param", "turn=1", "--param", "mask=111"}), "of input 'mask'"));
  const ProgramRun older = run_qsim({"run", "-", "--param", "a=1"}, "OPENQASM 2.0; qreg q[1];");
  EXPECT_EQ(2, older.exit_code);
}

TEST(Qasm3Program, FilesOfParametersAreChecked) {
  const TemporaryFolder folder;
  EXPECT_TRUE(mentions(failure(9, kTurned, {"--params", folder.file("absent.json")}), "absent.json"));
  EXPECT_TRUE(mentions(failure(9, kTurned, {"--params", folder.file("a.json", "[1]")}), "no JSON object"));
  EXPECT_TRUE(mentions(failure(9, kTurned, {"--params", folder.file("b.json", R"({"turn": null})")}), "'turn'"));
}

TEST(Qasm3Program, VariablesAreResultsByValue) {
  const json results = results_of({"--distribution", "--shots", "0"}, R"(
    qubit[2] q; bit[2] c; int[8] k = -2; float f = 1.5; angle[4] a = pi / 4; complex w = 1.0 + 2 im;
    array[int[8], 2, 2] m = {{1, 2}, {3, 4}}; bool flag = true; uint[64] big = 18446744073709551615;
    h q[0]; cx q[0], q[1]; c = measure q; if (c[0]) { k = c[1] + 4; m[1][0] = k; f = 2.5; })");
  EXPECT_TRUE(results["variables"]["counts"].is_null());
  const json& distribution = results["variables"]["distribution"];
  ASSERT_EQ(2u, distribution.size());
  for (const json& entry : distribution) {
    EXPECT_NEAR(0.5, entry["probability"].get<double>(), 1e-14);
    const json& values = entry["values"];
    const bool one = values["c"] == "11";
    EXPECT_EQ(one ? 5 : -2, values["k"]);
    EXPECT_EQ(one ? 2.5 : 1.5, values["f"]);
    EXPECT_EQ(one ? json({{1, 2}, {5, 4}}) : json({{1, 2}, {3, 4}}), values["m"]);
    EXPECT_EQ(json({1.0, 2.0}), values["w"]);
    EXPECT_EQ(true, values["flag"]);
    EXPECT_EQ("18446744073709551615", values["big"]);
    EXPECT_NEAR(0.78539816339744831, values["a"].get<double>(), 1e-15);
  }
}

TEST(Qasm3Program, DeclaredOutputsAreTheResultsByValue) {
  const std::string text = "output bit[2] r; output int k; bit b; qubit q; h q; b = measure q; r[1] = b; k = b + 6;";
  const json drawn = results_of({"--shots", "400", "--seed", "3"}, text);
  std::uint64_t total = 0;
  for (const json& entry : drawn["variables"]["counts"]) {
    EXPECT_EQ(2u, entry["values"].size());
    EXPECT_EQ(entry["values"]["r"] == "10" ? 7 : 6, entry["values"]["k"]);
    total += entry["count"].get<std::uint64_t>();
  }
  EXPECT_EQ(400u, total);
  EXPECT_TRUE(drawn["variables"]["distribution"].is_null());
  EXPECT_TRUE(drawn["counts"].contains("0 00")) << "all registers stay in the bit strings";
}

TEST(Qasm3Program, BitsThatNoRegisterKeepsStillGiveVariablesTheirValues) {
  const std::string text =
      "def ask(qubit q) -> int[8] { bit b = measure q; return 10 * b; } qubit[2] q; x q[1];"
      "int[8] k = ask(q[1]) + ask(q[0]); reset q; ";
  const json results = results_of({"--distribution", "--shots", "0"}, text);
  EXPECT_EQ(json({{"values", {{"k", 10}}}, {"probability", 1.0}}), results["variables"]["distribution"][0]);
  EXPECT_EQ(json({{"", 1.0}}), results["distribution"]);
}

TEST(Qasm3Program, ValuesThatNoMeasurementDecidesNeedNoShots) {
  const json results = results_of({}, "int k = 3; qubit q; x q; for int i in [1:4] { k *= i; }");
  EXPECT_EQ(json({{"values", {{"k", 72}}}, {"probability", 1.0}}), results["variables"]["distribution"][0]);
  EXPECT_TRUE(results_of({}, "qubit q; bit[2] c = \"10\"; h q;")["variables"].is_null());
}

json plan_of(const std::string& program) {
  const ProgramRun run = run_qsim({"plan", "-", "--json"}, kHead + program);
  EXPECT_EQ(0, run.exit_code) << run.err;
  return json::parse(run.out);
}

std::string rounds(int number) {
  return "qubit[3] d; qubit[2] a; bit[2] syn; for int r in [1:" + std::to_string(number) +
         "] { cx d[0], a[0]; cx d[1], a[0]; cx d[1], a[1]; cx d[2], a[1]; syn = measure a; reset a; "
         "if (syn == 1) x d[0]; else if (syn == 3) x d[1]; else if (syn == 2) x d[2]; } bit[3] c = measure d;";
}

TEST(Qasm3Program, PlansListWhatMeasurementsDecide) {
  const json few = plan_of(rounds(2)), many = plan_of(rounds(300));
  for (const json& plan : {few, many}) {
    EXPECT_EQ(std::vector<std::string>{}, schema_violations(plan.dump(), "qsim.plan.1.json"));
    EXPECT_TRUE(plan["stages"].is_null());
    EXPECT_EQ(5u, plan["program"]["plans"].size()) << "the start, the syndrome, three corrections";
    std::map<std::string, int> kinds;
    for (const json& step : plan["program"]["steps"]) {
      ++kinds[step["kind"]];
      EXPECT_TRUE(step["to"].is_null() || step["to"].get<std::size_t>() <= plan["program"]["steps"].size());
    }
    EXPECT_GT(kinds["measure"], 0);
    EXPECT_GT(kinds["reset"], 0);
    EXPECT_GT(kinds["branch"], 0);
  }
  EXPECT_EQ(few["memory_bytes_per_rank"], many["memory_bytes_per_rank"]) << "rounds share plans and projections";
  const ProgramRun text = run_qsim({"plan", "-"}, kHead + rounds(2));
  EXPECT_TRUE(mentions(text.out, "measure a[0] -> ") && mentions(text.out, "go to ")) << text.out;
  const ProgramRun older = run_qsim({"plan", "-"},
                                    "OPENQASM 2.0; include \"qelib1.inc\"; qreg q[2]; creg c[2]; h q[0];"
                                    " measure q[0] -> c[0]; if (c==1) x q[1]; measure q -> c;");
  EXPECT_TRUE(mentions(older.out, "if c == 1: plan 1") && mentions(older.out, "end   measure q[1] -> c[1]"))
      << older.out;
  EXPECT_EQ(4, run_qsim({"plan", "-", "--trace"}, kHead + rounds(2)).exit_code);
}

TEST(Qasm3Program, LoopsThatMeasureHaveACap) {
  const std::string endless = "qubit q; bit c;\nwhile (!c) {\n  c = measure q;\n}";
  const std::string said = failure(4, endless, {"--max-iterations", "50", "--shots", "10"});
  EXPECT_TRUE(mentions(said, "line 4") && mentions(said, "50 times") && mentions(said, "1 of the probability")) << said;
  const std::string halves = "qubit q; bit c = 1;\nwhile (c) {\n  h q; c = measure q;\n}";
  const std::string left = failure(4, halves, {"--max-iterations", "3", "--distribution", "--shots", "0"});
  EXPECT_TRUE(mentions(left, "0.0625 of the probability") || mentions(left, "0.125 of the probability")) << left;
  EXPECT_TRUE(
      results_of({"--max-iterations", "60", "--distribution", "--shots", "0"}, halves)["distribution"].is_object());
  EXPECT_TRUE(mentions(failure(2, "qubit q; bit c = measure q;", {"--max-iterations", "3"}), "would have no effect"));
}

TEST(Qasm3Program, ConvertWritesEitherVersion) {
  const std::string program =
      "input float turn; qubit[2] q; bit[2] c; for int i in [0:1] { rx(turn * i) q[i]; } c = measure q;";
  const ProgramRun older = run_qsim({"convert", "-", "--to", "2", "--param", "turn=pi"}, kHead + program);
  EXPECT_EQ(0, older.exit_code) << older.err;
  EXPECT_TRUE(mentions(older.out, "OPENQASM 2.0;")) << older.out;
  const ProgramRun newer = run_qsim({"convert", "-"}, older.out);
  EXPECT_TRUE(mentions(newer.out, "OPENQASM 3.1;")) << newer.out;
  const ProgramRun run = run_qsim({"run", "-", "--distribution", "--shots", "0", "--json"}, newer.out);
  EXPECT_NEAR(1, json::parse(run.out)["results"]["distribution"].value("10", 0.0), 1e-14);
  const ProgramRun refused = run_qsim({"convert", "-", "--to", "2"}, kHead + rounds(1));
  EXPECT_EQ(4, refused.exit_code);
  EXPECT_TRUE(mentions(refused.err, "measurements decide")) << refused.err;
}

}  // namespace
}  // namespace qsim::test
