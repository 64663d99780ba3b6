// Benchmarks: what they know of a circuit, what they compare, and that a wrong state is never a time.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numbers>

#include "base/file/files.h"
#include "bench/checks.h"
#include "bench/gate_list.h"
#include "bench/workload.h"
#include "circuit/generate/families.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "simulator/simulator.h"
#include "support/corpus.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

using namespace bench;

BenchRequest small_request(std::vector<std::string> names, std::uint32_t qubits) {
  BenchRequest request;
  request.names = std::move(names);
  request.qubits = {qubits};
  request.repeats = 1;
  request.warm_ups = 0;
  request.run.backend = BackendKind::kCpu;
  return request;
}

std::vector<AmplitudeEntry> all_amplitudes(const Circuit& circuit) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  for (Index i = 0; i < Index{1} << circuit.qubits(); ++i) options.amplitude_indices.push_back(i);
  return *simulate(circuit, options).results.amplitudes;
}

TEST(BenchWorkload, ClosedFormsAreTheStatesOfTheirFamilies) {
  for (const char* family : {"ghz", "qft", "qft_noswap", "iqft", "ghz_qft", "wstate"}) {
    for (std::uint32_t qubits = 1; qubits <= 7; ++qubits) {
      const BenchRequest request;
      const Workload workload = make_workload({Item::Kind::kFamily, family}, qubits, request);
      ASSERT_TRUE(workload.amplitude) << family;
      const bool everywhere = workload.indices.size() == std::size_t{1} << qubits;
      double known = 0;
      for (const AmplitudeEntry& entry : all_amplitudes(workload.circuit)) {
        const bool listed =
            std::find(workload.indices.begin(), workload.indices.end(), entry.index) != workload.indices.end();
        if (!listed) continue;
        known += std::norm(workload.amplitude(entry.index));
        EXPECT_LT(std::abs(entry.value - workload.amplitude(entry.index)), 1e-13) << family << qubits << entry.index;
      }
      EXPECT_NEAR(known, 1, 1e-12) << family << qubits << everywhere;
      if (!workload.companion) continue;
      for (const AmplitudeEntry& entry : all_amplitudes(*workload.companion)) {
        EXPECT_LT(std::abs(entry.value - workload.companion_amplitude(entry.index)), 1e-13) << family << qubits;
      }
    }
  }
}

TEST(BenchChecks, FindOneWrongPhase) {
  const Workload workload = make_workload({Item::Kind::kFamily, "iqft"}, 6, {});
  std::vector<AmplitudeEntry> amplitudes = all_amplitudes(workload.circuit);
  const std::uint64_t depth = workload.circuit.depth();
  EXPECT_TRUE(check_closed_form("x", workload.amplitude, amplitudes, Precision::kDouble, depth).passed);
  amplitudes[37].value *= std::polar(1.0, 1e-6);
  EXPECT_FALSE(check_closed_form("x", workload.amplitude, amplitudes, Precision::kDouble, depth).passed);
  amplitudes[37].value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(check_closed_form("x", workload.amplitude, amplitudes, Precision::kSingle, depth).passed);
}

TEST(BenchChecks, TellGaussianAmplitudesFromFlatOnes) {
  for (const char* const family : {"random", "supremacy"}) {
    const Workload workload = make_workload({Item::Kind::kFamily, family}, 14, {});
    ASSERT_TRUE(workload.statistics);
    EXPECT_TRUE(check_statistics(all_amplitudes(workload.circuit), 14, *workload.statistics).passed);
    std::vector<AmplitudeEntry> flat(1 << 14);
    for (AmplitudeEntry& entry : flat) entry.value = 1.0 / 128;
    EXPECT_FALSE(check_statistics(flat, 14, *workload.statistics).passed);
    std::vector<AmplitudeEntry> sparse(1 << 14);
    sparse[0].value = 1;
    EXPECT_FALSE(check_statistics(sparse, 14, *workload.statistics).passed);
  }
}

