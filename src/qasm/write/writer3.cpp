// Gates keep their names of stdgates.inc, with modifiers for more controls; variables that no result shows live in a
// block of their own behind the declarations.
#include "qasm/write/writer3.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "circuit/gate_table.h"
#include "classical/control.h"
#include "qasm/write/control.h"
#include "qasm/write/definitions.h"
#include "qasm/write/expand.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::string_view kGates[] = {"p",   "x",   "y",   "z",  "h",    "s",   "sdg",   "t",  "tdg",
                                       "sx",  "rx",  "ry",  "rz", "cx",   "cy",  "cz",    "cp", "ch",
                                       "crx", "cry", "crz", "cu", "swap", "ccx", "cswap", "id"};

// What may be the name of nothing else.
constexpr std::string_view kWords[] = {"OPENQASM", "include", "defcalgrammar",
                                       "def",      "cal",     "defcal",
                                       "gate",     "extern",  "box",
                                       "let",      "break",   "continue",
                                       "if",       "else",    "end",
                                       "return",   "for",     "while",
                                       "in",       "switch",  "case",
                                       "default",  "nop",     "pragma",
                                       "input",    "output",  "const",
                                       "readonly", "mutable", "qreg",
                                       "qubit",    "creg",    "bool",
                                       "bit",      "int",     "uint",
                                       "float",    "angle",   "complex",
                                       "array",    "void",    "duration",
                                       "stretch",  "gphase",  "inv",
                                       "pow",      "ctrl",    "negctrl",
                                       "dim",      "delay",   "reset",
                                       "measure",  "barrier", "durationof",
                                       "true",     "false",   "pi",
                                       "tau",      "euler",   "im",
                                       "U",        "CX",      "u",
                                       "u1",       "u2",      "u3",
                                       "phase",    "cphase",  "arccos",
                                       "arcsin",   "arctan",  "ceiling",
                                       "cos",      "exp",     "floor",
                                       "log",      "mod",     "popcount",
                                       "rotl",     "rotr",    "sin",
                                       "sqrt",     "tan",     "real",
                                       "imag",     "sizeof",  "opaque"};

bool is_taken(std::string_view name) {
  return std::ranges::find(kWords, name) != std::end(kWords) || std::ranges::find(kGates, name) != std::end(kGates);
}

class Writer3 {
 public:
  explicit Writer3(const Circuit& circuit)
      : circuit_(circuit),
        definitions_(circuit, QasmVersion::k3),
        control_(circuit.control() != nullptr  ? circuit.control()
                 : circuit.finish() != nullptr ? &circuit.finish()->control
                                               : nullptr) {}

  std::string write() {
    choose_names();
    variable_ = definitions_.prefix() + "v";
    std::string statements;
    const bool inner = control_ != nullptr || circuit_.shown_cregs().size() != circuit_.cregs().size();
    const std::string indent = inner ? "  " : "";
    if (circuit_.control() == nullptr) {
      for (const Operation& op : circuit_.operations()) statements += operation(op, indent);
    }
    if (control_ != nullptr) statements += controlled(indent);
    std::string text = "OPENQASM 3.1;\ninclude \"stdgates.inc\";\n";
    if (uses_u_ || definitions_.text().find(" u(") != std::string::npos) {
      text += "gate u(theta, phi, lambda) a { gphase(-theta / 2); U(theta, phi, lambda) a; }\n";
    }
    text += definitions_.text() + declarations();
    return inner ? text + "{\n" + inner_declarations() + statements + "}\n" : text + statements;
  }

 private:
  // Names of version 2, and those that mean something in version 3, are made new ones by lines behind them.
  void choose_names() {
    std::vector<std::string> used;
    const auto choose = [&](const std::string& wanted) {
      std::string name = wanted.empty() ? "hidden" : wanted == "$" ? "physical" : wanted;
      while (is_taken(name) || std::ranges::find(used, name) != used.end()) name += '_';
      used.push_back(name);
      definitions_.avoid(name);
      return name;
    };
    for (const Register& qreg : circuit_.qregs()) qubits_.push_back({choose(qreg.name), qreg.first, qreg.size});
    for (const Register& creg : circuit_.cregs()) bits_.push_back({choose(creg.name), creg.first, creg.size});
    if (control_ == nullptr) return;
    for (const FlowOutput& output : control_->outputs) {
      const auto creg = std::ranges::find(circuit_.cregs(), output.name, &Register::name);
      const bool known = output.is_register && creg != circuit_.cregs().end();
      const auto place = static_cast<std::size_t>(creg - circuit_.cregs().begin());
      output_names_.push_back(known ? bits_[place].name : choose(output.name));
    }
  }

  static std::string element(const std::vector<Register>& registers, std::uint32_t bit) {
    const auto after = std::ranges::upper_bound(registers, bit, {}, &Register::first);
    // Registers of no bits begin where the next one does.
    const auto holds = std::find_if(std::make_reverse_iterator(after), registers.rend(),
                                    [&](const Register& each) { return bit - each.first < each.size; });
    return fmt::format("{}[{}]", holds->name, bit - holds->first);
  }

