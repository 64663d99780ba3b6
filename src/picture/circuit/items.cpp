#include "picture/circuit/items.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "qsim/error.h"
#include "qsim/gate.h"

namespace qsim::picture {
namespace {

std::string angle_label(const Circuit& circuit, const Operation& op, std::size_t number, const std::string& pi) {
  const double constant = circuit.params(op)[number];
  std::map<std::string, double> factors;
  for (const Circuit::OpenTerm& term : circuit.open_terms(op.param_begin + number)) {
    factors[circuit.parameters()[term.parameter]] += term.factor;
  }
  std::string text;
  for (const auto& [name, factor] : factors) {
    if (factor == 0) continue;
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    if (std::abs(factor) != 1) text += fmt::format("{:.4g}*", std::abs(factor));
    text += escape_text(name, kMostName);
  }
  if (text.empty()) return angle_text(constant, pi);
  if (constant == 0) return text;
  return text + (constant < 0 ? " - " : " + ") + angle_text(std::abs(constant), pi);
}

std::string name_of_gate(const Circuit& circuit, const Operation& op) {
  if (op.kind == OpKind::kUnitary) return "unitary";
  if (op.kind == OpKind::kPauliRotation) {
    std::string name = "R";
    for (const std::uint32_t letter : circuit.letters(op)) name += "?XYZ"[letter];
    return name;
  }
  std::string name(gate_spelling(op.gate, 0));
  if (name.empty()) name = gate_spelling(op.gate, op.controls);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  if (name.size() <= 2 && std::all_of(name.begin(), name.end(), is_letter)) {
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
  }
  return name;
}

/// "Rx(π/4)". A matrix has no angles.
std::string gate_label(const Circuit& circuit, const Operation& op, const std::string& pi) {
  std::string label = name_of_gate(circuit, op);
  if (op.kind == OpKind::kUnitary || circuit.params(op).empty()) return label;
  for (std::size_t i = 0; i < circuit.params(op).size(); ++i) {
    label += (i == 0 ? "(" : ",") + angle_label(circuit, op, i, pi);
  }
  return label + ")";
}

std::string condition_text(const Condition& condition) {
  std::string value = std::to_string(condition.value);
  if (!condition.high.empty()) {
    value.clear();
    for (const Index word : condition.high) value.insert(0, fmt::format("{:016x}", word));
    value += fmt::format("{:016x}", condition.value);
    value = "0x" + value.substr(std::min(value.find_first_not_of('0'), value.size() - 1));
  }
  return (condition.negated ? "!=" : "=") + value;
}

/// " =10" where bits are not 0 when the circuit begins.
std::string start_of(const Circuit& circuit, const Register& creg) {
  std::string bits;
  bool any = false;
  for (std::uint32_t i = creg.size; i-- > 0;) {
    any = any || circuit.initial(creg.first + i);
    if (bits.size() < kMostName) bits += circuit.initial(creg.first + i) ? '1' : '0';
  }
  return any ? " =" + bits + (creg.size > kMostName ? "..." : "") : "";
}

/// Turns operations into items.
class Items {
 public:
  Items(const Circuit& circuit, const std::string& pi) : circuit_(circuit), pi_(pi) {}

  void write(std::size_t begin, std::size_t end, const std::function<void(Item)>& take) const {
    const std::vector<Operation>& all = circuit_.operations();
    for (std::size_t i = begin; i < end;) {
      std::size_t flips_end = i;
      while (flips_end < end && is_flip(all[flips_end])) ++flips_end;
      const std::size_t zeros = flips_end < end ? flips_around(i, flips_end, end) : 0;
      for (; i + zeros < flips_end; ++i) give(all[i], 0, take);
      if (i == end) break;
      give(all[flips_end], zeros, take);
      i = flips_end + 1 + zeros;
    }
  }

 private:
  static bool is_flip(const Operation& op) {
    return op.kind == OpKind::kGate && op.gate == Gate::kX && op.controls == 0;
  }

  /// How many of the flips [begin, at) before operation `at` stand around its controls: each flips another control, and
  /// the same ones follow in the same order.
  std::size_t flips_around(std::size_t begin, std::size_t at, std::size_t end) const {
    const std::vector<Operation>& all = circuit_.operations();
    const Operation& op = all[at];
    if (op.controls == 0 || at + 1 >= end || !is_flip(all[at + 1])) return 0;
    const auto flipped = [&](std::size_t number) { return circuit_.targets(all[number])[0]; };
    const auto same = [&](std::size_t number) {
      const auto controls = circuit_.controls(op);
      return all[number].condition == op.condition &&
             std::find(controls.begin(), controls.end(), flipped(number)) != controls.end();
    };
    // The suffix begins with the flip that follows the operation; a gate has at most 2^16 controls, mostly few.
    const std::size_t least = at - std::min<std::size_t>(at - begin, op.controls);
    for (std::size_t first = at; first-- > least;) {
      if (!same(first)) return 0;
      if (flipped(first) != flipped(at + 1)) continue;
      const std::size_t count = at - first;
      if (at + count >= end) return 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (!is_flip(all[at + 1 + i]) || all[at + 1 + i].condition != op.condition) return 0;
        if (flipped(first + i) != flipped(at + 1 + i)) return 0;
        for (std::size_t j = 0; j < i; ++j) {
          if (flipped(first + j) == flipped(first + i)) return 0;
        }
      }
      return count;
    }
    return 0;
  }

