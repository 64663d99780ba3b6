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
#include "support/random_program.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

constexpr std::uint64_t kQubits = 3;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : choices_(seed) {}

  std::string text() {
    std::string text = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\nqubit[3] q; bit[2] c; uint[3] n = 0; bit r;\n";
    const std::uint64_t rounds = 1 + choices_.below(4);
    text += "for int k in [1:" + std::to_string(rounds) + "] {\n" + block(3, 4) + "}\n";
    return text + block(2, 3) + (choices_.one_in(2) ? "r = measure q[0];\n" : "");
  }

 private:
  std::string qubit() { return "q[" + std::to_string(choices_.below(kQubits)) + "]"; }
  std::string angle() { return choices_.of({"0.3", "pi/2", "pi", "-0.7", "2.1", "1e-9"}); }

  std::string gate() {
    if (choices_.one_in(3)) {
      const std::uint64_t a = choices_.below(kQubits), b = (a + 1 + choices_.below(kQubits - 1)) % kQubits;
      return choices_.of({"cx", "cz", "swap"}) + " q[" + std::to_string(a) + "], q[" + std::to_string(b) + "];\n";
    }
    if (choices_.one_in(2)) return choices_.of({"rx", "ry", "rz"}) + "(" + angle() + ") " + qubit() + ";\n";
    return choices_.of({"h", "x", "z", "s", "t"}) + " " + qubit() + ";\n";
  }

  std::string condition() {
    return choices_.of({"c[0]", "c[1]", "c == 2", "c[0] ^ c[1]", "n > 1", "n == 3", "!c[0] && c[1]"});
  }

  std::string statement(std::uint64_t depth) {
    const std::uint64_t kind = choices_.below(depth == 0 ? 6 : 10);
    if (kind < 3) return gate();
    if (kind == 3) return "c[" + std::to_string(choices_.below(2)) + "] = measure " + qubit() + ";\n";
    if (kind == 4) return "reset " + qubit() + ";\n";
    if (kind == 5) return choices_.of({"n += 1;\n", "n = 0;\n", "c = 1;\n", "c[0] = c[1];\n"});
    if (kind == 6)
      return "if (" + condition() + ") {\n" + block(depth - 1, 2) + "} else {\n" + block(depth - 1, 2) + "}\n";
    if (kind == 7) {
      // A loop that ends for certain, since n counts on.
      return "n = 0; while (n < " + std::to_string(1 + choices_.below(3)) + ") {\n" + gate() +
             "n += 1; c[1] = measure " + qubit() + "; if (c[1]) " + choices_.of({"n += 2;", "break;", "continue;"}) +
             " }\n";
    }
    const std::string local = "m" + std::to_string(number_++), where = qubit();
    return "{ bit " + local + " = measure " + where + ";\n" + block(depth - 1, 2) + "if (" + local + ") { " + gate() +
           "}\n" + (choices_.one_in(2) ? "reset " + where + ";\n" : "") + "}\n";
  }

  std::string block(std::uint64_t depth, std::uint64_t most) {
    std::string text;
    const std::uint64_t statements = 1 + choices_.below(most);
    for (std::uint64_t i = 0; i < statements; ++i) text += statement(depth);
    return text;
  }

  test::Choices choices_;
  std::uint64_t number_ = 0;
};

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
    std::map<std::string, double> found;
    for (const auto& [bits, probability] : *merged.distribution) {
      std::string plain = bits;
      std::erase(plain, ' ');
      found[plain] += probability;
    }
    for (const auto& [bits, probability] : test::register_distribution(parse_flow(text))) {
      EXPECT_NEAR(found[bits], probability, 1e-11) << bits;
    }
  });
}

TEST(MergedBranches, RandomProgramsGiveWhatTheyGiveOneByOne) {
  const std::uint64_t first = setting("QSIM_CAMPAIGN_FIRST", 1), count = setting("QSIM_CAMPAIGN", 300);
  Branches branches;
  for (std::uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const std::string text = Writer(seed).text();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    expect_program(text, branches);
  }
  EXPECT_LT(3 * branches.merged, 2 * branches.alone);
}

}  // namespace
}  // namespace qsim
