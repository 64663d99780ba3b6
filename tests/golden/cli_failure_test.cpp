// Bad input and bad flags: the exit code, one clear message on standard error, nothing on standard output.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "golden/cli_program.h"
#include "support/json_schema.h"

namespace qsim::test {
namespace {

const std::string kHead = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n";
const std::string kBell = kHead + "qreg q[2];\ncreg c[2];\nh q[0];\ncx q[0],q[1];\nmeasure q -> c;\n";
const std::string kUnmeasured = kHead + "qreg q[2];\nh q[0];\n";

/// A failed run: its code, a message that contains `words`, and a silent standard output.
void expect_failure(const ProgramRun& run, int code, const std::string& words) {
  EXPECT_EQ(run.exit_code, code) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find(words), std::string::npos) << "no '" << words << "' in: " << run.err;
}

/// Runs `text` as a file of its own, with `flags` behind it.
ProgramRun run_text(const std::string& text, std::vector<std::string> flags = {}) {
  const TemporaryFolder folder;
  flags.insert(flags.begin(), folder.file("circuit.qasm", text));
  return run_qsim(flags);
}

TEST(BadInput, MissingFileIsAFileError) {
  const ProgramRun run = run_qsim({"/nowhere/circuit.qasm"});
  expect_failure(run, 9, "/nowhere/circuit.qasm");
}

TEST(BadInput, FolderIsAFileError) { expect_failure(run_qsim({"/tmp"}), 9, "/tmp"); }

TEST(BadInput, UnreadableFileIsAFileError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every file";
  const TemporaryFolder folder;
  const std::string path = folder.file("circuit.qasm", kBell);
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  expect_failure(run_qsim({path}), 9, path);
}

TEST(BadInput, EmptyFileIsAnInvalidCircuit) {
  const TemporaryFolder folder;
  expect_failure(run_qsim({folder.file("input", "")}), 3, "error:");
}

TEST(BadInput, BinaryFileIsAnInvalidCircuit) {
  std::string bytes =
      "\x7f"
      "ELF";
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 37);
  const ProgramRun run = run_text(bytes);
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_LT(run.err.size(), 8000u);
  for (const char c : run.err) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 32) << int(c);
}

TEST(BadInput, UnknownGateNamesItsPlaceAndTheNearestGate) {
  const ProgramRun run = run_text(kHead + "qreg q[2];\nhh q[0];\n");
  expect_failure(run, 3, "circuit.qasm:4:1: error:");
  EXPECT_NE(run.err.find("hh q[0];"), std::string::npos) << run.err;
}

TEST(BadInput, WrongArityRepeatedQubitAndRegisterOutOfRangeAreInvalid) {
  expect_failure(run_text(kHead + "qreg q[2];\ncx q[0];\n"), 3, ":4:");
  expect_failure(run_text(kHead + "qreg q[2];\ncx q[0],q[0];\n"), 3, ":4:");
  expect_failure(run_text(kHead + "qreg q[2];\nx q[2];\n"), 3, ":4:");
}

TEST(BadInput, ErrorsOfOpenQasm3HaveTheirPlaces) {
  expect_failure(run_text("OPENQASM 3.0;\nqubit[2] q;\nfoo q;\n"), 3, "circuit.qasm:3:1: error: gate 'foo'");
  expect_failure(run_text("OPENQASM 3.2;\nqubit[2] q;\n"), 4, "version '3.2'");
  expect_failure(run_text("OPENQASM 3.0;\nextern f(int);\nf(1);\n"), 4, ":3:1: error: external function 'f'");
  expect_failure(run_text("OPENQASM 3.0;\ninput float a;\nqubit q;\nU(a, 0, 0) q;\n"), 3, "input 'a' has no value");
}

TEST(BadInput, AppliedOpaqueGateIsUnsupportedWithItsLine) {
  expect_failure(run_text("OPENQASM 2.0;\nopaque magic a;\nqreg q[1];\nmagic q[0];\n"), 4, ":4:");
}

