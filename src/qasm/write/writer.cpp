// Circuit to OpenQASM 2.0 text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "circuit/gate_table.h"
#include "classical/control.h"
#include "qasm/write/definitions.h"
#include "qasm/write/expand.h"
#include "qasm/write/writer3.h"
#include "qsim/error.h"
#include "qsim/qasm.h"

namespace qsim {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_word(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

void check_register_name(const std::string& name) {
  static constexpr std::array<std::string_view, 17> kReserved = {
      "barrier", "cos", "creg", "exp",   "gate", "if",   "include", "ln",      "measure",
      "opaque",  "pi",  "qreg", "reset", "sin",  "sqrt", "tan",     "OPENQASM"};
  const bool word = !name.empty() && is_lower(name[0]) && std::all_of(name.begin(), name.end(), is_word);
  if (!word || std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() || find_gate(name).has_value()) {
    throw UnsupportedError(fmt::format("'{}' cannot be the name of a register in OpenQASM 2 with qelib1.inc", name));
  }
}

class Writer {
 public:
  explicit Writer(const Circuit& circuit) : circuit_(circuit), definitions_(circuit, QasmVersion::k2) {}

  std::string write() {
    if (circuit_.control() != nullptr) {
      throw UnsupportedError("OpenQASM 2 has no words for statements that measurements decide");
    }
    if (const std::vector<FlowOutput> variables = result_variables(circuit_); !variables.empty()) {
      throw UnsupportedError(
          fmt::format("OpenQASM 2 has no words for '{}', whose value is a result", variables.front().name));
    }
    if (circuit_.shown_cregs().size() != circuit_.cregs().size()) {
      throw UnsupportedError("OpenQASM 2 has no words for a measurement without a bit");
    }
    for (Clbit bit = 0; bit < circuit_.clbits(); ++bit) {
      if (circuit_.initial(bit)) throw UnsupportedError("OpenQASM 2 has no words for classical bits that begin with 1");
    }
    for (const auto* registers : {&circuit_.qregs(), &circuit_.cregs()}) {
      for (const Register& one : *registers) {
        check_register_name(one.name);
        definitions_.avoid(one.name);
      }
    }
    place_registers(circuit_.qregs(), qubit_register_, circuit_.qubits());
    place_registers(circuit_.cregs(), clbit_register_, circuit_.clbits());
    for (const Operation& op : circuit_.operations()) operation(op);
    std::string text = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n" + definitions_.text();
    declare(text, "qreg", circuit_.qregs());
    declare(text, "creg", circuit_.cregs());
    return text + statements_;
  }

 private:
  static void place_registers(const std::vector<Register>& registers, std::vector<std::uint32_t>& register_of,
                              std::uint32_t bits) {
    register_of.resize(bits);
    for (std::uint32_t r = 0; r < registers.size(); ++r) {
      for (std::uint32_t i = 0; i < registers[r].size; ++i) register_of[registers[r].first + i] = r;
    }
  }

  // A register without bits cannot be declared, and nothing can mention it but an if, which then compares 0.
  static void declare(std::string& text, std::string_view keyword, const std::vector<Register>& registers) {
    for (const Register& one : registers) {
      if (one.size > 0) text += fmt::format("{} {}[{}];\n", keyword, one.name, one.size);
    }
  }

  void append_bit(const std::vector<Register>& registers, std::uint32_t index, std::uint32_t bit) {
    const Register& one = registers[index];
    fmt::format_to(std::back_inserter(statements_), "{}[{}]", one.name, bit - one.first);
  }

  void append_qubits(std::span<const Qubit> qubits, char& separator) {
    for (const Qubit qubit : qubits) {
      statements_ += separator;
      append_bit(circuit_.qregs(), qubit_register_[qubit], qubit);
      separator = ',';
    }
  }

  void append_condition(const Operation& op) {
    if (op.condition < 0) return;
    const Condition& condition = circuit_.conditions()[static_cast<std::size_t>(op.condition)];
    const Register& creg = circuit_.cregs()[condition.creg];
    if (condition.negated || creg.size == 0) {
      throw UnsupportedError(fmt::format("the condition on '{}' has no form in OpenQASM 2", creg.name),
                             {"", op.line, 0});
    }
    fmt::format_to(std::back_inserter(statements_), "if({}=={}) ", creg.name, condition_number(condition));
  }

  void operation(const Operation& op) {
    char separator = ' ';
    switch (op.kind) {
      case OpKind::kGate:
      case OpKind::kUnitary:
      case OpKind::kPauliRotation:
        return gate(op);
      case OpKind::kMeasure:
        append_condition(op);
        statements_ += "measure";
        append_qubits(circuit_.targets(op), separator);
        statements_ += " -> ";
        append_bit(circuit_.cregs(), clbit_register_[circuit_.clbit(op)], circuit_.clbit(op));
        break;
      case OpKind::kReset:
        append_condition(op);
        statements_ += "reset";
        append_qubits(circuit_.targets(op), separator);
        break;
      case OpKind::kBarrier:
        if (op.targets == 0) return;
        statements_ += "barrier";
        append_qubits(circuit_.targets(op), separator);
        break;
    }
    statements_ += ";\n";
  }

  void gate(const Operation& op) {
    std::string_view name;
    if (op.kind == OpKind::kGate) name = gate_name(op.gate, op.controls);
    const bool has_name = !name.empty();
    if (!has_name) {
      name = definitions_.of(op);
      if (name.empty()) return;
    }
    append_condition(op);
    statements_ += name;
    char separator = '(';
    if (has_name) {
      for (const double angle : circuit_.params(op)) {
        statements_ += separator;
        statements_ += qasm_real(angle);
        separator = ',';
      }
      if (separator == ',') statements_ += ')';
    }
    separator = ' ';
    append_qubits(circuit_.controls(op), separator);
    append_qubits(circuit_.targets(op), separator);
    statements_ += ";\n";
  }

  const Circuit& circuit_;
  std::vector<std::uint32_t> qubit_register_, clbit_register_;
  GateDefinitions definitions_;
  std::string statements_;
};

}  // namespace

std::string write_qasm(const Circuit& circuit, QasmVersion version) {
  if (!circuit.parameters().empty()) {
    throw UnsupportedError(fmt::format("angle '{}' is open: bind() the circuit first", circuit.parameters().front()));
  }
  return version == QasmVersion::k2 ? Writer(circuit).write() : write_qasm3(circuit);
}

}  // namespace qsim
