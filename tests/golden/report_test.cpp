// The generated tables: what benchmarks/report.py makes of documents, and that the page says what the results say.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "golden/cli_program.h"

namespace qsim::test {
namespace {

const std::string kScript = std::string(QSIM_SOURCE_DIR) + "/benchmarks/report.py";

bool python_is_here() { return run_command({"python3", "--version"}).exit_code == 0; }

TEST(PerformanceReport, TablesComeFromTheDocuments) {
  if (!python_is_here()) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  const std::string page = folder.file("page.md",
                                       "typed\n<!-- begin generated cpu -->\nold\n<!-- end generated cpu -->\nmore\n"
                                       "<!-- begin generated challenge -->\n<!-- end generated challenge -->\n");
  const ProgramRun bench =
      run_qsim({"bench", "ghz", "-n", "7", "--backend", "cpu", "--json", "--output", folder.file("cpu_suite.json")});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  const std::vector<std::string> command{"python3", kScript, "--results", folder.path(), "--page", page};
  std::vector<std::string> check = command;
  check.emplace_back("--check");
  EXPECT_EQ(run_command(check).exit_code, 1);
  const ProgramRun run = run_command(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = read_text(page);
  EXPECT_NE(text.find("| ghz 7, from zero | double | 1 |"), std::string::npos) << text;
  EXPECT_NE(text.find("Not measured yet."), std::string::npos);
  EXPECT_EQ(text.find("old"), std::string::npos);
  EXPECT_EQ(text.substr(0, 6), "typed\n");
  EXPECT_EQ(run_command(check).exit_code, 0);
  ASSERT_EQ(run_command(command).exit_code, 0);
  EXPECT_EQ(read_text(page), text);
}

TEST(PerformanceReport, WhatWasNotMeasuredOrIsWrongHasNoFigure) {
  if (!python_is_here()) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  const std::string page = folder.file("page.md",
                                       "<!-- begin generated figures -->\n<!-- end generated figures -->\n"
                                       "<!-- begin generated sampling -->\n<!-- end generated sampling -->\n");
  const std::vector<std::string> command{"python3", kScript, "--results", folder.path(), "--page", page};
  ASSERT_EQ(run_command(command).exit_code, 0);
  const std::string nothing = read_text(page);
  EXPECT_EQ(nothing.find("\n0 of "), nothing.find('\n')) << nothing;
  EXPECT_NE(nothing.find("| 10^6 shots of 30 qubits to sorted pairs | <= 25 ms | not measured | - |"),
            std::string::npos);

  const auto document = [](const char* equal) {
    return std::string(R"({"schema": "qsim.table/1", "kind": "readouts", "date": "2026-01-02T00:00:00Z", "machine": "x",
      "commit": "y", "rows": [{"what": "shots", "device": "cuda", "qubits": 30, "shots": 1000000, "outcomes": 9,
      "ms": 12.5, "fastest_ms": 12.5, "distribution_ms": 4.5, "equal": )") +
           equal + "}]}";
  };
  folder.file("gpu1_readouts.json", document("true"));
  ASSERT_EQ(run_command(command).exit_code, 0);
  EXPECT_NE(read_text(page).find("<= 25 ms | 12.5 ms | 0.50 |"), std::string::npos) << read_text(page);
  folder.file("gpu1_readouts.json", document("false"));
  ASSERT_EQ(run_command(command).exit_code, 0);
  EXPECT_EQ(read_text(page).find("12.5"), std::string::npos) << read_text(page);
  EXPECT_NE(read_text(page).find("WRONG"), std::string::npos);
}

// A row of benchmarks/peers; what is left of it when it has no time is its status.
std::string peer_row(const std::string& circuit, const std::string& simulator, const std::string& variant, double ms,
                     const std::string& status = "ok", const std::string& mode = "warm") {
  return R"({"mode": ")" + mode + R"(", "circuit": ")" + circuit +
         R"(", "qubits": 24, "precision": "double", "simulator": ")" + simulator + R"(", "variant": ")" + variant +
         R"(", "status": ")" + status + R"(", "ms": )" + std::to_string(ms) + "}";
}

TEST(PerformanceReport, OtherSimulatorsCountByTheirFastestCallAndOnlyWhereTheyAreRight) {
  if (!python_is_here()) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  const std::string page = folder.file("page.md",
                                       "<!-- begin generated peers -->\n<!-- end generated peers -->\n"
                                       "<!-- begin generated headline -->\n<!-- end generated headline -->\n");
  const std::vector<std::string> command{"python3", kScript, "--results", folder.path(), "--page", page};
  ASSERT_EQ(run_command(command).exit_code, 0);
  EXPECT_EQ(read_text(page).find("| qubits |"), std::string::npos);
  folder.file(
      "cpu_peers.json",
      R"({"schema": "qsim.table/1", "kind": "peers", "date": "2026-01-02T00:00:00Z", "machine": "x", "commit": "y",
      "threads": 2, "python": "3", "versions": {"aer": "1"}, "rows": [)" +
          peer_row("ghz", "qsim", "default", 10) + "," + peer_row("ghz", "aer", "transpiled", 500) + "," +
          peer_row("ghz", "aer", "direct", 25) + "," + peer_row("ghz", "qulacs", "plain", 1, "wrong") + "," +
          peer_row("qft", "qsim", "default", 10) + "," + peer_row("qft", "qulacs", "plain", 1000) + "," +
          peer_row("ghz", "program", "default", 20, "ok", "whole") + "," +
          peer_row("ghz", "aer", "direct", 80, "ok", "whole") + "]}");
  const ProgramRun run = run_command(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = read_text(page);
  EXPECT_NE(text.find("| GHZ | 10 | 25 | - | WRONG | 2.5x |"), std::string::npos) << text;
  EXPECT_NE(text.find("| QFT with swaps | 10 | - | - | 1000 | 100x |"), std::string::npos) << text;
  EXPECT_NE(text.find("| 24 | 15.8x (2.5x) | - | 4.0x (4.0x) | - |"), std::string::npos) << text;
  EXPECT_NE(text.find("| two cores, 24 qubits in double, 2 circuits | 10 ms | 158 ms | 15.8x (2.5x to 100x) |"),
            std::string::npos)
      << text;
  EXPECT_NE(read_text(folder.path() + "/images/headline.svg").find("fastest other 25 ms"), std::string::npos);
}

TEST(PerformanceReport, OtherSimulatorsOnAGpuCountAsMeasuredWhereTheyAreRight) {
  if (!python_is_here()) GTEST_SKIP() << "no python3";
  const TemporaryFolder folder;
  const std::string page = folder.file("page.md",
                                       "<!-- begin generated gpu -->\n<!-- end generated gpu -->\n"
                                       "<!-- begin generated gpu_peers -->\n<!-- end generated gpu_peers -->\n");
  folder.file("gpu1_engine.json",
              R"({"schema": "qsim.bench/1", "date": "2026-01-01T00:00:00Z", "machine": "x", "error": null,
      "environment": {"commit": "y", "cuda": "13.0", "driver": "1"}, "runs": [{"name": "qft", "qubits": 30,
      "from": "random", "precision": "double", "ranks": 1, "backend": "cuda", "status": "ok",
      "simulate_s": {"median": 0.02}, "work": {"sweeps": 3, "memory_fraction": 0.9}}]})");
  const std::vector<std::string> command{"python3", kScript, "--results", folder.path(), "--page", page};
  ASSERT_EQ(run_command(command).exit_code, 0);
  EXPECT_NE(read_text(page).find("| 20 | 90 % | - | 236 | 11.8x |"), std::string::npos) << read_text(page);  // as typed
  const auto row = [](const std::string& simulator, const std::string& variant, const std::string& start, double ms,
                      const std::string& status = "ok") {
    return R"({"circuit": "qft", "qubits": 30, "precision": "double", "simulator": ")" + simulator +
           R"(", "variant": ")" + variant + R"(", "from": ")" + start + R"(", "status": ")" + status + R"(", "ms": )" +
           std::to_string(ms) + "}";
  };
  folder.file("gpu1_peers.json",
              R"({"schema": "qsim.table/1", "kind": "gpu_peers", "date": "2026-01-02T00:00:00Z",
      "machine": "NVIDIA H200", "commit": "y", "python": "3", "versions": {"custatevec": "1.2.3"}, "rows": [)" +
                  row("qsim", "default", "random", 10) + "," + row("qsim", "default", "zero", 1) + "," +
                  row("custatevec", "default", "zero", 70) + "," + row("custatevec", "dense5", "zero", 50) + "," +
                  row("cudaq", "default", "zero", 20, "wrong") + "]}");
  const ProgramRun run = run_command(command);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = read_text(page);
  EXPECT_NE(text.find("| 20 | 90 % | - | 50 | 2.5x |"), std::string::npos) << text;
  EXPECT_NE(text.find("| GHZ (`ghz`) | - | - | - | - | 43 | - |"), std::string::npos) << text;  // still as typed
  EXPECT_NE(text.find("| QFT with swaps | 10 | 50 | - | 5.0x | - | - | - | - |"), std::string::npos) << text;
  EXPECT_NE(text.find("cuStateVec Ex 1.2.3."), std::string::npos) << text;
}

TEST(PerformanceReport, ThePageSaysWhatTheResultsSay) {
  if (!python_is_here()) GTEST_SKIP() << "no python3";
  const ProgramRun run = run_command({"python3", kScript, "--check"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

}  // namespace
}  // namespace qsim::test
