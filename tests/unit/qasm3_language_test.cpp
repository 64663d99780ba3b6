// OpenQASM 3, feature by feature: what the registers are at the end, exactly, on the dense reference.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "qasm3/read.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "support/flow_interpreter.h"

namespace qsim {
namespace {

using Distribution = std::map<std::string, double>;

constexpr const char* kHead = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n";

struct Case {
  const char* name;
  const char* text;
  Distribution registers;  // without the spaces; the last declared register left-most
};

void expect_registers(const Case& each, const Distribution& found) {
  for (const auto& [bits, probability] : each.registers) {
    const auto at = found.find(bits);
    EXPECT_NEAR(probability, at == found.end() ? 0 : at->second, 1e-12) << each.name << ' ' << bits;
  }
  double known = 0, all = 0;
  for (const auto& [bits, probability] : each.registers) known += probability;
  for (const auto& [bits, probability] : found) all += probability;
  EXPECT_NEAR(known, all, 1e-12) << each.name;
}

void expect_all(std::initializer_list<Case> cases) {
  for (const Case& each : cases) {
    try {
      expect_registers(each, test::register_distribution(parse_flow(std::string(kHead) + each.text)));
    } catch (const Error& error) {
      ADD_FAILURE() << each.name << ": " << error.what();
    }
  }
}

TEST(Qasm3Language, VariablesAndOperators) {
  expect_all({
      {"integers wrap", "bit c; int[8] a = 127; a += 1; if (a == -128) c = 1;", {{"1", 1}}},
      {"division truncates", "bit[2] c; if (-7 / 2 == -3) c[0] = 1; if (-7 % 2 == -1) c[1] = 1;", {{"11", 1}}},
      {"a power binds tighter than a sign", "bit c; if (-2 ** 2 == -4 && 2 ** 3 ** 2 == 512) c = 1;", {{"1", 1}}},
      {"literals take the other type", "bit c; uint[3] a = 4; uint[3] b = a * 3; if (b == 4) c = 1;", {{"1", 1}}},
      {"booleans stop early", "bit c; int k = 0; if (k == 0 || 1 / k == 1) c = 1;", {{"1", 1}}},
      {"bits of registers", "bit[4] a = \"1010\"; bit[4] c = (a << 1) ^ ~a;", {{"00011010", 1}}},
      {"angles are bits", "angle[4] a = 7 * (pi / 8); bit[4] c = bit[4](a + pi / 8);", {{"1000", 1}}},
      {"numbers are bits", "uint[4] a = 0; a[3] = 1; bit[4] c = bit[4](a + 1);", {{"1001", 1}}},
      {"complex",
       "bit c; complex w = (1.0 + 2 im) * (1.0 - 2 im); if (real(w) == 5.0 && imag(w) == 0.0) c = 1;",
       {{"1", 1}}},
      {"arrays",
       "array[int[8], 2, 2] m = {{1, 2}, {3, 4}}; m[0] = m[1]; bit[4] c = m[0, 0] + m[-1][1];",
       {{"0111", 1}}},
      {"slices of arrays",
       "array[int[8], 4] a = {1, 2, 3, 4}; a[0:1] = a[2:3]; bit[4] c = a[1] * 2 + sizeof(a) - 4;",
       {{"1000", 1}}},
      {"aliases write through", "bit[4] c; let a = c[1:2] ++ c[{0}]; a[2] = 1; a[0] = 1;", {{"0011", 1}}},
      {"constants size registers", "const int n = 2 ** 2 - 1; bit[n] c = \"101\";", {{"101", 1}}},
      {"shadowing ends with its block", "bit c; int i = 1; { int i = 2; i = 3; } if (i == 1) c = 1;", {{"1", 1}}},
  });
}

TEST(Qasm3Language, ControlFlowThatIsKnown) {
  expect_all({
      {"ranges include their end", "bit[4] c; int k = 0; for int i in [4:-2:0] { k += i; } c = k;", {{"0110", 1}}},
      {"sets, registers, arrays",
       "bit[4] c; int k = 0; for int i in {1, 4} { k += i; } for bit b in \"11\" { k += b; } c = k;",
       {{"0111", 1}}},
      {"break and continue",
       "bit[4] c; int k = 0; for int i in [0:9] { if (i == 2) continue; if (i == 5) break; k += i; } c = k;",
       {{"1000", 1}}},
      {"while", "bit[4] c; int k = 0; while (k < 11) { k += 3; } c = k;", {{"1100", 1}}},
      {"switch", "bit[2] c; int i = 5; switch (i) { case 1, 5 { c[0] = 1; } default { c[1] = 1; } }", {{"01", 1}}},
      {"end", "bit c = 1; end; c = 0;", {{"1", 1}}},
      {"subroutines",
       "def f(int[8] a) -> int[8] { if (a > 3) return a * 2; return 0; } bit[4] c = f(2) + f(5);",
       {{"1010", 1}}},
      {"recursion",
       "def f(int n) -> int { if (n < 2) { return 1; } return n * f(n - 1); } bit[5] c = f(4);",
       {{"11000", 1}}},
      {"references",
       "def f(mutable array[int[8], #dim = 1] a) { a[1] = 6; } array[int[8], 3] v; f(v); bit[3] c = v[1];",
       {{"110", 1}}},
  });
}

TEST(Qasm3Language, GatesAndModifiers) {
  expect_all({
      {"negctrl owns the left operands",
       "qubit[3] q; x q[1]; negctrl @ ctrl @ x q[0], q[1], q[2]; bit[3] c = measure q;",
       {{"110", 1}}},
      {"a controlled phase kicks back",
       "qubit[2] q; h q[0]; gate ph a { gphase(pi); } ctrl @ ph q[0], q[1]; h q[0]; bit c = measure q[0];",
       {{"1", 1}}},
      {"U has a phase of its own",
       "qubit[2] q; h q[0]; ctrl @ U(2 * pi, 0, 0) q[0], q[1]; h q[0]; bit c = measure q[0];",
       {{"0", 1}}},
      {"inv turns bodies round",
       "gate g(a) p, r { rx(a) p; cx p, r; t r; } qubit[2] q; g(0.7) q[0], q[1]; inv @ g(0.7) q[0], q[1]; bit[2] c = "
       "measure q;",
       {{"00", 1}}},
      {"fractions of powers",
       "qubit[2] q; x q[0]; pow(0.5) @ cx q[0], q[1]; pow(1.0/2) @ cx q[0], q[1]; bit[2] c = measure q;",
       {{"11", 1}}},
      {"the principal root of z is s", "qubit q; h q; pow(0.5) @ z q; inv @ s q; h q; bit c = measure q;", {{"0", 1}}},
      {"roots of gates of several qubits",
       "gate g a, b { h a; cx a, b; t b; } qubit[2] q; pow(0.5) @ g q[0], q[1]; pow(0.5) @ g q[0], q[1]; inv @ g q[0], "
       "q[1]; bit[2] c = measure q;",
       {{"00", 1}}},
      {"large powers scale rotations", "qubit q; pow(1000001) @ rx(pi) q; bit c = measure q;", {{"1", 1}}},
      {"broadcast", "qubit[2] a; qubit[2] b; x a; cx a, b; ctrl @ x a[0], b; bit[2] c = measure b;", {{"00", 1}}},
      {"loops in bodies",
       "gate g a { for int i in [1:3] { sx a; } sx a; } qubit q; g q; x q; bit c = measure q;",
       {{"1", 1}}},
      {"physical qubits by number", "x $7; bit c = measure $7; bit d = measure $3;", {{"01", 1}}},
      {"slices and sets", "qubit[4] q; let odd = q[1:2:3]; x odd; x q[{0, -1}]; bit[4] c = measure q;", {{"0011", 1}}},
  });
}

TEST(Qasm3Language, MeasurementsDecide) {
  expect_all({
      {"if and else",
       "qubit[2] q; bit[2] c; h q[0]; c[0] = measure q[0]; if (c[0]) { x q[1]; } else { h q[1]; } c[1] = measure q[1];",
       {{"00", 0.25}, {"10", 0.25}, {"11", 0.5}}},
      {"counted loops keep variables",
       "qubit q; bit c = 1; int n = 0; while (c) { reset q; h q; c = measure q; n += 1; if (n == 3) break; } bit[2] d "
       "= n;",
       {{"010", 0.5}, {"100", 0.25}, {"110", 0.125}, {"111", 0.125}}},
      {"a loop as often as was measured",
       "qubit[2] q; qubit r; bit[2] m; h q; m = measure q; for int i in [1:int(m)] { x r; } bit d = measure r;",
       {{"000", 0.25}, {"101", 0.25}, {"010", 0.25}, {"111", 0.25}}},
      {"qubits that were measured",
       "qubit[2] q; bit[2] c; h q[0]; bit m = measure q[0]; x q[int(m)]; c = measure q;",
       {{"001", 0.5}, {"111", 0.5}}},
      {"angles that were measured",
       "qubit[2] q; bit c; h q[0]; angle[2] a; a[1] = measure q[0]; rx(a) q[1]; c = measure q[1];",
       {{"0", 0.5}, {"1", 0.5}}},
      {"switch",
       "qubit[2] q; bit[2] c; bit d; h q; c = measure q; switch (int(c)) { case 0, 3 { d = 1; } default { } }",
       {{"100", 0.25}, {"001", 0.25}, {"010", 0.25}, {"111", 0.25}}},
      {"early returns",
       "def f(qubit a) -> bit { bit m = measure a; if (m) { return 0; } x a; return 1; } qubit q; h q; bit c = f(q); "
       "bit d = measure q;",
       {{"10", 0.5}, {"11", 0.5}}},
      {"end in a branch",
       "qubit q; bit[2] c; h q; c[0] = measure q; if (c[0]) end; c[1] = 1;",
       {{"01", 0.5}, {"10", 0.5}}},
      {"break of one branch",
       "qubit q; bit[3] c; for int i in [0:2] { h q; c[i] = measure q; if (c[i]) break; reset q; }",
       {{"001", 0.5}, {"010", 0.25}, {"100", 0.125}, {"000", 0.125}}},
      {"continue of one branch",
       "qubit q; bit[2] c; bit m; int n = 0; for int i in [0:1] { reset q; h q; m = measure q; if (m) continue; n += "
       "1; } m = 0; c = n;",
       {{"000", 0.25}, {"001", 0.5}, {"010", 0.25}}},
      {"teleportation",
       "qubit[3] q; bit a; bit b; bit o; rx(0.7) q[0]; h q[1]; cx q[1], q[2]; cx q[0], q[1]; h q[0]; a = measure q[0]; "
       "b = measure q[1]; if (b) x q[2]; if (a) z q[2]; rx(-0.7) q[2]; o = measure q[2];",
       {{"000", 0.25}, {"001", 0.25}, {"010", 0.25}, {"011", 0.25}}},
      {"values swapped in a loop",
       "qubit q; bit a = 1; bit b; bit m = 1; { bit t; while (m) { t = a; a = b; b = t; reset q; h q; m = measure q; } "
       "}",
       {{"010", 2.0 / 3}, {"001", 1.0 / 3}}},
  });
}

TEST(Qasm3Language, WhatIsDeclaredBehindAnEndIsZeroInBranchesThatEnded) {
  // The loop's variable lies where `a` does later.
  expect_all({{"an end in a loop",
               "qubit q; h q; bit c = measure q; for int[4] i in [3:3] { if (c) end; } int[4] a = 5;"
               "bit[4] d; if (a == 5) d = 15;",
               {{"00001", 0.5}, {"11110", 0.5}}},
              {"an end in a subroutine",
               "def f(bit b, int[4] n) { int[4] k = n; if (b) end; } qubit q; h q; bit c = measure q; f(c, 7);"
               "bit[4] d; d = 9;",
               {{"00001", 0.5}, {"10010", 0.5}}}});
  const Flow flow = parse_flow(std::string(kHead) +
                               "qubit q; h q; bit c = measure q; for int i in [3:3] { if (c) end; } int[8] a = 5;");
  std::map<std::int64_t, double> values;
  test::run_flow(flow, [&](const test::FlowBranch& branch) {
    const std::vector<Scalar> held = output_values(flow.outputs.at(1), branch.variables);
    values[static_cast<std::int64_t>(integer_value(held.at(0)))] += branch.probability;
  });
  EXPECT_NEAR(values[0], 0.5, 1e-12);
  EXPECT_NEAR(values[5], 0.5, 1e-12);
}

TEST(Qasm3Language, StraightProgramsBecomeCircuits) {
  const auto circuit = [](const std::string& text) { return parse_qasm(kHead + text).circuit; };
  const Circuit bell = circuit("qubit[2] q; bit[2] c; h q[0]; cx q[0], q[1]; c = measure q;");
  EXPECT_EQ(nullptr, bell.control());
  EXPECT_TRUE(bell.measurements_are_terminal());
  EXPECT_EQ(4u, bell.operation_count());
  const Circuit constant = circuit("bit[2] c = \"10\"; qubit q; x q; bit d = measure q; d = 1;");
  EXPECT_FALSE(constant.initial(0));
  EXPECT_TRUE(constant.initial(1) && constant.initial(2));
  EXPECT_FALSE(constant.measures());
  const Circuit phase = circuit("gphase(pi/4); qubit q; bit c; h q; c = measure q;");
  EXPECT_TRUE(phase.measurements_are_terminal());
  EXPECT_NE(nullptr, circuit("qubit q; bit c; h q; c = measure q; if (c) x q; c = measure q;").control());
}

// 256 halves of 1e308 are infinite.
TEST(Qasm3Language, GlobalPhasesOfHugeAnglesStayPhases) {
  const Circuit circuit = parse_qasm(kHead + std::string("qubit[256] q; U(1e308, 0, 0) q;")).circuit;
  for (const Operation& op : circuit.operations()) {
    for (const double angle : circuit.params(op)) EXPECT_TRUE(std::isfinite(angle));
  }
  const Circuit one = parse_qasm(kHead + std::string("qubit q; U(7, 0, 0) q;")).circuit;
  EXPECT_NEAR(3.5 - 2 * std::numbers::pi, one.params(one.operations().back())[3], 1e-15);
}

}  // namespace
}  // namespace qsim