TEST(BadInput, TooManyQubitsSayWhatWouldFit) {
  for (const char* qubits : {"40", "63", "1337"}) {
    const ProgramRun run = run_text(kHead + "qreg q[" + qubits + "];\nh q;\n");
    expect_failure(run, 5, qubits);
    EXPECT_NE(run.err.find("largest"), std::string::npos) << run.err;
  }
}

TEST(BadInput, MemoryLimitIsCheckedBeforeAllocating) {
  expect_failure(run_text(kHead + "qreg q[20];\nh q;\n", {"--max-memory", "1M"}), 5, "20 qubits");
  // The state of 16 MiB fits by itself, what goes with it does not.
  const ProgramRun tables = run_text(kHead + "qreg q[20];\nh q;\n", {"--max-memory", "16M"});
  expect_failure(tables, 5, "20 qubits in double need 16 MiB for the state");
  EXPECT_NE(tables.err.find("with all tables; this machine has 16 MiB to use; largest that fits here: 19"),
            std::string::npos)
      << tables.err;
}

TEST(BadInput, RankCountsThatCannotBeAreUsageErrors) {
  const ProgramRun three = run_text(kBell, {"--ranks", "3"});
  expect_failure(three, 2, "power of two");
  EXPECT_NE(three.err.find("2 or 4"), std::string::npos) << three.err;
  expect_failure(run_text(kBell, {"--ranks", "0"}), 2, "power of two");
  expect_failure(run_text(kBell, {"--ranks", "8"}), 2, "amplitudes");
}

TEST(BadInput, ClosedOrFullStandardOutputIsAFileError) {
  const TemporaryFolder folder;
  const std::string path = folder.file("circuit.qasm", kBell);
  for (const StdoutTo to : {StdoutTo::kClosed, StdoutTo::kFullDisk, StdoutTo::kClosedPipe}) {
    for (const char* form : {"--shots=10", "--json"}) {
      const ProgramRun run = run_qsim({path, form}, "", to);
      EXPECT_EQ(run.exit_code, 9) << run.err;
      EXPECT_NE(run.err.find("standard output"), std::string::npos) << run.err;
    }
  }
  EXPECT_EQ(run_qsim({"--help"}, "", StdoutTo::kFullDisk).exit_code, 9);
  EXPECT_EQ(run_qsim({"gen", "ghz", "-n", "4"}, "", StdoutTo::kFullDisk).exit_code, 9);
}

TEST(BadInput, FullDiskAndMissingFolderForFilesAreFileErrors) {
  expect_failure(run_text(kUnmeasured, {"--statevector", "/dev/full"}), 9, "/dev/full");
  expect_failure(run_text(kUnmeasured, {"--statevector", "/nowhere/state.npy"}), 9, "/nowhere/state.npy");
  expect_failure(run_text(kUnmeasured, {"--output", "/dev/full"}), 9, "/dev/full");
  expect_failure(run_text(kUnmeasured, {"--output", "/nowhere/result.json", "--json"}), 9, "/nowhere/result.json");
}

TEST(JsonOnFailure, GoesToStandardOutputWhereAnotherFileCannotBeWritten) {
  const ProgramRun run = run_text(kUnmeasured, {"--json", "--statevector", "/nowhere/state.npy"});
  EXPECT_EQ(run.exit_code, 9) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out).at("error").at("code"), 9);
}

TEST(JsonOnFailure, OverwritesNoFileThatTheCircuitIncludes) {
  const TemporaryFolder folder;
  const std::string gates = "gate own a { U(0,0,0) a; }\n", included = folder.file("gates.inc", gates);
  const std::string circuit =
      folder.file("circuit.qasm", "OPENQASM 2.0;\ninclude \"gates.inc\";\nqreg q[1];\nown q[0];\n");
  expect_failure(run_qsim({circuit, "--json", "--output", included}), 2, "includes it");
  EXPECT_EQ(read_text(included), gates);
}

struct FlagCase {
  const char* name;
  bool measured;
  std::vector<std::string> flags;
};

class NoEffect : public testing::TestWithParam<FlagCase> {};

