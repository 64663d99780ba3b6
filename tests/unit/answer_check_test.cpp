// Answers that no state can have are refused, with numbers that show why.
#include "runtime/check/answer_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/layout.h"
#include "base/ranks/communicator.h"
#include "null/null_backend.h"
#include "qsim/error.h"
#include "runtime/accuracy.h"
#include "runtime/branch/program_run.h"

namespace qsim {
namespace {

/// Three qubits: 0 and 1 are measured into bits 1 and 0; P(1) is 0.25, 0.5 and 0.125.
struct Right {
  Right() {
    answers.weight = 1;
    answers.branches = 1;
    circuit.add_creg("a", 1);
    circuit.add_creg("b", 1);
    answers.distribution = {2, {0, 1, 2, 3}, {0.375, 0.375, 0.125, 0.125}};
    answers.marginals = {0.25, 0.5, 0.125};
    answers.probabilities = {{{1, 2}, {0.4375, 0.4375, 0.0625, 0.0625}}, {{0}, {0.75, 0.25}}};
    answers.expectation = {{"", 0, {{"", 1, -1}, {"", 1, 0.3}}}};
  }
  void lose_last() {
    answers.distribution->words.pop_back();
    answers.distribution->values.pop_back();
  }
  Circuit circuit;
  Answers answers;
};

/// The message that what `spoil` does is refused with; empty where it is not.
std::string refusal(const std::function<void(Right&)>& spoil, Precision precision = Precision::kDouble) {
  Right right;
  spoil(right);
  NullBackend backend({});
  const std::unique_ptr<Communicator> communicator = make_self_communicator();
  const DistributedState state{backend, *communicator, 3, 0, precision, Layout::identity(3)};
  const std::vector<std::pair<Qubit, Clbit>> measures = {{0, 1}, {1, 0}};
  try {
    check_answers(right.answers, right.circuit, TerminalMeasurements(measures, 2), state,
                  norm_tolerance(precision, 10, 0));
  } catch (const VerificationError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(AnswerCheck, LetsRightAnswersPass) {
  EXPECT_EQ(refusal([](Right&) {}), "");
  EXPECT_EQ(refusal([](Right& right) { right.answers.marginals.value()[0] += 1e-12; }), "");
  EXPECT_EQ(refusal([](Right& right) { right.answers.marginals.value()[0] += 1e-6; }, Precision::kSingle), "");
  EXPECT_EQ(refusal([](Right& right) {
              right.answers.weight = 0.75;
              right.answers.branches_left_out = 0.25;
              right.answers.distribution.reset();
              right.answers.marginals.reset();
              right.answers.probabilities.reset();
            }),
            "");
}

TEST(AnswerCheck, RefusesABranchThatIsMissing) {
  const std::string text = refusal([](Right& right) { right.answers.weight = 1 - 1e-9; });
  EXPECT_TRUE(has(text, "weights of the branches")) << text;
  EXPECT_TRUE(has(text, "0.999999999")) << text;
}

TEST(AnswerCheck, RefusesSumsThatAreOff) {
  EXPECT_TRUE(has(refusal([](Right& right) { right.lose_last(); }), "0.875"));
  EXPECT_TRUE(has(refusal([](Right& right) { right.answers.probabilities.value()[0].values[3] = 0; }),
                  "joint probabilities add up"));
  EXPECT_TRUE(has(refusal([](Right& right) {
                    std::swap(right.answers.probabilities.value()[0].values[0],
                              right.answers.probabilities.value()[0].values[2]);
                  }),
                  "P(qubit 2 = 1) by joint probabilities is 0.5"));
  EXPECT_TRUE(has(refusal([](Right& right) {
                    std::swap(right.answers.probabilities.value()[0].values[0],
                              right.answers.probabilities.value()[0].values[3]);
                  }),
                  "P(qubit 1 = 1) by joint probabilities is 0.875"));
  EXPECT_EQ(refusal([](Right& right) {
              right.lose_last();
              right.answers.outcomes_left_out = 0.125;
            }),
            "")
      << "what was taken for rounding counts";
}

TEST(AnswerCheck, RefusesReadOutsThatDisagreeAboutAQubit) {
  const std::string joint = refusal([](Right& right) { right.answers.marginals.value()[2] += 1e-9; });
  EXPECT_TRUE(has(joint, "P(qubit 2 = 1) by joint probabilities is 0.125 where by the marginals it is 0.125000001"))
      << joint;
  const std::string swapped = refusal(
      [](Right& right) { std::swap(right.answers.distribution->values[1], right.answers.distribution->values[2]); });
  EXPECT_TRUE(has(swapped, "by the distribution")) << swapped;
  // Two lists that share a qubit, without marginals.
  const std::string lists = refusal([](Right& right) {
    right.answers.marginals.reset();
    right.answers.distribution.reset();
    right.answers.probabilities.value()[1].qubits = {2};
  });
  EXPECT_TRUE(has(lists, "P(qubit 2 = 1)")) << lists;
}

TEST(AnswerCheck, RefusesWhatIsNoProbability) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(has(refusal([&](Right& right) { right.answers.marginals.value()[1] = nan; }), "qubit 1 is nan"));
  EXPECT_TRUE(has(refusal([&](Right& right) { right.answers.probabilities.value()[1].values[0] = nan; }), "nan"));
  EXPECT_TRUE(has(refusal([&](Right& right) { right.answers.distribution->values[0] = nan; }), "outcome 0 0 is nan"));
  EXPECT_TRUE(has(refusal([&](Right& right) { right.answers.weight = nan; }), "nan"));
  EXPECT_TRUE(has(refusal([](Right& right) { right.answers.marginals.value()[1] = -1e-3; }), "-0.001"));
  EXPECT_TRUE(has(refusal([](Right& right) { right.answers.expectation.value()[0].terms[0].value = -1.1; }), "-1.1"));
  EXPECT_TRUE(has(refusal([&](Right& right) { right.answers.expectation.value()[0].terms[1].value = nan; }), "nan"));
}

}  // namespace
}  // namespace qsim
