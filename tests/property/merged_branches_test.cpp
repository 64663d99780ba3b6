// Random programs of OpenQASM 3 that measurements decide: branches made one where they meet give what they give one by
// one, and what the dense reference gives. QSIM_CAMPAIGN and QSIM_CAMPAIGN_FIRST say how many and which.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "classical/flow.h"
#include "qasm3/read.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "support/flow_interpreter.h"
#include "support/outcomes.h"
#include "support/random_program.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

constexpr std::uint64_t kQubits = 3;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Branches {
  std::size_t alone = 0, merged = 0;
};

void expect_program(const std::string& text, Branches& all) {
  ReadOuts wanted;
  wanted.distribution = wanted.marginals = true;
  wanted.shots = 60;
  wanted.seed = 5;
  test::RunSetup setup;
  setup.walk_bytes = std::uint64_t{1} << 24;
  setup.snapshots = 16;
  test::with_run_parts(parse_qasm(text).circuit, setup, [&](test::RunParts& parts) {
    Answers merged, alone;
    try {
      parts.run->one_by_one = true;
      alone = parts.run->run(wanted);
    } catch (const UnsupportedError&) {
      return;  // more than 4,096 branches
    } catch (const Error& error) {
      FAIL() << "one by one: " << error.what();
    }
    parts.run->one_by_one = false;
    try {
      merged = parts.run->run(wanted);
    } catch (const Error& error) {
      FAIL() << error.what();
    }
    EXPECT_LE(merged.branches, alone.branches);
    all.alone += alone.branches;
    all.merged += merged.branches;
    EXPECT_EQ(merged.counts, alone.counts);
    ASSERT_EQ(merged.variables.has_value(), alone.variables.has_value());
    if (alone.variables) {
      EXPECT_EQ(merged.variables->counts, alone.variables->counts);
      const auto &one = merged.variables->distribution.value(), &other = alone.variables->distribution.value();
      ASSERT_EQ(one.size(), other.size());
      for (const auto& [values, probability] : other) EXPECT_NEAR(one.at(values), probability, 1e-12);
    }
    for (std::size_t i = 0; i < kQubits; ++i) EXPECT_NEAR(merged.marginals->at(i), alone.marginals->at(i), 1e-12);
    std::map<std::string, double> found = test::by_text(*merged.distribution);
    for (const auto& [bits, probability] : test::register_distribution(parse_flow(text))) {
      EXPECT_NEAR(found[bits], probability, 1e-11) << bits;
    }
  });
}

TEST(MergedBranches, RandomProgramsGiveWhatTheyGiveOneByOne) {
  const std::uint64_t first = setting("QSIM_CAMPAIGN_FIRST", 1), count = setting("QSIM_CAMPAIGN", 300);
  Branches branches;
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const std::string text = test::random_branching_program(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    expect_program(text, branches);
  }
  EXPECT_LT(3 * branches.merged, 2 * branches.alone);
}

}  // namespace
}  // namespace qsim
