// Writing OpenQASM: exact text, and the same circuit when it is read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "circuit/gate_table.h"
#include "circuit/generate/families.h"
#include "qasm/write/expand.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "support/dense.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

using Qubits = std::vector<Qubit>;
constexpr QasmVersion kVersions[] = {QasmVersion::k2, QasmVersion::k3};

TEST(Writer, WritesRegistersGatesMeasurementsAndConditions) {
  Circuit circuit;
  circuit.add_qreg("a", 2);
  circuit.add_qreg("b", 1);
  circuit.add_creg("m", 2);
  circuit.add_creg("n", 1);
  circuit.h(0);
  circuit.cx(0, 2);
  circuit.cp(0.5, 1, 2);
  circuit.swap(0, 1);
  circuit.add_barrier(Qubits{0, 2});
  circuit.add_measure(2, 1);
  {
    const auto scope = circuit.when({1, 1, false});
    circuit.x(1);
    circuit.add_reset(0);
    circuit.add_measure(0, 2);
  }
  EXPECT_EQ(write_qasm(circuit),
            "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg a[2];\nqreg b[1];\ncreg m[2];\ncreg n[1];\n"
            "h a[0];\ncx a[0],b[0];\ncp(0.5) a[1],b[0];\nswap a[0],a[1];\nbarrier a[0],b[0];\nmeasure b[0] -> m[1];\n"
            "if(n==1) x a[1];\nif(n==1) reset a[0];\nif(n==1) measure a[0] -> n[0];\n");
}

TEST(Writer, RealsHaveAPointAndReadBackExactly) {
  EXPECT_EQ(qasm_real(1), "1.0");
  EXPECT_EQ(qasm_real(-2), "-2.0");
  EXPECT_EQ(qasm_real(1e-5), "1.0e-05");
  EXPECT_EQ(qasm_real(1e300), "1.0e+300");
  for (const double value : {0.1, 1.0 / 3, 3.141592653589793, -1.5707963267948966, 5e-324, 1.7976931348623157e308}) {
    EXPECT_EQ(std::strtod(qasm_real(value).c_str(), nullptr), value);
  }
}

TEST(Writer, EqualOperationsShareOneDefinition) {
  Circuit circuit(3);
  for (int i = 0; i < 3; ++i) circuit.add_pauli_rotation(0.25, "XY", Qubits{0, 2});
  circuit.add_pauli_rotation(0.25, "XY", Qubits{1, 0});
  circuit.add_pauli_rotation(0.5, "XY", Qubits{1, 0});
  const std::string text = write_qasm(circuit);
  std::size_t definitions = 0;
  for (std::size_t at = text.find("gate "); at != std::string::npos; at = text.find("gate ", at + 1)) ++definitions;
  EXPECT_EQ(definitions, 2u);
}

TEST(Writer, DefinitionsStayClearOfRegisterNames) {
  Circuit circuit;
  circuit.add_qreg("qsim_gate1", 2);
  circuit.add_gate(Gate::kRyy, {}, Qubits{0, 1}, std::vector<double>{0.3});
  EXPECT_NE(write_qasm(circuit).find("gate qsim__gate1 a0,a1 {"), std::string::npos);
  EXPECT_EQ(parse_qasm(write_qasm(circuit)).circuit.qregs()[0].name, "qsim_gate1");
}

TEST(Writer, NamedGatesReadBackAsTheSameOperations) {
  Circuit circuit(6, 2);
  double angle = 0.1;
  for (const GateInfo& info : gate_table()) {
    for (int controls = 0; controls <= 4; ++controls) {
      if (gate_name(info.gate, controls).empty()) continue;
      std::vector<double> params;
      for (int i = 0; i < info.params; ++i) params.push_back(angle += 1.0 / 3);
      const Qubits qubits = {5, 0, 3, 1, 4};
      const auto used = std::span(qubits);
      circuit.add_gate(info.gate, used.first(static_cast<std::size_t>(controls)),
                       used.subspan(static_cast<std::size_t>(controls), static_cast<std::size_t>(info.targets)),
                       params);
    }
  }
  const Circuit again = parse_qasm(write_qasm(circuit)).circuit;
  ASSERT_EQ(again.operations().size(), circuit.operations().size());
  for (std::size_t i = 0; i < again.operations().size(); ++i) {
    const Operation &a = circuit.operations()[i], &b = again.operations()[i];
    EXPECT_EQ(a.gate, b.gate);
    EXPECT_TRUE(std::ranges::equal(circuit.controls(a), again.controls(b)));
    EXPECT_TRUE(std::ranges::equal(circuit.targets(a), again.targets(b)));
    EXPECT_TRUE(std::ranges::equal(circuit.params(a), again.params(b)));
  }
  EXPECT_EQ(again.qregs(), circuit.qregs());
  EXPECT_EQ(again.cregs(), circuit.cregs());
}

TEST(Writer, EverythingReadsBackAsTheSameState) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Circuit circuit =
        test::random_circuit({.qubits = 5, .operations = 40, .seed = seed, .further_gates = seed > 40});
    for (const QasmVersion version : kVersions) {
      const Circuit again = parse_qasm(write_qasm(circuit, version)).circuit;
      const auto start = dense::random_state(5, seed);
      EXPECT_LT(dense::max_difference_up_to_phase(dense::run(again, start), dense::run(circuit, start)), 1e-11)
          << "seed " << seed;
    }
  }
}

