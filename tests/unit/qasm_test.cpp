// OpenQASM 2.0: each rule of the language, by the circuit or the error that it gives.
#include "qsim/qasm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/dense.h"

namespace qsim {
namespace {

constexpr double kPi = std::numbers::pi;

Circuit parse(const std::string& body) { return parse_qasm("OPENQASM 2.0;\ninclude \"qelib1.inc\";\n" + body).circuit; }

double angle(const std::string& expression) {
  // The parameter of u0 is a time, which is kept as it is; angles beyond 4 pi are reduced.
  const Circuit circuit = parse("qreg q[1]; u0(" + expression + ") q[0];");
  return circuit.params(circuit.operations().at(0))[0];
}

std::vector<Diagnostic> errors(const std::string& body) {
  return check_qasm("OPENQASM 2.0;\ninclude \"qelib1.inc\";\n" + body);
}

// Message of the only error of the program; empty when there are none or several.
std::string only_error(const std::string& body) {
  const std::vector<Diagnostic> found = errors(body);
  return found.size() == 1 ? found.front().text : std::to_string(found.size()) + " errors";
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

#define EXPECT_ERROR(body, part) EXPECT_TRUE(mentions(only_error(body), part)) << only_error(body)

TEST(Qasm, RegistersAreNumberedInDeclarationOrder) {
  const Circuit circuit = parse("qreg a[2]; creg c[3]; qreg b[3]; creg d[1]; x b[1]; measure b[2] -> d[0];");
  EXPECT_EQ(5u, circuit.qubits());
  EXPECT_EQ(4u, circuit.clbits());
  EXPECT_EQ((Register{"b", 2, 3}), circuit.qregs().at(1));
  EXPECT_EQ(3u, circuit.targets(circuit.operations()[0])[0]);
  EXPECT_EQ(4u, circuit.targets(circuit.operations()[1])[0]);
  EXPECT_EQ(3u, circuit.clbit(circuit.operations()[1]));
}

TEST(Qasm, OperationsCarryTheirSourceLine) {
  const Circuit circuit = parse("qreg q[2];\n\nh q;\ncx q[0],\n q[1];");
  ASSERT_EQ(3u, circuit.operations().size());
  EXPECT_EQ(5u, circuit.operations()[1].line);
  EXPECT_EQ(6u, circuit.operations()[2].line);
}

TEST(Qasm, LibraryGatesBecomeTableRowsWithControls) {
  const Circuit circuit = parse("qreg q[5]; cu3(1,2,3) q[4],q[0]; c3sqrtx q[0],q[1],q[2],q[3]; CX q[1],q[2];");
  const Operation& cu3 = circuit.operations().at(0);
  EXPECT_EQ(Gate::kU, cu3.gate);
  ASSERT_EQ(1u, circuit.controls(cu3).size());
  EXPECT_EQ(4u, circuit.controls(cu3)[0]);
  EXPECT_EQ(0u, circuit.targets(cu3)[0]);
  EXPECT_EQ(3.0, circuit.params(cu3)[2]);
  EXPECT_EQ(Gate::kSx, circuit.operations().at(1).gate);
  EXPECT_EQ(3, circuit.operations().at(1).controls);
  EXPECT_EQ(Gate::kX, circuit.operations().at(2).gate);
}

TEST(Qasm, OnlyUAndCxAreKnownWithoutTheLibrary) {
  EXPECT_EQ(2u, parse_qasm("OPENQASM 2.0; qreg q[2]; U(1,2,3) q[0]; CX q[0],q[1];").circuit.operations().size());
  const auto found = check_qasm("OPENQASM 2.0; qreg q[2]; h q[0];");
  ASSERT_EQ(1u, found.size());
  EXPECT_TRUE(mentions(found[0].hint, "include \"qelib1.inc\"")) << found[0].hint;
}

TEST(Qasm, ExpressionsFollowTheUsualPrecedence) {
  EXPECT_DOUBLE_EQ(-4.0, angle("-2^2"));
  EXPECT_DOUBLE_EQ(512.0, angle("2^3^2"));
  EXPECT_DOUBLE_EQ(0.5, angle("2^-1"));
  EXPECT_DOUBLE_EQ(7.0, angle("1+2*3"));
  EXPECT_DOUBLE_EQ(-4.0, angle("1-2-3"));
  EXPECT_DOUBLE_EQ(0.25, angle("1/2/2"));
  EXPECT_DOUBLE_EQ(9.0, angle("(1+2)*3"));
  EXPECT_DOUBLE_EQ(3.0, angle("1--2"));
  EXPECT_DOUBLE_EQ(-6.0, angle("2*-3"));
  EXPECT_DOUBLE_EQ(0.5, angle("1/2"));
  EXPECT_DOUBLE_EQ(3 * kPi / 4, angle("3*pi/4"));
  EXPECT_DOUBLE_EQ(std::sin(0.5) + std::cos(0.5) * std::tan(0.5), angle("sin(0.5)+cos(.5)*tan(5e-1)"));
  EXPECT_DOUBLE_EQ(std::exp(1.0) - std::log(2.0) + std::sqrt(3.0), angle("exp(1.)-ln(2)+sqrt(3)"));
}

TEST(Qasm, AnglesThatAreNotFiniteAreErrors) {
  EXPECT_ERROR("qreg q[1]; rz(1/0) q[0];", "division by zero");
  EXPECT_ERROR("qreg q[1]; rz(sqrt(-1)) q[0];", "square root of a negative");
  EXPECT_ERROR("qreg q[1]; rz(ln(0)) q[0];", "logarithm");
  EXPECT_ERROR("qreg q[1]; rz(1e999) q[0];", "out of the range");
  EXPECT_ERROR("qreg q[1]; rz(exp(1000)) q[0];", "not a finite number");
  EXPECT_ERROR("qreg q[1]; gate g(a) b { rz(1/a) b; } g(0) q[0];", "division by zero");
  EXPECT_TRUE(errors("gate g(a) b { rz(a/0) b; }").empty()) << "a gate that is never applied has no angles";
}

TEST(Qasm, CustomGatesExpandWithTheirAnglesAndQubits) {
  const Circuit circuit = parse(
      "gate inner(t) a,b { rz(2*t) b; cx b,a; }\n"
      "gate outer(s,t) a,b,c { inner(s-t) c,a; barrier a,c; h b; inner(t) b,c; }\n"
      "qreg q[4]; outer(5,2) q[3],q[1],q[0];");
  ASSERT_EQ(6u, circuit.operations().size());
  const auto& ops = circuit.operations();
  EXPECT_DOUBLE_EQ(6.0, circuit.params(ops[0])[0]);
  EXPECT_EQ(3u, circuit.targets(ops[0])[0]);
  EXPECT_EQ(3u, circuit.controls(ops[1])[0]);
  EXPECT_EQ(0u, circuit.targets(ops[1])[0]);
  EXPECT_EQ(OpKind::kBarrier, ops[2].kind);
  EXPECT_EQ(2u, circuit.targets(ops[2]).size());
  EXPECT_EQ(1u, circuit.targets(ops[3])[0]);
  EXPECT_DOUBLE_EQ(4.0, circuit.params(ops[4])[0]);
  EXPECT_EQ(0u, circuit.targets(ops[4])[0]);
}

TEST(Qasm, GateLocalNamesHideNothingAndAreHiddenByNothing) {
  const Circuit circuit = parse("gate bell h,cx { h h; cx h,cx; } qreg q[2]; bell q[1],q[0];");
  EXPECT_EQ(Gate::kH, circuit.operations().at(0).gate);
  EXPECT_EQ(1u, circuit.targets(circuit.operations().at(0))[0]);
  EXPECT_ERROR("gate a(x) b { rz(x) b; } gate c d { rz(x) d; }", "unknown name 'x'");
  EXPECT_ERROR("qreg q[1]; gate g a { h q; }", "'q' is not a qubit of this gate");
  EXPECT_ERROR("gate g a,a { }", "named twice");
}

TEST(Qasm, YoungLibraryNamesMayBeDefinedAnewButThePapersMayNot) {
  const Circuit circuit = parse("gate swap a { x a; } qreg q[1]; swap q[0];");
  EXPECT_EQ(Gate::kX, circuit.operations().at(0).gate);
  EXPECT_ERROR("gate h a { x a; }", "'h' is already declared");
  EXPECT_ERROR("gate swap a { } gate swap a { }", "'swap' is already declared");
}

TEST(Qasm, ProgramsDefinitionBeforeTheIncludeHolds) {
  const QasmProgram program =
      parse_qasm("OPENQASM 2.0; gate p(t) a { U(0,0,t+1) a; } include \"qelib1.inc\"; qreg q[1]; p(1) q[0];");
  EXPECT_EQ(Gate::kU, program.circuit.operations().at(0).gate);
  const auto clash = check_qasm("OPENQASM 2.0; gate h a { U(0,0,1) a; } include \"qelib1.inc\";");
  ASSERT_EQ(1u, clash.size());
  EXPECT_TRUE(mentions(clash[0].text, "qelib1.inc defines 'h'")) << clash[0].text;
}

TEST(Qasm, BroadcastPairsRegistersAndRepeatsSingleQubits) {
  const Circuit circuit = parse("qreg a[3]; qreg b[3]; qreg c[1]; cx a,b; cx c[0],b; ccx a[0],b,c[0];");
  ASSERT_EQ(9u, circuit.operations().size());
  EXPECT_EQ(2u, circuit.controls(circuit.operations()[2])[0]);
  EXPECT_EQ(5u, circuit.targets(circuit.operations()[2])[0]);
  EXPECT_EQ(6u, circuit.controls(circuit.operations()[5])[0]);
  EXPECT_EQ(0u, circuit.controls(circuit.operations()[8])[0]);
  EXPECT_EQ(5u, circuit.controls(circuit.operations()[8])[1]);
  EXPECT_ERROR("qreg a[2]; qreg b[3]; cx a,b;", "registers of different sizes (2 and 3)");
  EXPECT_ERROR("qreg a[2]; cx a,a;", "the same qubit is used twice");
  EXPECT_ERROR("qreg a[2]; cx a[0],a;", "the same qubit is used twice");
}

TEST(Qasm, MeasureResetAndBarrierTakeRegistersAndBits) {
  const Circuit circuit = parse("qreg q[2]; creg c[2]; measure q -> c; reset q; barrier q,q[0]; measure q[1] -> c[0];");
  ASSERT_EQ(6u, circuit.operations().size());
  EXPECT_EQ(OpKind::kMeasure, circuit.operations()[1].kind);
  EXPECT_EQ(1u, circuit.clbit(circuit.operations()[1]));
  EXPECT_EQ(OpKind::kReset, circuit.operations()[3].kind);
  EXPECT_EQ(2u, circuit.targets(circuit.operations()[4]).size());
  EXPECT_ERROR("qreg q[2]; creg c[3]; measure q -> c;", "sizes differ (2 qubits into 3 bits)");
  EXPECT_ERROR("qreg q[2]; creg c[2]; measure q -> c[0];", "sizes differ");
  EXPECT_ERROR("qreg q[2]; creg c[2]; measure c -> q;", "'c' is not a quantum register");
}

TEST(Qasm, IfCarriesItsConditionOverTheWholeStatementOnly) {
  const Circuit circuit = parse("qreg q[2]; creg a[1]; creg c[2]; if(c==3) h q; x q[0]; if (a==0) measure q->c;");
  ASSERT_EQ(5u, circuit.operations().size());
  const Condition condition = circuit.conditions()[static_cast<std::size_t>(circuit.operations()[1].condition)];
  EXPECT_EQ((Condition{1, 3, false}), condition);
  EXPECT_EQ(circuit.operations()[0].condition, circuit.operations()[1].condition);
  EXPECT_EQ(-1, circuit.operations()[2].condition);
  EXPECT_EQ(0u, circuit.conditions()[static_cast<std::size_t>(circuit.operations()[4].condition)].creg);
  EXPECT_ERROR("qreg q[1]; creg c[1]; if(c==1) barrier q;", "expected a gate, 'measure' or 'reset'");
  EXPECT_ERROR("qreg q[1]; creg c[1]; if(c==1) if(c==1) h q;", "expected a gate, 'measure' or 'reset'");
  EXPECT_ERROR("qreg q[1]; if(q==1) h q;", "'q' is not a classical register");
  EXPECT_ERROR("qreg q[1]; creg c[1]; if(c=1) h q;", "unexpected character '='");
}

TEST(Qasm, ConditionsHoldNumbersOfAnyWidth) {
  const auto condition = [](const std::string& size, const std::string& number) {
    const Circuit circuit = parse("qreg q[1]; creg c[" + size + "]; if(c==" + number + ") x q[0];");
    return circuit.conditions().at(0);
  };
  EXPECT_EQ(18446744073709551615u, condition("64", "18446744073709551615").value);
  const Condition wide = condition("151", "1427247692705959881058285969449495136382746624");  // 2^150
  EXPECT_EQ(0u, wide.value);
  EXPECT_EQ((std::vector<Index>{0, Index{1} << 22}), wide.high);
  const std::string wide_number = "1427247692705959881058285969449495136382746625";
  const Circuit written = parse("qreg q[1]; creg c[151]; if(c==" + wide_number + ") x q[0]; if(c==0) x q[0];");
  EXPECT_TRUE(mentions(write_qasm(written), "if(c==" + wide_number + ")")) << write_qasm(written);
  EXPECT_TRUE(mentions(write_qasm(written), "if(c==0)")) << write_qasm(written);
  const Condition narrow = condition("3", "18446744073709551617");  // never true, and never 1
  EXPECT_TRUE(narrow.high.empty());
  EXPECT_EQ(18446744073709551615u, narrow.value);
}

TEST(Qasm, OpaqueGatesMayBeDeclaredButNotApplied) {
  EXPECT_TRUE(errors("opaque magic(a) b,c; gate g b,c { magic(1) b,c; }").empty());
  for (const std::string call : {"magic(1) q[0],q[1];", "g q[0],q[1];"}) {
    try {
      parse("opaque magic(a) b,c;\ngate g b,c { magic(1) b,c; }\nqreg q[2];\n" + call);
      ADD_FAILURE() << call << " was accepted";
    } catch (const UnsupportedError& error) {
      EXPECT_EQ(6u, error.where().line);
      EXPECT_TRUE(mentions(error.what(), "'magic'")) << error.what();
    }
  }
}

TEST(Qasm, ArityAndRangeAreChecked) {
  EXPECT_ERROR("qreg q[2]; rz q[0];", "'rz' takes 1 angle, got 0");
  EXPECT_ERROR("qreg q[2]; h(1) q[0];", "'h' takes 0 angles, got 1");
  EXPECT_ERROR("qreg q[2]; cx q[0];", "'cx' takes 2 qubits, got 1");
  EXPECT_ERROR("qreg q[2]; h q[2];", "index 2 is out of range for 'q', which has 2 qubits");
  EXPECT_ERROR("qreg q[2]; h q[18446744073709551616];", "is too large");
  EXPECT_ERROR("gate g a { cx a,a; }", "the same qubit is used twice");
  EXPECT_ERROR("gate g a { cx a; }", "'cx' takes 2 qubits, got 1");
}

TEST(Qasm, DefinitionsAreNotRecursive) {
  EXPECT_ERROR("gate g a { g a; }", "may not be recursive");
  EXPECT_ERROR("gate f a { g a; } gate g a { f a; }", "gate 'g' is not defined");
}

TEST(Qasm, ToleratedSpellingsAreAccepted) {
  EXPECT_EQ(1u, parse_qasm("qreg q[1]; U(0,0,0) q[0];").circuit.operations().size());  // no header
  EXPECT_EQ(0u, parse_qasm("OPENQASM 2; qreg q[0];").circuit.qubits());
  EXPECT_TRUE(errors("qreg q[2]; cu3(1,2,+3,) q[0],q[1],;;").empty());
  EXPECT_TRUE(errors("qreg q[2]; barrier; CX() q[0],q[1];").empty());
  EXPECT_TRUE(check_qasm("OPENQASM 2.0; include 'qelib1.inc'; include \"qelib1.inc\"; qreg q[1]; h q;").empty());
  EXPECT_TRUE(errors("qreg q[1]; creg c[2]; measure q -> c[1];").empty());
}

TEST(Qasm, ParsedGatesActAsTheirDefinitionsSay) {
  const Circuit direct = parse("qreg q[3]; h q; crz(0.3) q[0],q[2]; cu1(0.7) q[2],q[1]; cswap q[1],q[0],q[2];");
  const Circuit expanded = parse(
      "gate mycrz(t) a,b { u1(t/2) b; cx a,b; u1(-t/2) b; cx a,b; }\n"
      "gate mycu1(t) a,b { u1(t/2) a; cx a,b; u1(-t/2) b; cx a,b; u1(t/2) b; }\n"
      "gate myswap a,b,c { cx c,b; ccx a,b,c; cx c,b; }\n"
      "qreg q[3]; h q; mycrz(0.3) q[0],q[2]; mycu1(0.7) q[2],q[1]; myswap q[1],q[0],q[2];");
  EXPECT_LT(dense::max_difference_up_to_phase(dense::run(direct), dense::run(expanded)), 1e-12);
}

// What Qiskit writes for `initialize`.
TEST(Qasm, BodiesMayResetTheirQubits) {
  const Circuit circuit = parse(
      "gate initialize(a) q0,q1 { reset q0; reset q1; ry(a) q1; cx q1,q0; }\n"
      "gate outer x,y { initialize(0.5) y,x; }\nqreg q[3];\nh q;\nouter q[2],q[0];");
  ASSERT_EQ(circuit.operations().size(), 7u);
  EXPECT_EQ(circuit.operations()[3].kind, OpKind::kReset);
  EXPECT_EQ(circuit.targets(circuit.operations()[3])[0], 0u);
  EXPECT_EQ(circuit.operations()[4].kind, OpKind::kReset);
  EXPECT_EQ(circuit.targets(circuit.operations()[4])[0], 2u);
  EXPECT_EQ(circuit.operations()[5].gate, Gate::kRy);
  EXPECT_ERROR("gate g a,b { reset a,b; }", "reset takes one qubit");
  EXPECT_ERROR("gate g a { reset b; }", "'b' is not a qubit of this gate");
  EXPECT_ERROR("gate g a { measure a -> a; }", "'measure' is not allowed in a gate body");
}

TEST(Qasm, OpaqueGatesDoWhatTheirMatricesSay) {
  const std::string text =
      "OPENQASM 2.0; include \"qelib1.inc\"; opaque magic a,b; gate g x,y,z { h x; magic z,x; } qreg q[3]; "
      "g q[0],q[1],q[2];";
  QasmOptions options;
  const Complex i{0, 1};
  options.unitaries["magic"] = {0, 0, 0, i, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, -i, 0};
  const Circuit circuit = parse_qasm(text, options).circuit;
  ASSERT_EQ(circuit.operations().size(), 2u);
  EXPECT_EQ(circuit.operations()[1].kind, OpKind::kUnitary);
  Circuit wanted(3);
  const std::vector<Qubit> on{2, 0};
  wanted.h(0).add_unitary(options.unitaries["magic"], {}, on);
  EXPECT_EQ(dense::circuit_matrix(circuit), dense::circuit_matrix(wanted));
  options.unitaries["other"] = {1, 0, 0, 1};
  EXPECT_THROW(parse_qasm(text, options), UsageError) << "no such opaque gate";
  EXPECT_THROW(parse_qasm("OPENQASM 3.0; qubit q;", options), UsageError);
  const auto message_of = [&](const Matrix& matrix, const std::string& declaration) {
    QasmOptions given;
    given.unitaries["magic"] = matrix;
    const auto found = check_qasm("OPENQASM 2.0; " + declaration, given);
    return found.size() == 1 ? found.front().text : std::to_string(found.size()) + " errors";
  };
  EXPECT_TRUE(mentions(message_of({1, 0, 0, 1}, "opaque magic a,b;"), "has 4 entries, which is not 4^2"));
  EXPECT_TRUE(mentions(message_of({1, 0, 0, 2}, "opaque magic a;"), "is refused: "));
  EXPECT_TRUE(mentions(message_of({1, 0, 0, std::nan("")}, "opaque magic a;"), "is refused: "));
  EXPECT_TRUE(mentions(message_of({1, 0, 0, 1}, "opaque magic(t) a;"), "the gate has angles"));
}

}  // namespace
}  // namespace qsim
