// `qsim bench` as users meet it: documents, exit codes, comparisons.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "golden/cli_program.h"
#include "support/json_schema.h"

namespace qsim::test {
namespace {

using Json = nlohmann::json;

ProgramRun bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  for (const char* flag : {"--backend", "cpu", "--repeats", "2"}) arguments.emplace_back(flag);
  return run_qsim(arguments);
}

TEST(Bench, DocumentFollowsTheSchema) {
  const ProgramRun run = bench({"qft", "random", "--qubits", "5..6", "--from", "both", "--ranks", "1,2", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string& line : schema_violations(run.out, "qsim.bench.1.json")) ADD_FAILURE() << line;
  const Json document = Json::parse(run.out);
  EXPECT_EQ(document["runs"].size(), 16u);
  for (const Json& row : document["runs"]) {
    EXPECT_EQ(row["simulate_s"]["repeats"].size(), 2u);
    EXPECT_EQ(row["status"], "ok");
  }
}

TEST(Bench, FailureDocumentFollowsTheSchema) {
  const ProgramRun run = bench({"qtf", "--json"});
  EXPECT_EQ(run.exit_code, 2);
  for (const std::string& line : schema_violations(run.out, "qsim.bench.1.json")) ADD_FAILURE() << line;
  EXPECT_NE(run.err.find("did you mean 'qft'?"), std::string::npos) << run.err;
}

TEST(Bench, TableEndsWithTheVerdict) {
  const ProgramRun run = bench({"ghz", "-n", "6"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("two amplitudes"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.substr(run.out.rfind('\n', run.out.size() - 2) + 1), "OK: 1 benchmark passed 2 checks\n");
}

TEST(Bench, SizesThatDoNotFitAreSkippedAndAloneExitFive) {
  const ProgramRun some = bench({"ghz", "--qubits", "6,60"});
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_NE(some.out.find("skipped: ghz 60"), std::string::npos) << some.out;
  EXPECT_EQ(bench({"ghz", "--qubits", "60"}).exit_code, 5);
  EXPECT_EQ(bench({"ghz", "--qubits", "70"}).exit_code, 5);
}

TEST(Bench, AWrongReferenceFailsTheRowAndShowsNoTime) {
  const TemporaryFolder folder;
  const std::string gates = folder.file("one.gates", "# two qubits\nh 0\ncx 0 1\nrx 1 0.25\n");
  folder.file("one_probs.expected", "P of q[ 0] : 0.5\nP of q[ 1] : 0.5\n");
  EXPECT_EQ(bench({"--gates", gates}).exit_code, 0);
  folder.file("one_probs.expected", "P of q[ 0] : 0.5\nP of q[ 1] : 0.500002\n");
  const ProgramRun run = bench({"--gates", gates, "--json"});
  EXPECT_EQ(run.exit_code, 8);
  const Json row = Json::parse(run.out)["runs"][0];
  EXPECT_EQ(row["status"], "failed");
  EXPECT_TRUE(row["simulate_s"].is_null());
  EXPECT_NE(bench({"--gates", gates}).out.find("FAILED"), std::string::npos);
}

TEST(Bench, ExpectationValuesAreComparedTermByTerm) {
  const TemporaryFolder folder;
  const std::string gates = folder.file("two.gates", "x 0\nh 2\n");
  const std::string paulis = folder.file("two.pauli", "0.5 ZII\n2 IZI\n-1 IIX\n");
  const std::string values = folder.file("two.txt", "value of 0: -0.5\nvalue of 1: 2\nvalue of 2: -1.000000\n");
  const ProgramRun run = bench({"--gates", gates, "--pauli", paulis, "--expected", values});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  folder.file("two.txt", "0.5\n2\n-1\n");
  EXPECT_EQ(bench({"--gates", gates, "--pauli", paulis, "--expected", values}).exit_code, 8);
  folder.file("two.txt", "0.5\n2\n");
  EXPECT_EQ(bench({"--gates", gates, "--pauli", paulis, "--expected", values}).exit_code, 9);
}

TEST(Bench, BadGateListsNameTheLine) {
  const TemporaryFolder folder;
  for (const char* text : {"h 0\nnosuch 1\n", "h 0\nrx 1\n", "h 0\ncx 1\n", "h 0\nrx 1 x\n", "h 0\ncx 1 1\n"}) {
    const ProgramRun run = bench({"--gates", folder.file("bad.gates", text)});
    EXPECT_EQ(run.exit_code, 3) << text;
    EXPECT_NE(run.err.find("bad.gates:2:"), std::string::npos) << run.err;
  }
}

TEST(Bench, ComparesWithAnEarlierRun) {
  const TemporaryFolder folder;
  const std::string before = folder.file("before.json");
  ASSERT_EQ(bench({"random", "-n", "8", "--json", "--output", before}).exit_code, 0);
  const ProgramRun run = bench({"random", "-n", "8", "--compare", before, "--max-ratio", "1e9"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("against the earlier run"), std::string::npos) << run.out;
  const ProgramRun slow = bench({"random", "-n", "8", "--compare", before, "--max-ratio", "1e-9"});
  EXPECT_EQ(slow.exit_code, 8);
  EXPECT_NE(slow.out.find("TOO SLOW"), std::string::npos) << slow.out;
  EXPECT_EQ(bench({"random", "-n", "8", "--depth", "3", "--compare", before}).exit_code, 2);  // another circuit
  EXPECT_EQ(bench({"ghz", "-n", "8", "--compare", before}).exit_code, 2);                     // no such row
  EXPECT_EQ(bench({"ghz", "-n", "8", "--compare", "/nowhere.json"}).exit_code, 9);
  EXPECT_EQ(bench({"ghz", "-n", "8", "--compare", folder.file("x.json", "{\"schema\": \"x\"}")}).exit_code, 2);
  EXPECT_EQ(bench({"ghz", "-n", "8", "--compare", folder.file("y.json", "{")}).exit_code, 2);
}

TEST(Bench, DocumentsNameFilesWithoutTheirFolders) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("bell.qasm", "OPENQASM 2.0;\nqreg q[2];\nU(1,2,3) q[0];\nCX q[0],q[1];\n");
  const std::string before = folder.file("before.json");
  ASSERT_EQ(bench({circuit, "--json", "--output", before}).exit_code, 0);
  const std::string text = read_text(before);
  EXPECT_EQ(Json::parse(text)["runs"][0]["name"], "bell.qasm");
  EXPECT_EQ(text.find(circuit.substr(0, circuit.find_last_of('/'))), std::string::npos) << text;
  const ProgramRun again = bench({circuit, "--json", "--compare", before, "--max-ratio", "1e9"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["comparison"]["file"], "before.json");
}

TEST(Bench, SaysItsOwnShareOfATime) {  // how large it may be is a figure of docs/log/measurements.md
  const ProgramRun run = bench({"qft", "random", "-n", "16", "--from", "random", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json result = Json::parse(run.out);
  for (const Json& row : result["runs"]) {
    EXPECT_GT(row["overhead_s"].get<double>(), 0);
  }
}

TEST(Bench, FlagsWithoutEffectAreErrors) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--max-ratio", "2"},
                                                {"--exchange", "p2p"},
                                                {"--weak"},
                                                {"--depth", "3"},
                                                {"--pauli", "x"},
                                                {"--ranks", "3"},
                                                {"--qubits", "9..8"},
                                                {"--repeats", "0"}}) {
    std::vector<std::string> arguments{"bench", "ghz", "--backend", "cpu"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ProgramRun run = run_qsim(arguments);
    EXPECT_EQ(run.exit_code, 2) << flags[0] << run.err;
    EXPECT_EQ(run.out, "") << flags[0];
  }
}

TEST(Bench, DrawingIsWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.file("chart.svg");
  ASSERT_EQ(bench({"ghz", "qft", "-n", "8", "--ranks", "1,2", "--svg", path}).exit_code, 0);
  const std::string svg = read_text(path);
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find("class=\"curve l1\""), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

TEST(Bench, RunsOnTheRanksOfALauncher) {
  if (!mpi_is_here()) GTEST_SKIP() << "no MPI launcher";
  const ProgramRun run = run_mpi(2, {"bench", "qft", "random", "-n", "8", "--backend", "cpu", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json document = Json::parse(run.out);
  ASSERT_EQ(document["runs"].size(), 2u);
  for (const Json& row : document["runs"]) {
    EXPECT_EQ(row["ranks"], 2);
    EXPECT_GE(row["checks"].size(), 2u);
  }
}

}  // namespace
}  // namespace qsim::test
