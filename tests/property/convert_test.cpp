// Programs written and read again: the same answers.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "classical/control.h"
#include "qasm3/read.h"
#include "qsim/error.h"
#include "qsim/picture.h"
#include "qsim/qasm.h"
#include "support/branching.h"
#include "support/campaign.h"
#include "support/flow_interpreter.h"
#include "support/random_dynamic.h"
#include "support/random_program.h"

namespace qsim::test {
namespace {

void expect_equal(const std::map<std::string, double>& expected, const std::map<std::string, double>& found,
                  const std::string& text) {
  for (const auto& [bits, probability] : expected) {
    const auto at = found.find(bits);
    ASSERT_NEAR(probability, at == found.end() ? 0 : at->second, 1e-11) << bits << '\n' << text;
  }
}

std::map<std::string, double> reference(const Circuit& circuit) {
  std::map<std::string, double> found;
  for (const auto& [spaced, probability] :
       branching::walk(circuit, branching::zero_state(circuit.qubits())).distribution) {
    std::string bits = spaced;
    std::erase(bits, ' ');
    found[bits] += probability;
  }
  return found;
}

TEST(Convert, CircuitsWithConditionsMeanTheSameInVersion3) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Circuit circuit = random_dynamic({.seed = seed, .max_operations = 14});
    const std::string text = write_qasm(circuit, QasmVersion::k3);
    SCOPED_TRACE(seed);
    expect_equal(reference(circuit), register_distribution(parse_flow(text)), text);
  }
}

const char* const kPrograms[] = {
    "qubit q; bit[8] n; bit c = 1; uint[8] k = 0; while (c) { k += 1; h q; c = measure q; reset q; } n = k;",
    "qubit[2] q; bit[2] c; while (c == 0) { while (!c[0]) { h q[0]; cx q[0], q[1]; c[0] = measure q[0];"
    " c[1] = measure q[1]; } }",
    "qubit[2] q; bit[3] c; for int i in [0:2] { h q[0]; c[i] = measure q[0]; if (c[i]) { x q[1]; if (i == 1) break; }"
    " else { y q[0]; } } bit d = measure q[1];",
    "qubit[3] q; bit[2] m; ry(1.2) q[0]; h q[1]; cx q[1], q[2]; cx q[0], q[1]; h q[0]; m[0] = measure q[0];"
    " m[1] = measure q[1]; if (m[1]) x q[2]; if (m[0]) z q[2]; bit r = measure q[2];",
    "qubit[2] q; bit[4] c; uint[4] v = 0; int[8] k = -3; angle[4] a = pi / 4; float f = 0.5; bool t1 = true;"
    " h q; v[0] = measure q[0]; v[2] = measure q[1]; if (v > 3) { k += v; f = f * 2 + k; t1 = false; }"
    " else if (v == 1) { k = -k % 2; a = a * 3; } c = v + 1; if (t1 && k < 0) x q[0]; bit r = measure q[0];",
    "qubit q; bit c; int n = 0; while (true) { h q; c = measure q; n += 1; if (c) { if (n > 2) break; continue; }"
    " reset q; } bit[8] out = n;",
    "qubit[2] q; h q; angle[3] a = pi / 4; a[1] = measure q[0]; a[2] = measure q[1]; bit[3] n = bit[3](a + pi / 4);"
    " uint[3] u = 1; u[2] = n[0]; u[0] = n[2]; bit[3] w = u;",
    "output bit[2] r; output int[8] k; qubit q; h q; r[1] = measure q; k = r + 5; array[int[8], 2, 2] m; m[1][0] = k;",
};

TEST(Convert, ProgramsThatMeasurementsDecideMeanTheSame) {
  for (const std::string program : kPrograms) {
    const std::string source = "OPENQASM 3.0; include \"stdgates.inc\"; " + program;
    const Circuit circuit = parse_qasm(source).circuit;
    const std::string text = write_qasm(circuit, QasmVersion::k3);
    SCOPED_TRACE(program);
    expect_equal(register_distribution(parse_flow(source)), register_distribution(parse_flow(text)), text);
    const Circuit again = parse_qasm(text).circuit;
    EXPECT_EQ(result_variables(circuit).size(), result_variables(again).size()) << text;
    const std::string twice = write_qasm(again, QasmVersion::k3);
    expect_equal(register_distribution(parse_flow(source)), register_distribution(parse_flow(twice)), twice);
  }
}

TEST(Convert, SimpleIfsAndLoopsStayNested) {
  for (const std::string program :
       {"bit c = 1; int[8] k = 0; while (c) { k += 1; h q[0]; c = measure q[0]; if (k == 3) { x q[1]; } }",
        "bit[2] m; m[0] = measure q[0]; m[1] = measure q[1]; if (m[1]) x q[0]; if (m[0]) { z q[0]; } else { h q[1]; }",
        "bit[2] c; while (c == 0) { while (!c[0]) { h q[0]; c[0] = measure q[0]; c[1] = measure q[1]; } }"}) {
    const std::string source = "OPENQASM 3.0; include \"stdgates.inc\"; qubit[2] q; " + program;
    const std::string text = write_qasm(parse_qasm(source).circuit, QasmVersion::k3);
    EXPECT_EQ(std::string::npos, text.find("next")) << text;
    EXPECT_EQ(source.find("while") == std::string::npos, text.find("while") == std::string::npos) << text;
  }
}

TEST(Convert, RandomProgramsMeanTheSameAndMostAreNested) {
  const Campaign campaign(60);
  std::uint64_t nested = 0, branching = 0;
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    const std::string source = random_branching_program(seed);
    const Circuit circuit = parse_qasm(source).circuit;
    const std::string text = write_qasm(circuit, QasmVersion::k3);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + source);
    expect_equal(register_distribution(parse_flow(source)), register_distribution(parse_flow(text)), text);
    if (circuit.control() == nullptr) continue;
    ++branching;
    if (text.find("next") != std::string::npos) continue;
    ++nested;
    EXPECT_NE(draw(circuit, DrawingStyle::kAscii).find("["), std::string::npos);
  }
  EXPECT_GT(5 * nested, 4 * branching) << nested << " of " << branching;
}

TEST(Convert, WhatVersion2HasNoWordsForIsNamed) {
  const auto why = [](const std::string& program) -> std::string {
    try {
      write_qasm(parse_qasm("OPENQASM 3.0; include \"stdgates.inc\"; " + program).circuit);
    } catch (const UnsupportedError& error) {
      return error.what();
    }
    return "written";
  };
  EXPECT_NE(std::string::npos, why("qubit q; bit c; h q; c = measure q; if (c) x q;").find("measurements decide"));
  EXPECT_NE(std::string::npos, why("qubit q; bit c = 1; h q;").find("begin with 1"));
  EXPECT_NE(std::string::npos, why("qubit q; int k = 3; h q;").find("'k'"));
  EXPECT_NE(std::string::npos, why("qubit Q; h Q;").find("'Q'"));
  EXPECT_EQ("written", why("qubit[3] q; bit[3] c; ctrl(2) @ pow(0.3) @ y q[0], q[1], q[2]; c = measure q;"));
}

}  // namespace
}  // namespace qsim::test