TEST_P(NoEffect, IsAUsageError) {
  const ProgramRun run = run_text(GetParam().measured ? kBell : kUnmeasured, GetParam().flags);
  expect_failure(run, 2, GetParam().flags.front());
}

INSTANTIATE_TEST_SUITE_P(Flags, NoEffect,
                         testing::Values(FlagCase{"ShotsWithoutMeasurement", false, {"--shots", "10"}},
                                         FlagCase{"CountsWithoutMeasurement", false, {"--counts"}},
                                         FlagCase{"CountsOfNoShots", true, {"--counts", "--shots", "0"}},
                                         FlagCase{"SeedWhereNothingIsDrawn", false, {"--seed", "1"}},
                                         FlagCase{"DistributionWithoutBits", false, {"--distribution"}},
                                         FlagCase{"ExchangeOfOneRank", true, {"--exchange", "mpi"}},
                                         FlagCase{"RanksWithGpu", true, {"--ranks", "2", "--backend", "cuda"}},
                                         FlagCase{"GpusOnCpu", true, {"--gpus", "1", "--backend", "cpu"}},
                                         FlagCase{"GpuIdsOnCpu", true, {"--gpu-ids", "0", "--backend", "cpu"}},
                                         FlagCase{"PoolOnCpu", true, {"--pool", "50%", "--backend", "cpu"}},
                                         FlagCase{"JitOnCpu", true, {"--jit", "off", "--backend", "cpu"}},
                                         FlagCase{"ThreadsOnGpu", true, {"--threads", "2", "--backend", "cuda"}}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(BadFlags, AreNamedWithTheNearestOne) {
  const ProgramRun run = run_text(kBell, {"--shotz", "10"});
  expect_failure(run, 2, "--shotz");
  EXPECT_NE(run.err.find("did you mean '--shots'?"), std::string::npos) << run.err;
  expect_failure(run_text(kBell, {"--shots", "ten"}), 2, "'ten'");
  expect_failure(run_text(kBell, {"--shots", "-1"}), 2, "--shots");
  expect_failure(run_text(kBell, {"--shots", "1", "--shots", "2"}), 2, "--shots");
  expect_failure(run_text(kBell, {"--precision", "half"}), 2, "double|single");
  expect_failure(run_text(kBell, {"--amplitudes", "4"}), 2, "index 4");
  expect_failure(run_text(kBell, {"--amplitudes", "top:0"}), 2, "top:0");
  expect_failure(run_text(kBell, {"--probabilities", "0,0"}), 2, "twice");
  expect_failure(run_text(kBell, {"--probabilities", "2"}), 2, "qubit 2");
  expect_failure(run_text(kBell, {"--expectation", "Z7"}), 2, "Z7");
  expect_failure(run_text(kBell, {"--expectation", "/nowhere/h.txt"}), 9, "/nowhere/h.txt");
  expect_failure(run_qsim({}), 2, "no circuit file");
  expect_failure(run_qsim({"benhc"}), 9, "no command either");
  expect_failure(run_qsim({"gen", "ghzz", "-n", "3"}), 2, "ghz");
  expect_failure(run_qsim({"gen", "ghz", "-n", "3", "--depth", "2"}), 2, "depth");
  expect_failure(run_qsim({"gen", "ghz", "-n", "3", "--seed", "2"}), 2, "--seed");
  expect_failure(run_qsim({"plan"}), 2, "no circuit file");
}

TEST(BadFlags, CudaWithoutADeviceIsADeviceError) {
  if (::access("/dev/nvidia0", F_OK) == 0) GTEST_SKIP() << "there is a GPU here";
  expect_failure(run_text(kBell, {"--backend", "cuda"}), 6, "CUDA");
}

TEST(JsonOnFailure, IsOneDocumentWithTheErrorInIt) {
  const TemporaryFolder folder;
  const std::string path = folder.file("circuit.qasm", kHead + "qreg q[2];\nhh q[0];\n");
  const ProgramRun run = run_qsim({path, "--json"});
  EXPECT_EQ(run.exit_code, 3);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document.at("schema"), "qsim.result/1");
  EXPECT_EQ(document.at("ok"), false);
  EXPECT_EQ(document.at("exit_code"), 3);
  EXPECT_EQ(document.at("error").at("code"), 3);
  EXPECT_EQ(document.at("error").at("line"), 4);
  EXPECT_EQ(document.at("error").at("column"), 1);
  EXPECT_EQ(document.at("error").at("rank"), 0);
  EXPECT_TRUE(document.at("results").at("counts").is_null());
  EXPECT_TRUE(document.at("circuit").at("qubits").is_null());
  EXPECT_EQ(document.at("circuit").at("file"), path);
}

TEST(JsonOnFailure, ListsEverythingThatIsWrongWithItsPlaceAndHint) {
  const TemporaryFolder folder;
  const std::string good = folder.file("good.qasm", kHead + "qreg q[2];\n");
  const std::string bad = folder.file("bad.qasm", kHead + "qreg q[2];\nhh q[0];\ncxx q[0],q[1];\nx q[7];\n");
  struct Case {
    std::vector<std::string> words;
    std::string schema;
  };
  for (const Case& one :
       {Case{{bad, "--json"}, "qsim.result"}, Case{{"plan", bad, "--json"}, "qsim.plan"},
        Case{{"bench", bad, "--json"}, "qsim.bench"}, Case{{"gram", good, bad, "--json"}, "qsim.gram"}}) {
    const ProgramRun run = run_qsim(one.words);
    EXPECT_EQ(run.exit_code, 3) << one.schema;
    for (const std::string& line : schema_violations(run.out, one.schema + ".1.json")) ADD_FAILURE() << line;
    const auto document = nlohmann::json::parse(run.out);
    EXPECT_EQ(document.at("schema"), one.schema + "/1");
    const auto& list = document.at("error").at("diagnostics");
    ASSERT_EQ(list.size(), 3u) << one.schema << list.dump(1);
    EXPECT_EQ(list[0].at("line"), 4);
    EXPECT_EQ(list[0].at("message"), "gate 'hh' is not defined");
    EXPECT_EQ(list[1].at("line"), 5);
    EXPECT_EQ(list[1].at("hint"), "did you mean 'cx'?");
    EXPECT_EQ(list[2].at("line"), 6);
    EXPECT_EQ(list[2].at("file"), bad);
  }
}

TEST(JsonOnFailure, OfOneFailureListsIt) {
  const auto error = nlohmann::json::parse(run_qsim({"x.qasm", "--json", "--shotz", "1"}).out).at("error");
  ASSERT_EQ(error.at("diagnostics").size(), 1u);
  EXPECT_EQ(error.at("diagnostics")[0].at("message"), error.at("message"));
  EXPECT_EQ(error.at("diagnostics")[0].at("hint"), "did you mean '--shots'?");
  const ProgramRun gram = run_qsim({"gram", "a.qasm", "--json"});
  EXPECT_EQ(gram.exit_code, 2);
  EXPECT_EQ(nlohmann::json::parse(gram.out).at("schema"), "qsim.gram/1");
}

TEST(JsonOnFailure, CoversUsageAndMissingFiles) {
  const ProgramRun usage = run_qsim({"x.qasm", "--json", "--no-such-flag"});
  EXPECT_EQ(usage.exit_code, 2);
  EXPECT_EQ(nlohmann::json::parse(usage.out).at("error").at("code"), 2);
  EXPECT_TRUE(nlohmann::json::parse(usage.out).at("environment").at("version").is_string());
  const ProgramRun missing = run_qsim({"/nowhere/x.qasm", "--json"});
  EXPECT_EQ(missing.exit_code, 9);
  EXPECT_EQ(nlohmann::json::parse(missing.out).at("exit_code"), 9);
  const ProgramRun plan = run_qsim({"plan", "/nowhere/x.qasm", "--json"});
  EXPECT_EQ(plan.exit_code, 9);
  EXPECT_EQ(nlohmann::json::parse(plan.out).at("schema"), "qsim.plan/1");
}

}  // namespace
}  // namespace qsim::test