TEST(Writer, ControlsKeepTheirPhases) {
  // A phase that is global without controls is not with them; every gate and matrix with 0 to 5 controls.
  for (const GateInfo& info : gate_table()) {
    for (int controls = 0; controls <= 5 && controls + info.targets <= 7; ++controls) {
      Circuit circuit(7);
      const Qubits qubits = {2, 6, 0, 3, 5, 1, 4};
      const std::vector<double> params(static_cast<std::size_t>(info.params), 0.7);
      const auto used = std::span(qubits);
      circuit.add_gate(info.gate, used.first(static_cast<std::size_t>(controls)),
                       used.subspan(static_cast<std::size_t>(controls), static_cast<std::size_t>(info.targets)),
                       params);
      for (const QasmVersion version : kVersions) {
        const Circuit again = parse_qasm(write_qasm(circuit, version)).circuit;
        const auto start = dense::random_state(7, 3);
        EXPECT_LT(dense::max_difference_up_to_phase(dense::run(again, start), dense::run(circuit, start)), 1e-11)
            << "row " << static_cast<int>(info.gate) << " with " << controls << " controls";
      }
    }
  }
}

TEST(Writer, MatricesWithSpecialEntriesReadBack) {
  const double tiny = 1e-9, rest = std::sqrt(1 - tiny * tiny);
  const std::vector<Matrix> matrices = {
      {1, 0, 0, 1},
      {-1, 0, 0, -1},
      {0, 1, -1, 0},
      {0, Complex(0, 1), 1, 0},
      {rest, -tiny, tiny, rest},
      {std::polar(tiny, 0.4), rest, rest, -std::polar(tiny, -0.4)},
  };
  for (const Matrix& matrix : matrices) {
    for (std::size_t controls = 0; controls <= 3; ++controls) {
      Circuit circuit(4);
      const Qubits qubits = {1, 3, 2};
      circuit.add_unitary(matrix, std::span(qubits).first(controls), Qubits{0});
      const Circuit again = parse_qasm(write_qasm(circuit)).circuit;
      const auto start = dense::random_state(4, 9);
      EXPECT_LT(dense::max_difference_up_to_phase(dense::run(again, start), dense::run(circuit, start)), 1e-12);
    }
  }
}

TEST(Writer, DynamicCircuitsReadBackWithTheSameDistribution) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    test::RandomCircuitOptions options{.qubits = 3, .operations = 20, .seed = seed, .max_unitary_targets = 1};
    options.dynamic = true;
    Circuit circuit;
    const Circuit source = test::random_circuit(options);
    circuit.add_qreg("q", 3);
    circuit.add_creg("c", 3);
    // OpenQASM 2 has no "differs from".
    for (const Operation& op : source.operations()) {
      if (op.condition < 0 || !source.conditions()[static_cast<std::size_t>(op.condition)].negated) {
        circuit.append(source, op);
      }
    }
    const auto wanted = dense::distribution(circuit);
    const auto found = dense::distribution(parse_qasm(write_qasm(circuit)).circuit);
    for (const auto& [bits, probability] : wanted) {
      const auto place = found.find(bits);
      ASSERT_TRUE(place != found.end()) << "seed " << seed;
      EXPECT_NEAR(place->second, probability, 1e-11);
    }
  }
}

TEST(Writer, GeneratedCircuitsReadBack) {
  for (const GeneratorInfo& info : generators()) {
    const Circuit circuit = generate(info.name, {.qubits = std::max(info.min_qubits, 6u)});
    const Circuit again = parse_qasm(write_qasm(circuit)).circuit;
    EXPECT_EQ(again.qubits(), circuit.qubits()) << info.name;
    if (circuit.qubits() > 8) {
      EXPECT_EQ(again.operation_count(), circuit.operation_count()) << info.name;
      continue;
    }
    EXPECT_LT(dense::max_difference_up_to_phase(dense::run(again), dense::run(circuit)), 1e-12) << info.name;
  }
}

TEST(Writer, RefusesWhatOpenQasm2CannotSay) {
  Circuit negated(1, 1);
  const auto scope = negated.when({0, 1, true});
  negated.x(0);
  EXPECT_THROW(write_qasm(negated), UnsupportedError);
  for (const char* name : {"Q", "1q", "pi", "gate", "cx", "a b"}) {
    Circuit circuit;
    circuit.add_qreg(name, 1);
    EXPECT_THROW(write_qasm(circuit), UnsupportedError) << name;
  }
  Circuit wide(5);
  wide.add_unitary(test::random_unitary(5, 1), {}, Qubits{0, 1, 2, 3, 4});
  EXPECT_THROW(write_qasm(wide), UnsupportedError);
  Circuit controlled(20);
  controlled.add_gate(Gate::kH, Qubits{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, Qubits{15});
  EXPECT_THROW(write_qasm(controlled), UnsupportedError);
}

}  // namespace
}  // namespace qsim
