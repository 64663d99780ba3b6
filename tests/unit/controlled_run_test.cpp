// Programs whose measurements decide what runs, simulated: answers in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "document/result.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "qsim/target.h"
#include "simulator/simulator.h"
#include "support/outcomes.h"
#include "support/simulate.h"
#include "support/test_backend.h"

namespace qsim {
namespace {

constexpr const char* kHead = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n";

Result run(const std::string& text, std::uint64_t shots, bool exact, int ranks = 1) {
  RunOptions options = test::run_options();
  options.shots = shots;
  options.seed = 5;
  options.verify = Verify::kFull;
  options.distribution = options.marginals = exact;
  return simulate(parse_qasm(kHead + text).circuit, options, ranks);
}

void expect_near(const std::map<std::string, double>& expected, const std::map<std::string, double>& found) {
  double total = 0;
  for (const auto& [bits, probability] : found) total += probability;
  EXPECT_NEAR(total, 1, 1e-13);
  for (const auto& [bits, probability] : expected) {
    const auto at = found.find(bits);
    EXPECT_NEAR(at == found.end() ? 0 : at->second, probability, 1e-13) << bits;
  }
}

const std::string kGeometric =
    "qubit q; bit[8] n; bit c = 1; uint[8] k = 0;"
    "while (c) { k += 1; h q; c = measure q; reset q; } n = k;";

TEST(ControlledRun, LoopsThatMeasureEndWithTheirProbability) {
  const Result result = run(kGeometric, 10000, true);
  expect_near({{"000000001", 0.5}, {"000000010", 0.25}, {"000000100", 0.0625}},
              test::by_text(result.results.distribution.value()));
  EXPECT_EQ("ok", result.verification.status);
  std::uint64_t total = 0;
  for (const auto& [bits, count] : result.results.counts.value()) total += count;
  EXPECT_EQ(10000u, total);
}

TEST(ControlledRun, BranchesTooUnlikelyToCountEndALoop) {
  // Both outcomes of the last measurement that is followed are negligible.
  const std::string text =
      "qubit[2] q; bit[2] c; while (c == 0) { while (!c[0]) { h q[0]; cx q[0], q[1];"
      "c[0] = measure q[0]; c[1] = measure q[1]; } }";
  const std::map<std::string, double> found = test::by_text(run(text, 0, true).results.distribution.value());
  expect_near({{"11", 1}}, found);
}

TEST(ControlledRun, TeleportationGivesTheState) {
  const std::string text =
      "qubit[3] q; bit[2] m; ry(1.2) q[0]; h q[1]; cx q[1], q[2]; cx q[0], q[1]; h q[0];"
      "m[0] = measure q[0]; m[1] = measure q[1]; if (m[1]) x q[2]; if (m[0]) z q[2];";
  for (const int ranks : {1, 2}) {
    const Result result = run(text, 0, true, ranks);
    EXPECT_NEAR(result.results.marginals.value()[2], std::pow(std::sin(0.6), 2), 1e-13);
    expect_near({{"00", 0.25}, {"01", 0.25}, {"10", 0.25}, {"11", 0.25}},
                test::by_text(result.results.distribution.value()));
  }
}

TEST(ControlledRun, MeasurementsThatResultsDoNotHoldAreNoContradiction) {
  // c[1] is written over: what was measured into it counts in `n` alone.
  const std::string text =
      "qubit[2] q; bit[2] c; uint[3] n; h q[1]; c[1] = measure q[1]; n = c[1]; c = 1; bit r = measure q[0];";
  const Result result = run(text, 100, true);
  expect_near({{"001", 1}}, test::by_text(result.results.distribution.value()));
  EXPECT_NEAR(result.results.marginals.value()[1], 0.5, 1e-13);
}

TEST(ControlledRun, ArithmeticOnMeasuredValuesChoosesAngles) {
  // Iterative phase estimation of 5/16.
  const std::string text =
      "qubit[2] q; uint[4] v = 0; bit[4] c; x q[1];"
      "for int i in [0:3] { reset q[0]; h q[0];"
      "  for int j in [1:(1 << (3 - i))] { cp(2 * pi * 5 / 16) q[0], q[1]; }"
      "  p(-2 * pi * v / (1 << (i + 1))) q[0]; h q[0];"
      "  bit b = measure q[0]; if (b) { v += 1 << i; } } c = v;";
  expect_near({{"0101", 1}}, test::by_text(run(text, 0, true).results.distribution.value()));
}

/// The message with which a run of at most `iterations` jumps back ends, empty where it does not fail.
std::string refusal(const std::string& text, std::uint64_t iterations) {
  RunOptions options = test::run_options();
  options.distribution = true;
  options.max_iterations = iterations;
  try {
    simulate(parse_qasm(kHead + text).circuit, options, 1);
    return "";
  } catch (const UnsupportedError& error) {
    return error.what();
  }
}

TEST(ControlledRun, LoopsThatRunTooOftenAreRefusedWithWhatIsLeft) {
  // Half of what is left leaves the loop at each iteration; the eleventh jumps back once more.
  const std::string message = refusal(kGeometric, 10);
  EXPECT_NE(message.find("ran more than 10 times"), std::string::npos) << message;
  EXPECT_NE(message.find("; 0.00048828125 of the probability is left"), std::string::npos) << message;
  // Five iterations, always: four jumps back.
  const std::string five = "qubit q; bit c = 0; uint[8] k = 0; while (!c) { k += 1; if (k == 5) x q; c = measure q; }";
  EXPECT_EQ(refusal(five, 4), "");
  const std::string one_more = refusal(five, 3);
  EXPECT_NE(one_more.find("ran more than 3 times"), std::string::npos) << one_more;
  EXPECT_NE(one_more.find("; 1 of the probability is left"), std::string::npos) << one_more;
}

/// Of a number that is the program's only output: value -> share.
template <class Share>
std::map<std::uint64_t, double> by_value(const std::map<VariableValues, Share, VariableOrder>& found) {
  std::map<std::uint64_t, double> shares;
  for (const auto& [values, share] : found) {
    shares[static_cast<std::uint64_t>(values.at(0).word)] += static_cast<double>(share);
  }
  return shares;
}

TEST(ControlledRun, VariablesAreCountedAndHaveADistribution) {
  // A measurement on the way; one at the end alone; none at all.
  const std::string middle =
      "output uint[4] v; qubit q; bit c; ry(1.2) q; c = measure q; reset q; v = 6; if (c) v = 9;";
  const std::string at_end = "output uint[4] v; qubit q; bit c; ry(1.2) q; c = measure q; v = 6; if (c) v = 9;";
  const double one = std::pow(std::sin(0.6), 2);
  for (const std::string& text : {middle, at_end}) {
    const Result result = run(text, 4000, true);
    ASSERT_TRUE(result.results.variables) << text;
    const std::map<std::uint64_t, double> distribution = by_value(*result.results.variables->distribution);
    EXPECT_EQ(distribution.size(), 2u);
    EXPECT_NEAR(distribution.at(9), one, 1e-13);
    EXPECT_NEAR(distribution.at(6), 1 - one, 1e-13);
    const std::map<std::uint64_t, double> counts = by_value(*result.results.variables->counts);
    EXPECT_EQ(counts.at(6) + counts.at(9), 4000);
    EXPECT_NEAR(counts.at(9) / 4000, one, 0.05);
    EXPECT_FALSE(run(text, 100, false).results.variables->distribution) << "nobody asked for it";
  }
  const Result none = run("output uint[4] v; qubit q; h q; v = 9;", 0, false);
  EXPECT_EQ(by_value(*none.results.variables->distribution), (std::map<std::uint64_t, double>{{9, 1}}));
}

}  // namespace
}  // namespace qsim