  std::string qubits(std::span<const Qubit> controls, std::span<const Qubit> targets) const {
    std::string text;
    for (const std::span<const Qubit> list : {controls, targets}) {
      for (const Qubit qubit : list) text += (text.empty() ? "" : ", ") + element(qubits_, qubit);
    }
    return text;
  }

  std::string operation(const Operation& op, const std::string& indent) {
    std::string statement;
    switch (op.kind) {
      case OpKind::kGate:
      case OpKind::kUnitary:
      case OpKind::kPauliRotation:
        statement = gate(op);
        if (statement.empty()) return "";
        break;
      case OpKind::kMeasure:
        statement = fmt::format("{} = measure {};", element(bits_, circuit_.clbit(op)),
                                element(qubits_, circuit_.targets(op)[0]));
        break;
      case OpKind::kReset:
        statement = fmt::format("reset {};", element(qubits_, circuit_.targets(op)[0]));
        break;
      case OpKind::kBarrier:
        if (op.targets == 0) return "";
        statement = fmt::format("barrier {};", qubits({}, circuit_.targets(op)));
        break;
    }
    if (op.condition < 0) return indent + statement + '\n';
    const Condition& condition = circuit_.conditions()[static_cast<std::size_t>(op.condition)];
    const std::optional<std::string> bits = wanted_bits(condition);
    // No value of the register is wider than it.
    if (!bits) return condition.negated ? indent + statement + '\n' : "";
    if (bits->empty()) return condition.negated ? "" : indent + statement + '\n';
    return fmt::format("{}if ({} {} \"{}\") {{ {} }}\n", indent, bits_[condition.creg].name,
                       condition.negated ? "!=" : "==", *bits, statement);
  }

  // What the register is compared with, as a bit string since that may be of any width; none where it cannot be equal.
  std::optional<std::string> wanted_bits(const Condition& condition) const {
    const std::uint32_t size = bits_[condition.creg].size;
    std::string bits;
    for (std::size_t i = std::max<std::size_t>(size, 64 * (1 + condition.high.size())); i-- > 0;) {
      const std::size_t word = i / 64;
      const Index of = word == 0 ? condition.value : word <= condition.high.size() ? condition.high[word - 1] : 0;
      const bool one = (of >> (i % 64) & 1) != 0;
      if (i < size) {
        bits += one ? '1' : '0';
      } else if (one) {
        return std::nullopt;
      }
    }
    return bits;
  }

  std::string gate(const Operation& op) {
    const std::string operands = qubits(circuit_.controls(op), circuit_.targets(op));
    const std::string call = op.kind == OpKind::kGate ? named(op) : "";
    if (call.starts_with("gphase") || call.find("@ gphase") != std::string::npos) {
      return op.controls == 0 ? call + ';' : fmt::format("{} {};", call, qubits(circuit_.controls(op), {}));
    }
    if (!call.empty()) return fmt::format("{} {};", call, operands);
    const std::string_view name = definitions_.of(op);
    return name.empty() ? "" : fmt::format("{} {};", name, operands);
  }

  // The gate with its modifiers and angles; empty where it has no name.
  std::string named(const Operation& op) {
    const std::span<const double> angles = circuit_.params(op);
    const std::string_view whole = gate_name(op.gate, op.controls);
    if (std::ranges::find(kGates, whole) != std::end(kGates)) return called(whole, angles);
    const std::string modifier = op.controls == 0   ? ""
                                 : op.controls == 1 ? "ctrl @ "
                                                    : fmt::format("ctrl({}) @ ", op.controls);
    switch (op.gate) {
      case Gate::kSxdg:
        return modifier + "inv @ sx";
      case Gate::kU0:
        return modifier + "id";
      case Gate::kU2:
        uses_u_ = true;
        return modifier + called("u", {kQuarter, angles[0], angles[1]});
      case Gate::kU:
        uses_u_ = true;
        return modifier + called("u", angles);
      case Gate::kUPhase:
        if (angles[0] == 0 && angles[1] == 0 && angles[2] == 0) return modifier + called("gphase", angles.subspan(3));
        return "";
      default:
        break;
    }
    const std::string_view base = gate_info(op.gate).name;
    if (std::ranges::find(kGates, base) == std::end(kGates)) return "";
    return modifier + called(base, angles);
  }

  static std::string called(std::string_view name, std::span<const double> angles) {
    std::vector<std::string> texts;
    for (const double angle : angles) texts.push_back(qasm_real(angle));
    return texts.empty() ? std::string(name) : fmt::format("{}({})", name, fmt::join(texts, ", "));
  }
  static std::string called(std::string_view name, std::initializer_list<double> angles) {
    return called(name, std::span(angles.begin(), angles.size()));
  }

