// What the program prints for circuits whose answers are known in closed form.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "golden/cli_program.h"
#include "plan/plan.h"
#include "support/json_schema.h"

namespace qsim::test {
namespace {

using nlohmann::json;

const std::string kHead = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n";
const std::string kGhz3 = kHead + "qreg q[3];\ncreg c[3];\nh q[0];\ncx q[0],q[1];\ncx q[1],q[2];\nmeasure q -> c;\n";

/// The document that qsim prints for `text` on standard input.
json document_of(const std::string& text, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"-", "--json"});
  const ProgramRun run = run_qsim(flags, text);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  for (const std::string& violation : schema_violations(run.out, "qsim.result.1.json")) ADD_FAILURE() << violation;
  return json::parse(run.out);
}

std::set<std::string> keys_of(const json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

TEST(JsonResult, HasEveryKeyAlways) {
  const json document = document_of(kGhz3, {});
  EXPECT_EQ(keys_of(document),
            (std::set<std::string>{"schema", "ok", "exit_code", "circuit", "conventions", "run", "results",
                                   "verification", "memory", "time_s", "work", "environment", "warnings", "error"}));
  EXPECT_EQ(keys_of(document["circuit"]), (std::set<std::string>{"file", "xxh3", "language", "qubits", "clbits",
                                                                 "operations", "depth", "qregs", "cregs"}));
  EXPECT_EQ(keys_of(document["results"]), (std::set<std::string>{"counts", "distribution", "variables", "probabilities",
                                                                 "marginals", "amplitudes", "expectation", "files"}));
  EXPECT_EQ(keys_of(document["run"]),
            (std::set<std::string>{"backend", "device", "precision", "ranks", "threads", "exchange", "seed", "shots"}));
  EXPECT_EQ(keys_of(document["work"]),
            (std::set<std::string>{"sweeps", "exchanges", "bytes_swept_per_rank", "bytes_exchanged_per_rank",
                                   "memory_gbps", "link_gbps", "known_zeros"}));
  EXPECT_EQ(keys_of(document["environment"]), (std::set<std::string>{"version", "commit", "compiler", "cuda", "driver",
                                                                     "mpi", "nccl", "devices", "host"}));
  EXPECT_TRUE(document["error"].is_null());
  EXPECT_TRUE(document["run"]["seed"].is_string());
  EXPECT_TRUE(document["work"]["bytes_swept_per_rank"].is_string());
  EXPECT_TRUE(document["memory"]["state_bytes"].is_string());
  EXPECT_EQ(document["memory"]["state_bytes"], "128");
  EXPECT_EQ(document["run"]["shots"], 1024);
  EXPECT_EQ(document["circuit"]["operations"], 6);
  EXPECT_EQ(document["circuit"]["qregs"], json::parse(R"([["q", 3]])"));
  EXPECT_EQ(document["circuit"]["xxh3"].get<std::string>().size(), 16u);
}

TEST(JsonResult, CountsOfAGhzStateAreItsTwoOutcomes) {
  const json counts = document_of(kGhz3, {"--shots", "4000", "--seed", "5"})["results"]["counts"];
  ASSERT_EQ(keys_of(counts), (std::set<std::string>{"000", "111"}));
  EXPECT_EQ(counts["000"].get<int>() + counts["111"].get<int>(), 4000);
  EXPECT_NEAR(counts["000"].get<double>(), 2000, 200);
}

TEST(JsonResult, SameSeedSameCountsForAnyRanksAndThreads) {
  const json one = document_of(kGhz3, {"--seed", "9"})["results"]["counts"];
  EXPECT_EQ(document_of(kGhz3, {"--seed", "9", "--threads", "2"})["results"]["counts"], one);
  for (const char* ranks : {"2", "4"}) {
    const json document = document_of(kGhz3, {"--seed", "9", "--ranks", ranks});
    EXPECT_EQ(document["results"]["counts"], one) << ranks << " ranks";
    EXPECT_EQ(document["run"]["ranks"], std::stoi(ranks));
  }
}

TEST(JsonResult, NamingTheSeedRepeatsARandomStart) {
  const json first = document_of(kGhz3, {"--from", "random", "--marginals"});
  const json again = document_of(kGhz3, {"--from", "random", "--marginals", "--seed", first["run"]["seed"]});
  EXPECT_EQ(again["results"]["counts"], first["results"]["counts"]);
  EXPECT_EQ(again["results"]["marginals"], first["results"]["marginals"]);
}

TEST(JsonResult, ShotsZeroLeavesCountsNull) {
  EXPECT_TRUE(document_of(kGhz3, {"--shots", "0"})["results"]["counts"].is_null());
}

TEST(JsonResult, ReadOutsAreThoseOfTheStateBeforeMeasuring) {
  const json results = document_of(
      kGhz3, {"--marginals", "--amplitudes", "7,0,1", "--probabilities", "2,0", "--probabilities", "1", "--expectation",
              "Z0 Z1", "--expectation", "0.5 X0 X1 X2 + -2 Z2", "--distribution"})["results"];
  for (const json& p : results["marginals"]) EXPECT_NEAR(p.get<double>(), 0.5, 1e-12);
  ASSERT_EQ(results["amplitudes"].size(), 3u);
  EXPECT_EQ(results["amplitudes"][0]["index"], "7");
  EXPECT_EQ(results["amplitudes"][0]["bits"], "111");
  EXPECT_NEAR(results["amplitudes"][0]["re"].get<double>(), 0.70710678118654752, 1e-12);
  EXPECT_NEAR(results["amplitudes"][2]["probability"].get<double>(), 0, 1e-12);
  ASSERT_EQ(results["probabilities"].size(), 2u);
  EXPECT_EQ(results["probabilities"][0]["qubits"], json::parse("[2, 0]"));
  EXPECT_NEAR(results["probabilities"][0]["values"][3].get<double>(), 0.5, 1e-12);
  EXPECT_NEAR(results["probabilities"][0]["values"][1].get<double>(), 0, 1e-12);
  ASSERT_EQ(results["expectation"].size(), 2u);
  EXPECT_NEAR(results["expectation"][0]["value"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(results["expectation"][1]["value"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(results["expectation"][1]["terms"][0]["pauli"], "X0 X1 X2");
  EXPECT_NEAR(results["distribution"]["000"].get<double>(), 0.5, 1e-12);
}

TEST(JsonResult, BitOrderIsQiskits) {
  const std::string text = kHead +
                           "qreg a[2];\nqreg b[1];\ncreg low[2];\ncreg high[1];\nx a[1];\nmeasure a -> low;\n"
                           "measure b -> high;\n";
  const json results = document_of(text, {"--shots", "3", "--amplitudes", "top:1"})["results"];
  EXPECT_EQ(keys_of(results["counts"]), (std::set<std::string>{"0 10"}));
  EXPECT_EQ(results["amplitudes"][0]["index"], "2");
  EXPECT_EQ(results["amplitudes"][0]["bits"], "010");
}

TEST(JsonResult, ACircuitWithoutQubitsHasOneAmplitude) {
  const json results = document_of(kHead, {"--amplitudes", "0", "--marginals"})["results"];
  ASSERT_EQ(results["amplitudes"].size(), 1u);
  EXPECT_EQ(results["amplitudes"][0]["re"], 1.0);
  EXPECT_EQ(results["amplitudes"][0]["bits"], "");
  EXPECT_EQ(results["marginals"].size(), 0u);
}

TEST(TextResult, FitsOnAScreenAndSaysWhatRan) {
  const TemporaryFolder folder;
  const std::string path = folder.file("layer.qasm", kHead + "qreg q[8];\ncreg c[8];\nh q;\nmeasure q -> c;\n");
  const ProgramRun run = run_qsim({path});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LE(std::count(run.out.begin(), run.out.end(), '\n'), 25);
  for (const char* word : {"8 qubits", "cpu", "double", "norm", "1.000000000000", "time", "seed", "--json has all"}) {
    EXPECT_NE(run.out.find(word), std::string::npos) << word << " in\n" << run.out;
  }
}

TEST(TextResult, ShowsInFullWhatWasAskedForByName) {
  const TemporaryFolder folder;
  const std::string path = folder.file("layer.qasm", kHead + "qreg q[8];\ncreg c[8];\nh q;\nmeasure q -> c;\n");
  const auto lines_with = [](const std::string& text, const std::string& word) {
    std::istringstream lines(text);
    std::size_t found = 0;
    for (std::string line; std::getline(lines, line);) found += line.find(word) != std::string::npos ? 1 : 0;
    return found;
  };
  const ProgramRun run = run_qsim({path, "--marginals", "--amplitudes", "top:40", "--distribution", "--probabilities",
                                   "0,1,2,3,4", "--shots", "4000", "--seed", "1"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines_with(run.out, "i    0.3906 %"), 40u) << run.out;
  EXPECT_EQ(lines_with(run.out, "  0.003906250000"), 256u) << run.out;
  EXPECT_EQ(lines_with(run.out, "  0.031250000000"), 32u) << run.out;
  EXPECT_EQ(lines_with(run.out, "more (--counts or --json has all)"), 1u) << "nobody asked for the counts";
  const ProgramRun counts = run_qsim({path, "--counts", "--shots", "20000", "--seed", "1", "-q"});
  EXPECT_EQ(std::count(counts.out.begin(), counts.out.end(), '\n'), 257) << counts.out;
  const ProgramRun file = run_qsim({path, "--shots", "20000", "--seed", "1", "--output", folder.file("out.txt")});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_EQ(lines_with(read_text(folder.file("out.txt")), " has all"), 0u);
  EXPECT_GT(lines_with(read_text(folder.file("out.txt")), " %  "), 255u);
  const ProgramRun wide = run_qsim({"-", "--amplitudes", "top:1", "-q", "--counts", "--shots", "1"},
                                   kHead + "qreg q[3];\ncreg c[100];\nx q[0];\nmeasure q[0] -> c[99];\n");
  EXPECT_NE(wide.out.find(" 1" + std::string(99, '0') + " "), std::string::npos) << wide.out;
}

TEST(TextResult, QuietIsTheResultsAloneAndVerboseSaysMore) {
  const ProgramRun quiet = run_qsim({"-", "-q", "-s", "1e3", "--seed", "7"}, kGhz3);
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_EQ(quiet.out.find("counts of 1000 shots"), 0u) << quiet.out;
  EXPECT_EQ(std::count(quiet.out.begin(), quiet.out.end(), '\n'), 3) << quiet.out;
  const ProgramRun verbose = run_qsim({"-", "-v"}, kGhz3);
  EXPECT_EQ(verbose.exit_code, 0) << verbose.err;
  for (const char* word :
       {"  program    qsim ", "  threads    ", "  memory     ", "  work       ", "  gates      3 "}) {
    EXPECT_NE(verbose.out.find(word), std::string::npos) << word << " in\n" << verbose.out;
  }
  EXPECT_EQ(run_qsim({"-", "-v", "-q"}, kGhz3).exit_code, 2);
  EXPECT_EQ(run_qsim({"-", "-v", "--json"}, kGhz3).exit_code, 2);
}

TEST(TextResult, QuietKeepsWarningsOnStandardError) {
  const ProgramRun run =
      run_qsim({"-", "-q"}, "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit q;\ndelay[10ns] q;\nbit c = measure q;\n");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("warning: "), std::string::npos) << run.err;
}

TEST(TextResult, ShowsTheLikeliestOutcomesWhenNothingWasAsked) {
  const TemporaryFolder folder;
  const ProgramRun run = run_qsim({folder.file("x.qasm", kHead + "qreg q[3];\nx q[1];\n")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("010"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" 100 %"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("000  "), std::string::npos) << "impossible outcomes are listed:\n" << run.out;
}

TEST(Output, GoesToTheNamedFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const std::string path = folder.file("result.json");
  const ProgramRun run = run_qsim({"-", "--json", "--output", path}, kGhz3);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(json::parse(read_text(path))["ok"], true);
  EXPECT_EQ(folder.count(), 1u);
}

TEST(Plan, SaysWhatARunWouldDoForAnyDevice) {
  const ProgramRun ghz = run_qsim({"gen", "ghz", "-n", "30"});
  ASSERT_EQ(ghz.exit_code, 0) << ghz.err;
  for (const char* ranks : {"1", "8"}) {
    const ProgramRun run = run_qsim({"plan", "-", "--device", "h200", "--ranks", ranks, "--json", "--trace"}, ghz.out);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    for (const std::string& violation : schema_violations(run.out, "qsim.plan.1.json")) ADD_FAILURE() << violation;
    const json plan = json::parse(run.out);
    EXPECT_EQ(plan["fits"], true);
    EXPECT_EQ(plan["ranks"], std::stoi(ranks));
    EXPECT_EQ(plan["memory_bytes_per_rank"]["state"], std::to_string((std::uint64_t{16} << 30) / std::stoul(ranks)));
    EXPECT_GE(plan["sweeps"], 1);
  }
}

TEST(Plan, OfAStateThatFitsNowhereIsStillAPlan) {
  const std::string wide = kHead + "qreg q[62];\nh q;\n";
  const ProgramRun run = run_qsim({"plan", "-", "--device", "h200", "--json"}, wide);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json plan = json::parse(run.out);
  EXPECT_EQ(plan["fits"], false);
  EXPECT_EQ(plan["largest_qubits"], 33);
  const ProgramRun wider = run_qsim({"plan", "-", "--json"}, kHead + "qreg q[63];\nh q;\n");
  EXPECT_EQ(wider.exit_code, 5);
  for (const std::string& violation : schema_violations(wider.out, "qsim.plan.1.json")) ADD_FAILURE() << violation;
}

TEST(Plan, TextIsForAPersonToRead) {
  const ProgramRun run = run_qsim({"plan", "-", "--tile", "10"}, kGhz3);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("sweep"), std::string::npos) << run.out;
}

TEST(Commands, HelpAndVersionGoToStandardOutput) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"--help"}, {"run", "--help"}, {"plan", "-h"}, {"gen", "--help"}, {"info", "--help"}}) {
    const ProgramRun run = run_qsim(words);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_NE(run.out.find("xample"), std::string::npos) << run.out;
  }
  EXPECT_EQ(run_qsim({"--version"}).out.compare(0, 5, "qsim "), 0);
}

TEST(Commands, GeneratedCircuitsRun) {
  const ProgramRun gen = run_qsim({"gen", "ghz", "-n", "5"});
  ASSERT_EQ(gen.exit_code, 0) << gen.err;
  const json document = document_of(gen.out, {"--marginals"});
  EXPECT_EQ(document["circuit"]["qubits"], 5);
  for (const json& p : document["results"]["marginals"]) EXPECT_NEAR(p.get<double>(), 0.5, 1e-12);
}

TEST(Commands, InfoNamesTheProcessorAndTheChoice) {
  const ProgramRun run = run_qsim({"info"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  for (const char* word : {"processor", "instruction sets", "memory", "MPI", "auto"}) {
    EXPECT_NE(run.out.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace qsim::test
