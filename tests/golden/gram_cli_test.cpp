// `qsim gram` as users meet it.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "golden/cli_program.h"
#include "support/json_schema.h"

namespace qsim::test {
namespace {

using Json = nlohmann::json;
const std::string kHead = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[2];\n";

TEST(GramCommand, ComparesStatesWithStates) {
  const TemporaryFolder folder;
  const std::string bell = folder.file("bell.qasm", kHead + "h q[0];\ncx q[0],q[1];\n");
  const std::string zero = folder.file("zero.qasm", kHead);
  const std::string other = folder.file("other.qasm", kHead + "creg c[1];\nx q[0];\nh q[1];\nmeasure q[0] -> c[0];\n");
  const ProgramRun run = run_qsim({"gram", bell, zero, other, "--backend", "cpu", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string& line : schema_violations(run.out, "qsim.gram.1.json")) ADD_FAILURE() << line;
  const Json document = Json::parse(run.out);
  const double half = std::sqrt(0.5);
  EXPECT_NEAR(document["gram"][0][1][0].get<double>(), half, 1e-14);
  EXPECT_NEAR(document["fidelity"][1][0].get<double>(), 0.5, 1e-14);
  EXPECT_NEAR(document["fidelity"][1][2].get<double>(), 0, 1e-14);
  EXPECT_NEAR(document["distances"]["euclidean"][1][2].get<double>(), std::sqrt(2), 1e-14);
  EXPECT_NEAR(document["distances"]["cosine"][0][1].get<double>(), 1 - half, 1e-14);
  EXPECT_NEAR(document["distances"]["trace"][0][2].get<double>(), std::sqrt(0.75), 1e-14);
  const ProgramRun text = run_qsim({"gram", bell, zero, "--backend", "cpu"});
  EXPECT_NE(text.out.find("0.707107"), std::string::npos) << text.out;
}

TEST(GramCommand, BadInputHasItsCode) {
  const TemporaryFolder folder;
  const std::string zero = folder.file("zero.qasm", kHead);
  const std::string wide = folder.file("wide.qasm", "OPENQASM 2.0;\nqreg q[3];\n");
  const std::string dynamic = folder.file("dynamic.qasm", kHead + "creg c[1];\nmeasure q[0] -> c[0];\nh q[0];\n");
  EXPECT_EQ(run_qsim({"gram", zero}).exit_code, 2);
  EXPECT_EQ(run_qsim({"gram", zero, wide}).exit_code, 2);
  EXPECT_EQ(run_qsim({"gram", zero, dynamic}).exit_code, 4);
  EXPECT_EQ(run_qsim({"gram", zero, "/nowhere.qasm"}).exit_code, 9);
  EXPECT_EQ(run_qsim({"gram", zero, zero, "--max-memory", "1K"}).exit_code, 5);
}

}  // namespace
}  // namespace qsim::test
