// libFuzzer target of the OpenQASM parser: no input may crash it, hang it or give a circuit that breaks its own rules.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"

namespace {

constexpr std::uint64_t kMaxOperations = 500;  // keeps one execution short

constexpr std::uint32_t kMaxWrittenBits = 1u << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_circuit(const qsim::Circuit& circuit) {
  require(circuit.operations().size() <= kMaxOperations);
  for (const qsim::Operation& op : circuit.operations()) {
    for (const qsim::Qubit qubit : circuit.controls(op)) require(qubit < circuit.qubits());
    for (const qsim::Qubit qubit : circuit.targets(op)) require(qubit < circuit.qubits());
    for (const double value : circuit.params(op)) require(std::isfinite(value));
    if (op.kind == qsim::OpKind::kMeasure) require(circuit.clbit(op) < circuit.clbits());
    if (op.condition >= 0) {
      require(static_cast<std::size_t>(op.condition) < circuit.conditions().size());
      require(circuit.conditions()[static_cast<std::size_t>(op.condition)].creg < circuit.cregs().size());
    }
  }
}

// A global phase, which version 3 has and version 2 has no words for.
bool has_global_phase(const qsim::Circuit& circuit) {
  const auto is_phase = [](const qsim::Operation& op) {
    return op.kind == qsim::OpKind::kGate && op.gate == qsim::Gate::kUPhase && op.controls == 0;
  };
  return std::ranges::any_of(circuit.operations(), is_phase);
}

// What was read is written and read again: the same operations, in the same order.
void check_round_trip(const qsim::Circuit& circuit, const qsim::QasmOptions& options) {
  if (has_global_phase(circuit)) return;
  std::string text;
  try {
    text = qsim::write_qasm(circuit);
  } catch (const qsim::UnsupportedError&) {
    return;
  }
  const qsim::Circuit again = qsim::parse_qasm(text, options).circuit;
  require(again.qubits() == circuit.qubits() && again.clbits() == circuit.clbits());
  require(again.operations().size() == circuit.operations().size());
  for (std::size_t i = 0; i < again.operations().size(); ++i) {
    const qsim::Operation &a = circuit.operations()[i], &b = again.operations()[i];
    require(a.kind == b.kind && a.gate == b.gate && a.controls == b.controls && a.targets == b.targets);
    require((a.condition >= 0) == (b.condition >= 0));
    if (a.condition >= 0) {
      const qsim::Condition& before = circuit.conditions()[static_cast<std::size_t>(a.condition)];
      const qsim::Condition& after = again.conditions()[static_cast<std::size_t>(b.condition)];
      require(before.value == after.value && before.high == after.high);
    }
    for (std::size_t p = 0; p < circuit.params(a).size(); ++p) require(circuit.params(a)[p] == again.params(b)[p]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  qsim::QasmOptions options;
  options.max_operations = kMaxOperations;
  options.max_errors = 3;  // messages cost more than parsing
  try {
    const qsim::Circuit circuit = qsim::parse_qasm(text, options).circuit;
    check_circuit(circuit);
    options.max_operations = 1ull << 18;
    // The writer keeps a table of all bits, which is its right for circuits that can be run.
    if (circuit.qubits() <= kMaxWrittenBits && circuit.clbits() <= kMaxWrittenBits) check_round_trip(circuit, options);
  } catch (const qsim::ParseError& error) {
    require(error.where().line > 0 && error.what()[0] != '\0');
  } catch (const qsim::UnsupportedError&) {
  } catch (const qsim::CapacityError&) {
  }
  return 0;
}
