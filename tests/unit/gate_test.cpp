// The gate table: facts that say the same thing twice are checked against each other, row by row.
#include "qsim/gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "circuit/gate_table.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "support/dense.h"

namespace qsim {
namespace {

// Angle sets without special values; flags must hold for every one of them.
std::vector<std::vector<double>> angle_sets(const GateInfo& info) {
  std::vector<std::vector<double>> sets;
  for (const double offset : {0.37, -1.9, 2.6}) {
    std::vector<double> set;
    for (int i = 0; i < info.params; ++i) set.push_back(offset + 0.71 * i);
    sets.push_back(set);
  }
  return sets;
}

std::string row_name(const GateInfo& info) { return "row " + std::to_string(static_cast<int>(info.gate)); }

double distance(const Matrix& a, const Matrix& b) {
  if (a.size() != b.size()) return 1e300;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

Matrix product(const Matrix& a, const Matrix& b, std::size_t order) {
  Matrix c(a.size());
  for (std::size_t i = 0; i < order; ++i) {
    for (std::size_t j = 0; j < order; ++j) {
      for (std::size_t k = 0; k < order; ++k) c[i * order + j] += a[i * order + k] * b[k * order + j];
    }
  }
  return c;
}

Matrix unit(std::size_t order) {
  Matrix m(order * order);
  for (std::size_t i = 0; i < order; ++i) m[i * order + i] = 1;
  return m;
}

TEST(GateTable, HasOneRowForEveryGateInEnumOrder) {
  ASSERT_EQ(gate_table().size(), static_cast<std::size_t>(kGateCount));
  for (int i = 0; i < kGateCount; ++i) {
    EXPECT_EQ(static_cast<int>(gate_table()[static_cast<std::size_t>(i)].gate), i);
    EXPECT_EQ(&gate_info(static_cast<Gate>(i)), &gate_table()[static_cast<std::size_t>(i)]);
  }
}

TEST(GateTable, MatrixEqualsTheDenseReference) {
  for (const GateInfo& info : gate_table()) {
    for (const auto& angles : angle_sets(info)) {
      const Matrix matrix = info.matrix(angles);
      ASSERT_EQ(matrix.size(), std::size_t{1} << (2 * info.targets)) << row_name(info);
      EXPECT_LT(distance(matrix, dense::gate_matrix(info.gate, angles)), 1e-15 * 8) << row_name(info);
    }
  }
}

TEST(GateTable, InverseTimesMatrixIsTheIdentity) {
  for (const GateInfo& info : gate_table()) {
    for (const auto& angles : angle_sets(info)) {
      const GateCall call = info.inverse(angles);
      const GateInfo& inverse = gate_info(call.gate);
      ASSERT_EQ(inverse.targets, info.targets) << row_name(info);
      ASSERT_EQ(call.params.size(), static_cast<std::size_t>(inverse.params)) << row_name(info);
      const std::size_t order = std::size_t{1} << info.targets;
      EXPECT_LT(distance(product(inverse.matrix(call.params), info.matrix(angles), order), unit(order)), 1e-14)
          << row_name(info);
    }
  }
}

TEST(GateTable, FlagsSayExactlyWhatTheMatricesAre) {
  for (const GateInfo& info : gate_table()) {
    const std::size_t order = std::size_t{1} << info.targets;
    bool diagonal = true, permutation = true, real = true;
    for (const auto& angles : angle_sets(info)) {
      const Matrix matrix = info.matrix(angles);
      for (std::size_t row = 0; row < order; ++row) {
        int nonzero = 0;
        for (std::size_t column = 0; column < order; ++column) {
          const Complex entry = matrix[row * order + column];
          if (entry == Complex(0)) continue;
          ++nonzero;
          if (row != column) diagonal = false;
          if (entry.imag() != 0) real = false;
        }
        if (nonzero != 1) permutation = false;
      }
    }
    EXPECT_EQ(info.diagonal, diagonal) << row_name(info);
    EXPECT_EQ(info.permutation, permutation) << row_name(info);
    EXPECT_EQ(info.real, real) << row_name(info);
  }
}

TEST(GateTable, NamesAreUniqueAndFindTheirRow) {
  std::set<std::string_view> seen;
  const auto check = [&](std::string_view name, Gate gate, int controls) {
    if (name.empty()) return;
    EXPECT_TRUE(seen.insert(name).second) << name;
    const auto found = find_gate(name);
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->gate, gate) << name;
    EXPECT_EQ(found->controls, controls) << name;
  };
  for (const GateInfo& info : gate_table()) {
    check(info.name, info.gate, 0);
    EXPECT_EQ(gate_name(info.gate, 0), info.name);
    for (const std::string_view alias : info.aliases) check(alias, info.gate, 0);
    for (std::size_t i = 0; i < info.controlled_names.size(); ++i) {
      check(info.controlled_names[i], info.gate, static_cast<int>(i) + 1);
      EXPECT_EQ(gate_name(info.gate, static_cast<int>(i) + 1), info.controlled_names[i]);
    }
    for (const std::string_view alias : info.controlled_aliases) check(alias, info.gate, 1);
    EXPECT_EQ(gate_name(info.gate, 9), "");
  }
}

TEST(GateTable, KnowsExactlyTheGatesOfQelib1) {
  const std::set<std::string> wanted = {
      "U",    "CX",    "u3",  "u2",  "u1", "cx",  "id",  "x",   "y",   "z",    "h",    "s",   "sdg",     "t",  "tdg",
      "rx",   "ry",    "rz",  "cz",  "cy", "ch",  "ccx", "crz", "cu1", "cu3",  "u0",   "u",   "p",       "sx", "sxdg",
      "swap", "cswap", "crx", "cry", "cp", "csx", "cu",  "rxx", "rzz", "rccx", "rc3x", "c3x", "c3sqrtx", "c4x"};
  std::set<std::string> known;
  for (const GateInfo& info : gate_table()) {
    known.emplace(info.name);
    for (const auto alias : info.aliases) known.emplace(alias);
    for (const auto name : info.controlled_names) known.emplace(name);
    for (const auto alias : info.controlled_aliases) known.emplace(alias);
  }
  known.erase("");
  EXPECT_EQ(known, wanted);
  for (const char* unknown : {"", "ryy", "ccz", "cphase", "foo", "Cx", "xx"}) {
    EXPECT_FALSE(find_gate(unknown).has_value()) << unknown;
  }
}

// The phases that controlled forms make visible, against the definitions in qelib1.inc as circuits of U and CX.
TEST(GateTable, ControlledUHasThePhasesOfQelib1) {
  const double theta = 0.7, phi = 1.1, lambda = -0.4, gamma = 0.3;
  const Qubit c = 0, t = 1;
  Circuit direct(2), definition(2);
  direct.add_gate(Gate::kUPhase, {&c, 1}, {&t, 1}, std::vector<double>{theta, phi, lambda, gamma});
  const auto p = [&](double angle, Qubit q) { definition.add_gate(Gate::kPhase, {}, {&q, 1}, {&angle, 1}); };
  const auto u = [&](double a, double b, double l) {
    definition.add_gate(Gate::kU, {}, {&t, 1}, std::vector<double>{a, b, l});
  };
  p(gamma, c);
  p((lambda + phi) / 2, c);
  p((lambda - phi) / 2, t);
  definition.cx(c, t);
  u(-theta / 2, 0, -(phi + lambda) / 2);
  definition.cx(c, t);
  u(theta / 2, phi, 0);
  EXPECT_LT(distance(dense::circuit_matrix(direct), dense::circuit_matrix(definition)), 1e-14);
}

// Standard gates by definitions in the gates of qelib1.inc, each up to its global phase.
TEST(GateTable, StandardGatesAreWhatTheirDefinitionsSay) {
  struct Case {
    const char* name;
    std::vector<double> angles;
    std::string body;  // over a, b, ...
  };
  const std::vector<Case> cases = {
      {"r", {0.7, 0.4}, "u(0.7, 0.4-pi/2, pi/2-0.4) a;"},
      {"dcx", {}, "cx a,b; cx b,a;"},
      {"dcxdg", {}, "cx b,a; cx a,b;"},
      {"iswap", {}, "s a; s b; h a; cx a,b; cx b,a; h b;"},
      {"rzx", {0.7}, "h b; cx a,b; rz(0.7) b; cx a,b; h b;"},
      {"ecr", {}, "h b; cx a,b; rz(pi/4) b; cx a,b; h b; x a; h b; cx a,b; rz(-pi/4) b; cx a,b; h b;"},
      {"ryy", {0.7}, "rx(pi/2) a; rx(pi/2) b; cx a,b; rz(0.7) b; cx a,b; rx(-pi/2) a; rx(-pi/2) b;"},
      {"xx_plus_yy",
       {0.7, 0.4},
       "rz(0.4) a; rz(-pi/2) b; sx b; rz(pi/2) b; s a; cx b,a; ry(-0.35) b; ry(-0.35) a; cx b,a; sdg a; rz(-pi/2) b; "
       "sxdg b; rz(pi/2) b; rz(-0.4) a;"},
      {"xx_minus_yy",
       {0.7, 0.4},
       "rz(-0.4) b; rz(-pi/2) a; sx a; rz(pi/2) a; s b; cx a,b; ry(0.35) a; ry(-0.35) b; cx a,b; sdg b; rz(-pi/2) a; "
       "sxdg a; rz(pi/2) a; rz(0.4) b;"},
      {"cs", {}, "p(pi/4) a; cx a,b; p(-pi/4) b; cx a,b; p(pi/4) b;"},
      {"csdg", {}, "p(-pi/4) a; cx a,b; p(pi/4) b; cx a,b; p(-pi/4) b;"},
      {"ccz", {}, "h c; ccx a,b,c; h c;"},
      {"c3sx", {}, "c3sqrtx a,b,c,d;"},
      {"rcccx", {}, "rc3x a,b,c,d;"},
      {"phase", {0.7}, "u1(0.7) a;"},
      {"cphase", {0.7}, "cu1(0.7) a,b;"}};
  std::set<std::string> tried;
  for (const Case& one : cases) {
    tried.insert(one.name);
    const GateName meaning = *find_spelling(one.name);
    const auto count = static_cast<std::size_t>(meaning.controls + gate_info(meaning.gate).targets);
    const std::string arguments = std::string("a,b,c,d").substr(0, 2 * count - 1);
    std::string text = "OPENQASM 2.0; include \"qelib1.inc\"; gate defined " + arguments + " { " + one.body +
                       " } qreg q[" + std::to_string(count) + "]; defined ";
    std::vector<Qubit> qubits;
    for (std::size_t q = 0; q < count; ++q) {
      text += std::string(q == 0 ? "" : ",") + "q[" + std::to_string(q) + "]";
      qubits.push_back(static_cast<Qubit>(q));
    }
    Circuit direct(static_cast<std::uint32_t>(count));
    direct.apply(one.name, qubits, std::vector<Angle>(one.angles.begin(), one.angles.end()));
    const Matrix mine = dense::circuit_matrix(direct), other = dense::circuit_matrix(parse_qasm(text + ";").circuit);
    std::size_t large = 0;
    while (std::abs(other[large]) < 0.3) ++large;
    const Complex factor = mine[large] / other[large];
    EXPECT_NEAR(std::abs(factor), 1, 1e-12) << one.name;
    Matrix turned = other;
    for (Complex& entry : turned) entry *= factor;
    EXPECT_LT(distance(mine, turned), 1e-14) << one.name;
  }
  for (const std::string_view name : further_gates()) EXPECT_TRUE(tried.contains(std::string(name))) << name;
}

/// Further names of gates that have a method by another one.
const std::set<std::string_view> kOtherNames{"u1", "u3", "U", "CX", "cu1", "phase", "cphase", "c3sqrtx", "rcccx"};

TEST(Gate, EveryOneIsAMethodByItsName) {
  const std::map<std::string_view, void (*)(Circuit&)> methods{
      {"id", [](Circuit& c) { c.id(0); }},
      {"x", [](Circuit& c) { c.x(0); }},
      {"y", [](Circuit& c) { c.y(0); }},
      {"z", [](Circuit& c) { c.z(0); }},
      {"h", [](Circuit& c) { c.h(0); }},
      {"s", [](Circuit& c) { c.s(0); }},
      {"sdg", [](Circuit& c) { c.sdg(0); }},
      {"t", [](Circuit& c) { c.t(0); }},
      {"tdg", [](Circuit& c) { c.tdg(0); }},
      {"sx", [](Circuit& c) { c.sx(0); }},
      {"sxdg", [](Circuit& c) { c.sxdg(0); }},
      {"swap", [](Circuit& c) { c.swap(0, 1); }},
      {"iswap", [](Circuit& c) { c.iswap(0, 1); }},
      {"dcx", [](Circuit& c) { c.dcx(0, 1); }},
      {"dcxdg", [](Circuit& c) { c.dcxdg(0, 1); }},
      {"ecr", [](Circuit& c) { c.ecr(0, 1); }},
      {"rccx", [](Circuit& c) { c.rccx(0, 1, 2); }},
      {"rc3x", [](Circuit& c) { c.rc3x(0, 1, 2, 3); }},
      {"rc3xdg", [](Circuit& c) { c.rc3xdg(0, 1, 2, 3); }},
      {"rx", [](Circuit& c) { c.rx(0.25, 0); }},
      {"ry", [](Circuit& c) { c.ry(0.25, 0); }},
      {"rz", [](Circuit& c) { c.rz(0.25, 0); }},
      {"p", [](Circuit& c) { c.p(0.25, 0); }},
      {"u0", [](Circuit& c) { c.u0(0.25, 0); }},
      {"u2", [](Circuit& c) { c.u2(0.25, 0.5, 0); }},
      {"r", [](Circuit& c) { c.r(0.25, 0.5, 0); }},
      {"u", [](Circuit& c) { c.u(0.25, 0.5, 0.75, 0); }},
      {"cu3", [](Circuit& c) { c.cu3(0.25, 0.5, 0.75, 0, 1); }},
      {"uphase", [](Circuit& c) { c.uphase(0.25, 0.5, 0.75, 1.0, 0); }},
      {"cu", [](Circuit& c) { c.cu(0.25, 0.5, 0.75, 1.0, 0, 1); }},
      {"rxx", [](Circuit& c) { c.rxx(0.25, 0, 1); }},
      {"ryy", [](Circuit& c) { c.ryy(0.25, 0, 1); }},
      {"rzz", [](Circuit& c) { c.rzz(0.25, 0, 1); }},
      {"rzx", [](Circuit& c) { c.rzx(0.25, 0, 1); }},
      {"xx_minus_yy", [](Circuit& c) { c.xx_minus_yy(0.25, 0.5, 0, 1); }},
      {"xx_plus_yy", [](Circuit& c) { c.xx_plus_yy(0.25, 0.5, 0, 1); }},
      {"cx", [](Circuit& c) { c.cx(0, 1); }},
      {"cy", [](Circuit& c) { c.cy(0, 1); }},
      {"cz", [](Circuit& c) { c.cz(0, 1); }},
      {"ch", [](Circuit& c) { c.ch(0, 1); }},
      {"cs", [](Circuit& c) { c.cs(0, 1); }},
      {"csdg", [](Circuit& c) { c.csdg(0, 1); }},
      {"csx", [](Circuit& c) { c.csx(0, 1); }},
      {"ccx", [](Circuit& c) { c.ccx(0, 1, 2); }},
      {"ccz", [](Circuit& c) { c.ccz(0, 1, 2); }},
      {"c3x", [](Circuit& c) { c.c3x(0, 1, 2, 3); }},
      {"c3sx", [](Circuit& c) { c.c3sx(0, 1, 2, 3); }},
      {"c4x", [](Circuit& c) { c.c4x(0, 1, 2, 3, 4); }},
      {"crx", [](Circuit& c) { c.crx(0.25, 0, 1); }},
      {"cry", [](Circuit& c) { c.cry(0.25, 0, 1); }},
      {"crz", [](Circuit& c) { c.crz(0.25, 0, 1); }},
      {"cp", [](Circuit& c) { c.cp(0.25, 0, 1); }},
      {"cswap", [](Circuit& c) { c.cswap(0, 1, 2); }},
  };
  for (const GateSpelling& one : gate_spellings()) {
    const auto found = methods.find(one.name);
    ASSERT_NE(found != methods.end(), kOtherNames.contains(one.name)) << one.name;
    if (found == methods.end()) continue;
    Circuit by_method(8), by_name(8);
    found->second(by_method);
    std::vector<Qubit> qubits(static_cast<std::size_t>(one.controls + one.targets));
    std::iota(qubits.begin(), qubits.end(), 0u);
    std::vector<Angle> angles;
    for (int i = 0; i < one.angles; ++i) angles.emplace_back(0.25 * (i + 1));
    by_name.apply(one.name, qubits, angles);
    ASSERT_EQ(by_method.operations().size(), 1u) << one.name;
    const Operation& op = by_method.operations().front();
    EXPECT_EQ(op.gate, one.gate) << one.name;
    EXPECT_EQ(op.controls, one.controls) << one.name;
    EXPECT_TRUE(std::ranges::equal(by_method.params(op), by_name.params(by_name.operations().front()))) << one.name;
    EXPECT_TRUE(std::ranges::equal(by_method.targets(op), by_name.targets(by_name.operations().front()))) << one.name;
    EXPECT_TRUE(std::ranges::equal(by_method.controls(op), by_name.controls(by_name.operations().front()))) << one.name;
  }
}

TEST(Gate, EverySpellingIsAppliedAsItSays) {
  std::set<std::string_view> seen;
  std::set<Gate> gates;
  for (const GateSpelling& one : gate_spellings()) {
    EXPECT_TRUE(seen.insert(one.name).second) << one.name << " stands twice";
    gates.insert(one.gate);
    std::vector<Qubit> qubits;
    for (int q = 0; q < one.controls + one.targets; ++q) qubits.push_back(static_cast<Qubit>(q));
    Circuit circuit(8);
    circuit.apply(one.name, qubits, std::vector<Angle>(static_cast<std::size_t>(one.angles), 0.25));
    ASSERT_EQ(circuit.operations().size(), 1u) << one.name;
    const Operation& op = circuit.operations().front();
    EXPECT_EQ(op.gate, one.gate) << one.name;
    EXPECT_EQ(op.controls, one.controls) << one.name;
    const std::string_view main = gate_spelling(one.gate, one.controls);
    EXPECT_TRUE(seen.count(main) != 0) << one.name << " stands before " << main;
  }
  EXPECT_EQ(gates.size(), static_cast<std::size_t>(kGateCount));
  EXPECT_EQ(gate_spelling(Gate::kT, 1), "");
  EXPECT_EQ(gate_spelling(Gate::kRyy, 0), "ryy");
}

}  // namespace
}  // namespace qsim