// At depth 14 some are far from random: this one's second moment is 2.5.
TEST(BenchChecks, AGridMayBeShallow) {
  BenchRequest request;
  request.seed = 2;
  const Workload workload = make_workload({Item::Kind::kFamily, "supremacy"}, 16, request);
  const std::vector<AmplitudeEntry> amplitudes = all_amplitudes(workload.circuit);
  EXPECT_TRUE(check_statistics(amplitudes, 16, *workload.statistics).passed);
  EXPECT_FALSE(check_statistics(amplitudes, 16, 0.3).passed);
}

TEST(BenchRun, ChecksEveryFamilyFromBothStartsInBothPrecisions) {
  BenchRequest request = small_request({}, 14);
  for (const GeneratorInfo& info : generators()) {
    if (info.min_qubits <= 14) request.names.emplace_back(info.name);
  }
  request.starts = {Start::kZero, Start::kRandom};
  request.precisions = {Precision::kDouble, Precision::kSingle};
  const BenchReport report = run_bench(request);
  ASSERT_EQ(report.rows.size(), request.names.size() * 4);
  for (const BenchRow& row : report.rows) {
    EXPECT_EQ(row.status, BenchStatus::kOk) << row.name << " " << row.reason;
    EXPECT_GE(row.checks.size(), 2u) << row.name;  // the norm and something that sees a skipped gate
    for (const BenchCheck& check : row.checks) EXPECT_TRUE(check.passed) << row.name << check.name << check.detail;
  }
  EXPECT_EQ(report.exit_code(), ExitCode::kOk);
}

TEST(BenchRun, RanksScaleStronglyAndWeakly) {
  BenchRequest request = small_request({"qft"}, 8);
  request.ranks = {1, 2, 4};
  for (const bool weak : {false, true}) {
    request.weak = weak;
    const BenchReport report = run_bench(request);
    ASSERT_EQ(report.rows.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(report.rows[i].ranks, 1 << i);
      EXPECT_EQ(report.rows[i].qubits, 8 + (weak ? i : 0));
      EXPECT_EQ(report.rows[i].status, BenchStatus::kOk);
    }
  }
}

TEST(BenchRun, WhatDoesNotFitIsSkippedWithTheReason) {
  BenchRequest request = small_request({"ghz"}, 5);
  request.qubits = {5, 20};
  request.run.max_memory = 1 << 20;
  const BenchReport report = run_bench(request);
  ASSERT_EQ(report.rows.size(), 2u);
  EXPECT_EQ(report.rows[1].status, BenchStatus::kSkipped);
  EXPECT_NE(report.rows[1].reason.find("20 qubits"), std::string::npos) << report.rows[1].reason;
  EXPECT_EQ(report.exit_code(), ExitCode::kOk);
  request.qubits = {20};
  EXPECT_EQ(run_bench(request).exit_code(), ExitCode::kCapacity);
}

TEST(BenchRun, UnknownNamesAreSuggested) {
  for (const auto& [typed, meant] : {std::pair{"qtf", "qft"}, {"asc:randm30", "asc:random30"}}) {
    try {
      run_bench(small_request({typed}, 5));
      ADD_FAILURE() << typed << " was taken";
    } catch (const UsageError& error) {
      EXPECT_NE(error.hint().find(meant), std::string::npos) << error.hint();
    }
  }
}

TEST(BenchTimes, MedianAndSpread) {
  EXPECT_EQ((BenchTimes{{3, 1, 2}}.median()), 2);
  EXPECT_EQ((BenchTimes{{4, 1, 2, 3}}.median()), 2.5);
  EXPECT_EQ((BenchTimes{{3, 1, 2}}.spread()), 1);
  EXPECT_EQ(BenchTimes{}.median(), 0);
}

