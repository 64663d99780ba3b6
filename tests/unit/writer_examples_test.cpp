// The example circuits in circuits/ do what their first lines say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "circuit/generate/families.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "support/dense.h"

namespace qsim {
namespace {

Circuit example(const std::string& name) { return parse_qasm_file("circuits/" + name + ".qasm").circuit; }

TEST(Examples, SmallOnesHaveTheirKnownDistributions) {
  const auto bell = dense::distribution(example("bell"));
  ASSERT_EQ(bell.size(), 2u);
  EXPECT_NEAR(bell.at(0b00), 0.5, 1e-14);
  EXPECT_NEAR(bell.at(0b11), 0.5, 1e-14);

  const auto w = dense::distribution(example("w_8"));
  ASSERT_EQ(w.size(), 8u);
  for (unsigned q = 0; q < 8; ++q) EXPECT_NEAR(w.at(1ull << q), 0.125, 1e-14);

  EXPECT_EQ(dense::distribution(example("bv_12")).size(), 1u);
}

TEST(Examples, TeleportationMovesTheState) {
  double ones = 0;
  for (const auto& [bits, probability] : dense::distribution(example("teleport")))
    ones += bits >> 2 & 1 ? probability : 0;
  EXPECT_NEAR(ones, std::pow(std::sin(0.6), 2), 1e-14);
}

TEST(Examples, RepetitionCodeCorrectsTheFlip) {
  const auto outcomes = dense::distribution(example("repetition_code"));
  double same = 0;
  for (const auto& [bits, probability] : outcomes) {
    const auto result = bits >> 2;
    if (result == 0b000 || result == 0b111) same += probability;
  }
  EXPECT_NEAR(same, 1, 1e-13);
  EXPECT_EQ(outcomes.size(), 4u);  // two results, with and without the flip
}

TEST(Examples, GeneratedOnesEqualTheirFamilies) {
  struct Example {
    const char* name;
    const char* family;
    GeneratorOptions options;
  };
  for (const Example& one : {Example{"ghz_20", "ghz", {.qubits = 20}}, Example{"qft_16", "qft", {.qubits = 16}},
                             Example{"random_16", "random", {.qubits = 16, .depth = 10}}}) {
    const Circuit file = example(one.name), rule = generate(one.family, one.options);
    ASSERT_EQ(file.operation_count(), rule.operation_count() + one.options.qubits) << one.name;
    EXPECT_TRUE(file.measurements_are_terminal()) << one.name;
    for (std::size_t i = 0; i < rule.operations().size(); ++i) {
      const Operation &a = file.operations()[i], &b = rule.operations()[i];
      EXPECT_EQ(a.gate, b.gate);
      EXPECT_TRUE(std::ranges::equal(file.targets(a), rule.targets(b)));
      EXPECT_TRUE(std::ranges::equal(file.params(a), rule.params(b)));
    }
  }
}

}  // namespace
}  // namespace qsim