  std::string declarations() const {
    std::string text;
    for (const Register& qreg : qubits_) text += fmt::format("qubit[{}] {};\n", qreg.size, qreg.name);
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (circuit_.cregs()[i].name.empty()) continue;
      const bool output = is_declared_output(circuit_.cregs()[i].name);
      const std::string initial = initial_text(bits_[i]);
      text += fmt::format("{}bit[{}] {}{};\n", output ? "output " : "", bits_[i].size, bits_[i].name,
                          output ? "" : initial);
      if (output && !initial.empty()) text += fmt::format("{}{};\n", bits_[i].name, initial);
    }
    for (std::size_t i = 0; i < output_names_.size(); ++i) {
      const FlowOutput& output = control_->outputs[i];
      if (output.is_register || output.values.empty()) continue;
      const std::string type = type_text(type_of(output.values.front()));
      text += output.declared_output ? "output " : "";
      text += output.shape.empty() ? type : fmt::format("array[{}, {}]", type, fmt::join(output.shape, ", "));
      text += ' ' + output_names_[i] + ";\n";
    }
    return text;
  }

  bool is_declared_output(const std::string& name) const {
    if (control_ == nullptr) return false;
    return std::ranges::any_of(control_->outputs, [&](const FlowOutput& output) {
      return output.is_register && output.declared_output && output.name == name;
    });
  }

  ScalarType type_of(const FlowValue& value) const {
    return value.known ? value.constant.type : control_->variables[value.variable];
  }

  // ' = "0101"' where the register does not begin with zeros.
  std::string initial_text(const Register& creg) const {
    std::string bits;
    for (std::uint32_t i = creg.size; i-- > 0;) bits += circuit_.initial(creg.first + i) ? '1' : '0';
    return bits.find('1') == std::string::npos ? "" : " = \"" + bits + '"';
  }

  // What no result shows.
  std::string inner_declarations() const {
    std::string text;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (circuit_.cregs()[i].name.empty()) text += fmt::format("  bit[{}] {};\n", bits_[i].size, bits_[i].name);
    }
    for (std::size_t i = 0; control_ != nullptr && i < control_->variables.size(); ++i) {
      text += fmt::format("  {} {}{};\n", type_text(control_->variables[i]), variable_, i);
    }
    return text;
  }

  // The steps, and the values of the results behind them.
  std::string controlled(const std::string& indent) {
    const OperationText text_of = [this](const FlowStep& step, const std::string& inner) {
      if (step.kind == FlowStep::Kind::kMeasure) {
        return fmt::format("{}{}{} = measure {};\n", inner, variable_, step.b, element(qubits_, step.a));
      }
      if (step.kind == FlowStep::Kind::kReset) return fmt::format("{}reset {};\n", inner, element(qubits_, step.a));
      std::string text;
      for (std::uint32_t i = step.a; i < step.b; ++i) text += operation(circuit_.operations()[i], inner);
      return text;
    };
    std::string text;
    if (circuit_.finish() != nullptr) {
      const std::vector<std::optional<Clbit>>& bit_of = circuit_.finish()->bit_of;
      for (std::size_t i = 0; i < bit_of.size(); ++i) {
        if (bit_of[i]) text += fmt::format("{}{}{} = {};\n", indent, variable_, i, element(bits_, *bit_of[i]));
      }
    }
    text += steps_text(*control_, text_of, variable_, indent);
    for (std::size_t i = 0; i < output_names_.size(); ++i)
      text += assigned(control_->outputs[i], output_names_[i], indent);
    return text;
  }

  std::string assigned(const FlowOutput& output, const std::string& name, const std::string& indent) const {
    if (output.is_register && circuit_.control() == nullptr) return "";  // its measurements wrote it
    std::string text;
    for (std::size_t i = 0; i < output.values.size(); ++i) {
      const FlowValue& value = output.values[i];
      std::string place = output.is_register ? fmt::format("[{}]", i) : "";
      if (!output.shape.empty()) {
        std::vector<std::size_t> indices(output.shape.size());
        std::size_t rest = i;
        for (std::size_t d = output.shape.size(); d-- > 0; rest /= output.shape[d]) indices[d] = rest % output.shape[d];
        place = fmt::format("[{}]", fmt::join(indices, ", "));
      }
      text += fmt::format("{}{}{} = {};\n", indent, name, place,
                          value.known ? constant_text(value.constant) : variable_ + std::to_string(value.variable));
    }
    return text;
  }

  static constexpr double kQuarter = 1.5707963267948966;  // pi / 2

  const Circuit& circuit_;
  GateDefinitions definitions_;
  const Control* const control_;  // of the whole, or of the classical end
  std::vector<Register> qubits_, bits_;
  std::vector<std::string> output_names_;
  std::string variable_;
  bool uses_u_ = false;
};

}  // namespace

std::string write_qasm3(const Circuit& circuit) { return Writer3(circuit).write(); }

}  // namespace qsim