TEST(BenchReport, AFailedRowDecidesAndHasNoTime) {
  BenchReport report;
  report.rows.resize(2);
  report.rows[0].status = BenchStatus::kOk;
  report.rows[0].simulate.seconds = {0.125};
  report.rows[1] = report.rows[0];
  report.rows[1].status = BenchStatus::kFailed;
  report.rows[1].name = "wrong";
  report.rows[1].simulate.seconds = {0.777};
  report.rows[1].checks = {{"closed form", false, "largest difference 1"}};
  EXPECT_EQ(report.exit_code(), ExitCode::kVerification);
  for (const std::string& text : {bench_text(report), bench_json(report), bench_svg(report)}) {
    EXPECT_EQ(text.find("777"), std::string::npos) << text;
  }
  EXPECT_NE(bench_text(report).find("FAILED"), std::string::npos);
}

TEST(CircuitHash, NamesTheOperations) {
  const Circuit qft = generate("qft", {6, 0, 1});
  EXPECT_EQ(circuit_hash(qft), circuit_hash(generate("qft", {6, 0, 1})));
  EXPECT_EQ(circuit_hash(qft), circuit_hash(parse_qasm(write_qasm(qft)).circuit));
  EXPECT_NE(circuit_hash(qft), circuit_hash(generate("qft", {7, 0, 1})));
  EXPECT_NE(circuit_hash(generate("random", {6, 3, 1})), circuit_hash(generate("random", {6, 3, 2})));
}

class Challenge : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = test::shared_folder() + "/workloads";
    if (!is_regular_file(folder_ + "/asc/random30.gates")) GTEST_SKIP() << "no shared workloads here (set QSIM_SHARED)";
    request_.workloads_folder = folder_;
  }
  std::string folder_;
  BenchRequest request_;
};

TEST_F(Challenge, ListsAndReferencesAreReadWhole) {
  struct Expected {
    const char* name;
    std::uint32_t qubits;
    std::size_t gates, marginals, amplitudes, terms;
  };
  for (const Expected& one : {Expected{"random30", 30, 490, 30, 10, 0}, Expected{"ghz_qft30", 30, 465, 30, 10, 0},
                              Expected{"ghz_qft29", 29, 0, 29, 10, 0}, Expected{"invqft34", 34, 0, 34, 10, 0},
                              Expected{"qftinvqft35", 35, 0, 35, 10, 0}, Expected{"shor35", 35, 0, 35, 10, 0},
                              Expected{"hamexp22", 22, 8558, 0, 0, 14905}}) {
    const Workload workload = make_workload({Item::Kind::kChallenge, one.name}, 0, request_);
    EXPECT_EQ(workload.circuit.qubits(), one.qubits) << one.name;
    if (one.gates != 0) {
      EXPECT_EQ(workload.circuit.operation_count(), one.gates) << one.name;
    }
    EXPECT_EQ(workload.reference ? workload.reference->marginals.size() : 0, one.marginals) << one.name;
    EXPECT_EQ(workload.reference ? workload.reference->amplitudes.size() : 0, one.amplitudes) << one.name;
    EXPECT_EQ(workload.observable_terms.size(), one.terms) << one.name;
    EXPECT_TRUE(workload.unchecked.empty()) << one.name;
  }
}

TEST_F(Challenge, PrintedValuesAreTakenFromTheirLines) {
  const Workload workload = make_workload({Item::Kind::kChallenge, "invqft34"}, 0, request_);
  EXPECT_EQ(workload.reference->marginals[1], 0.545461);
  EXPECT_EQ(workload.reference->amplitudes[3], Complex(-0.000017, -0.000029));
  const Workload hamiltonian = make_workload({Item::Kind::kChallenge, "hamexp22"}, 0, request_);
  EXPECT_EQ(hamiltonian.observable_terms[1], 0.000103);
  EXPECT_EQ(hamiltonian.observable->terms[1].pauli.z, Index{1} << 21);  // the last letter acts on the last qubit
}

TEST_F(Challenge, AbsentFilesMakeASkippedRow) {
  BenchRequest request = small_request({"asc:random30"}, 0);
  request.qubits.clear();
  request.workloads_folder = "/nowhere";
  const BenchReport report = run_bench(request);
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_EQ(report.rows[0].status, BenchStatus::kSkipped);
  EXPECT_NE(report.rows[0].reason.find("random30.gates"), std::string::npos);
}

}  // namespace
}  // namespace qsim
