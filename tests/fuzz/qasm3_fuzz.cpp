// libFuzzer target of OpenQASM 3: no input may crash it, hang it or give a flow program that breaks its own rules.
// Bytes are mutated as they are, or by the grammar: statements of known programs are put together anew.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qasm3/read.h"
#include "qsim/error.h"
#include "qsim/qasm.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

constexpr std::uint64_t kMaxOperations = 300;  // keeps one execution short

void require(bool holds) {
  if (!holds) std::abort();
}

void check_expressions(const qsim::Flow& flow) {
  using Kind = qsim::FlowExpression::Kind;
  for (std::size_t i = 1; i < flow.expressions.size(); ++i) {
    const qsim::FlowExpression& node = flow.expressions[i];
    if (node.kind == Kind::kConstant) require(node.a < flow.constants.size());
    if (node.kind == Kind::kVariable) require(node.a < flow.variables.size());
    if (node.kind != Kind::kConstant && node.kind != Kind::kVariable) require(node.a < i);
    if (node.kind == Kind::kJoin || node.kind == Kind::kSetBit) require(node.b < i);
  }
}

void check_flow(const qsim::Flow& flow) {
  using Kind = qsim::FlowStep::Kind;
  const auto operations = static_cast<std::uint32_t>(flow.circuit.operations().size());
  require(operations <= kMaxOperations);
  for (const qsim::FlowStep& step : flow.steps) {
    if (step.kind == Kind::kRun) require(step.a < step.b && step.b <= operations);
    if (step.kind == Kind::kMeasure) require(step.a < flow.circuit.qubits() && step.b < flow.variables.size());
    if (step.kind == Kind::kReset) require(step.a < flow.circuit.qubits());
    if (step.kind == Kind::kAssign) require(step.a < flow.variables.size() && step.b < flow.expressions.size());
    if (step.kind == Kind::kBranch) require(step.a < flow.expressions.size());
    if (step.kind == Kind::kBranch || step.kind == Kind::kJump) require(step.b <= flow.steps.size());
  }
  for (const qsim::Operation& op : flow.circuit.operations()) {
    for (const qsim::Qubit qubit : flow.circuit.targets(op)) require(qubit < flow.circuit.qubits());
    for (const double value : flow.circuit.params(op)) require(std::isfinite(value));
  }
  for (const qsim::FlowOutput& output : flow.outputs) {
    for (const qsim::FlowValue& value : output.values) require(value.known || value.variable < flow.variables.size());
  }
  check_expressions(flow);
}

// What is written can be read.
void check_writing(qsim::Flow flow) {
  constexpr std::uint32_t kMostBits = 1u << 10;
  if (flow.circuit.qubits() > kMostBits) return;
  for (const qsim::FlowOutput& output : flow.outputs) {
    if (output.values.size() > kMostBits) return;
  }
  qsim::tidy(flow);
  std::optional<qsim::Circuit> straight = qsim::straight_circuit(flow);
  const qsim::Circuit circuit = straight ? std::move(*straight) : qsim::controlled_circuit(std::move(flow));
  std::string text;
  try {
    text = qsim::write_qasm(circuit, qsim::QasmVersion::k3);
  } catch (const qsim::UnsupportedError&) {
    return;
  }
  try {
    qsim::parse_flow(text);
  } catch (const qsim::UnsupportedError&) {
  } catch (const qsim::Error& error) {
    std::fprintf(stderr, "written, but not read: %s\n%s\n", error.what(), text.c_str());
    std::abort();
  }
}

constexpr std::string_view kPieces[] = {"qubit[3] q;",
                                        "bit[2] c;",
                                        "int[8] i = 3;",
                                        "uint[3] u = 5;",
                                        "angle[4] a = pi/8;",
                                        "float f = 0.5;",
                                        "include \"stdgates.inc\";",
                                        "h q[0];",
                                        "cx q[0], q[1];",
                                        "ctrl @ rx(a) q[0], q[1];",
                                        "pow(0.5) @ x q[2];",
                                        "inv @ s q;",
                                        "negctrl(2) @ z q[0], q[1], q[2];",
                                        "c[0] = measure q[0];",
                                        "c = measure q[0:1];",
                                        "measure q[2];",
                                        "if (c[0]) { x q[1]; i += 1; } else { reset q[0]; }",
                                        "while (c == 2) { c[1] = measure q[1]; i -= 1; }",
                                        "for int k in [0:2] { h q[k]; if (c[0] == 1) break; }",
                                        "switch (int(c)) { case 1 { x q[0]; } default { end; } }",
                                        "def g(qubit p, int[4] n) -> bit { if (n > 2) return measure p; return 0; }",
                                        "c[1] = g(q[0], i);",
                                        "gate w(t) x, y { rz(t) x; ctrl @ gphase(t/2) y; }",
                                        "w(f) q[0], q[2];",
                                        "u[1] = c[0];",
                                        "rx(u * pi / 4) q[u % 3];",
                                        "array[int[8], 2, 2] m = {{1, 2}, {3, 4}};",
                                        "i = m[1, 0] + sizeof(m);",
                                        "let s = q[{0, 2}];",
                                        "x s[1];",
                                        "delay[10ns] q[0];",
                                        "box { h q[1]; }",
                                        "input float p;",
                                        "output bit[2] o;",
                                        "const int n = 2 ** 3;",
                                        "i <<= 1;",
                                        "f = sin(pi * i) + 1.0;",
                                        "break;",
                                        "continue;",
                                        "return;",
                                        "{",
                                        "}",
                                        "complex z = 1.0 + 2 im;",
                                        "c ^= \"01\";"};

}  // namespace

/// Half of the time a statement is put in, taken out, doubled or moved; otherwise bytes change.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 2 == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> statements(1);
  for (const char c : text) {
    statements.back() += c;
    if (c == ';' || c == '{' || c == '}') statements.emplace_back();
  }
  const auto place = [&] { return static_cast<std::ptrdiff_t>(random() % statements.size()); };
  switch (random() % 4) {
    case 0:
      statements.insert(statements.begin() + place(), std::string(kPieces[random() % std::size(kPieces)]));
      break;
    case 1:
      statements.erase(statements.begin() + place());
      break;
    case 2:
      statements.insert(statements.begin() + place(), std::string(statements[static_cast<std::size_t>(place())]));
      break;
    default:
      std::swap(statements[static_cast<std::size_t>(place())], statements[static_cast<std::size_t>(place())]);
      break;
  }
  std::string joined;
  for (const std::string& statement : statements) joined += statement;
  const std::size_t length = std::min(joined.size(), max_size);
  std::memcpy(data, joined.data(), length);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  qsim::QasmOptions options;
  options.max_operations = kMaxOperations;
  options.max_errors = 3;  // messages cost more than parsing
  try {
    qsim::Flow flow = qsim::parse_flow(text, options);
    check_flow(flow);
    check_writing(std::move(flow));
  } catch (const qsim::ParseError& error) {
    require(error.where().line > 0 && error.what()[0] != '\0');
  } catch (const qsim::UnsupportedError&) {
  } catch (const qsim::CapacityError&) {
  }
  return 0;
}