  void add_targets(const Operation& op, Item& item) const {
    const std::span<const Qubit> targets = circuit_.targets(op);
    if (op.kind == OpKind::kBarrier || (op.kind == OpKind::kGate && op.gate == Gate::kSwap)) {
      const Mark mark = op.kind == OpKind::kBarrier ? Mark::kBarrier : Mark::kSwap;
      for (const Qubit target : targets) item.cells.push_back({target, mark, "", ""});
      return;
    }
    const std::string label = gate_label(circuit_, op, pi_);
    const bool is_not = op.kind == OpKind::kGate && op.gate == Gate::kX && op.controls > 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      std::string port = targets.size() > 1 ? std::to_string(i) : "";
      if (op.kind == OpKind::kPauliRotation && targets.size() > 1) port = "?XYZ"[circuit_.letters(op)[i]];
      item.cells.push_back({targets[i], is_not ? Mark::kNot : Mark::kBox, label, port});
    }
  }

  void add_measure(const Operation& op, Item& item) const {
    const Qubit qubit = circuit_.targets(op)[0];
    const Clbit clbit = circuit_.clbit(op);
    const std::vector<Register>& cregs = circuit_.cregs();
    const auto after = std::upper_bound(cregs.begin(), cregs.end(), clbit,
                                        [](Clbit bit, const Register& creg) { return bit < creg.first + creg.size; });
    item.cells.push_back({qubit, Mark::kMeasure, "", ""});
    const auto wire = circuit_.qubits() + static_cast<std::uint32_t>(after - cregs.begin());
    item.cells.push_back({wire, Mark::kBit, std::to_string(clbit - after->first), ""});
    item.classical_from = qubit;
  }

  void add_condition(const Operation& op, Item& item) const {
    const Condition& condition = circuit_.conditions()[static_cast<std::size_t>(op.condition)];
    const std::uint32_t wire = circuit_.qubits() + condition.creg;
    const std::string text = condition_text(condition);
    if (!item.classical_from) {
      item.classical_from = 0;
      for (const Cell& cell : item.cells) item.classical_from = std::max(*item.classical_from, cell.wire);
    }
    const auto there =
        std::find_if(item.cells.begin(), item.cells.end(), [&](const Cell& cell) { return cell.wire == wire; });
    there != item.cells.end() ? void(there->text += text) : item.cells.push_back({wire, Mark::kCondition, text, ""});
  }

  void give(const Operation& op, std::size_t zeros, const std::function<void(Item)>& take) const {
    Item item;
    const std::span<const Qubit> controls = circuit_.controls(op);
    for (const Qubit control : controls) item.cells.push_back({control, Mark::kControl, "", ""});
    const auto number = static_cast<std::size_t>(&op - circuit_.operations().data());
    for (std::size_t i = 0; i < zeros; ++i) {
      const Qubit zero = circuit_.targets(circuit_.operations()[number + 1 + i])[0];
      const auto at = static_cast<std::size_t>(std::find(controls.begin(), controls.end(), zero) - controls.begin());
      item.cells[at].mark = Mark::kControlOnZero;
    }
    if (op.kind == OpKind::kMeasure) {
      add_measure(op, item);
    } else if (op.kind == OpKind::kReset) {
      item.cells.push_back({circuit_.targets(op)[0], Mark::kReset, "|0>", ""});
    } else {
      add_targets(op, item);
    }
    if (item.cells.empty()) return;
    if (op.condition >= 0) add_condition(op, item);
    std::sort(item.cells.begin(), item.cells.end(), [](const Cell& a, const Cell& b) { return a.wire < b.wire; });
    take(std::move(item));
  }

  const Circuit& circuit_;
  const std::string& pi_;
};

}  // namespace

void too_large(const std::string& what) {
  throw UnsupportedError(what + ": a drawing has at most " + std::to_string(kMostPlaces) +
                         " places, columns times wires");
}

CircuitLayout empty_layout(const Circuit& circuit) {
  CircuitLayout layout;
  layout.qubits = circuit.qubits();
  if (circuit.qubits() + circuit.cregs().size() > kMostPlaces) too_large(std::to_string(circuit.qubits()) + " qubits");
  for (const Register& qreg : circuit.qregs()) {
    for (std::uint32_t i = 0; i < qreg.size; ++i) {
      layout.labels.push_back(escape_text(qreg.name, kMostName) + "[" + std::to_string(i) + "]");
    }
  }
  for (const Register& creg : circuit.cregs()) {
    layout.labels.push_back((creg.name.empty() ? "hidden" : escape_text(creg.name, kMostName)) + "/" +
                            std::to_string(creg.size) + start_of(circuit, creg));
  }
  return layout;
}

void for_each_item(const Circuit& circuit, std::size_t begin, std::size_t end, const std::string& pi,
                   const std::function<void(Item)>& take) {
  Items(circuit, pi).write(begin, end, take);
}

void Columns::place(Item item) {
  const auto first = free_.begin() + item.top(), last = free_.begin() + item.bottom() + 1;
  const std::size_t column = *std::max_element(first, last);
  std::fill(first, last, column + 1);
  if (column == layout_.columns.size()) {
    layout_.columns.emplace_back();
    if (layout_.columns.size() * free_.size() > kMostPlaces) {
      too_large(std::to_string(free_.size()) + " wires and more than " + std::to_string(column) + " columns");
    }
  }
  layout_.columns[column].push_back(std::move(item));
}

}  // namespace qsim::picture
