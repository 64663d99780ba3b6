// OpenQASM 3 through the program itself: inputs, results, refusals.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden/cli_program.h"

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

json distribution_of(const std::vector<std::string>& flags, const std::string& program) {
  std::vector<std::string> words{"run", "-", "--distribution", "--shots", "0", "--json"};
  words.insert(words.end(), flags.begin(), flags.end());
  const ProgramRun run = run_qsim(words, kHead + program);
  EXPECT_EQ(0, run.exit_code) << run.err;
  return run.exit_code == 0 ? json::parse(run.out)["results"]["distribution"] : json();
}

TEST(Qasm3Program, InputsTakeTheirValuesFromFlagsAndFiles) {
  const TemporaryFolder folder;
  const std::string file = folder.file("values.json", R"({"turn": 3.141592653589793, "mask": "10"})");
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--param", "turn=pi", "--param", "mask=10"}, {"--params", file}}) {
    EXPECT_NEAR(1, distribution_of(flags, kTurned).value("11", 0.0), 1e-14);
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

}  // namespace
}  // namespace qsim::test
