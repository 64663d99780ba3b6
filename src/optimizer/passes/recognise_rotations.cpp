// CX ladders: a CX moves back through rotations about Z on its target, whose parities grow by its control, until it
// meets its twin and both vanish. Nested ladders shrink from the inside.
#include <algorithm>
#include <bit>
#include <optional>

#include "base/bits.h"
#include "circuit/gate_table.h"
#include "optimizer/operations.h"
#include "qsim/circuit.h"

namespace qsim {
namespace {

constexpr int kLookBack = 48;  // operations on a wire that a CX moves past at most: keeps the pass linear

// One operation of the circuit, as this pass sees it.
struct Item {
  enum class Kind : std::uint8_t { kOther, kDiagonal, kCx, kRotation } kind = Kind::kOther;
  bool gone = false, changed = false;
  Index qubits = 0;
  Qubit control = 0, target = 0;  // kCx
  double angle = 0;               // kRotation: exp(-i angle/2 Z..Z) exp(i phase)
  double phase = 0;
};

class Recogniser {
 public:
  explicit Recogniser(const Circuit& circuit) : circuit_(circuit), wire_(circuit.qubits()) {}

  bool run(Rewritten& result) {
    const auto& operations = circuit_.operations();
    items_.reserve(operations.size());
    bool found = false;
    for (const Operation& op : operations) {
      items_.push_back(read(op));
      const auto i = static_cast<std::uint32_t>(items_.size() - 1);
      const Item& item = items_.back();
      if (item.kind == Item::Kind::kCx) {
        if (const auto twin = find_twin(item)) {
          cancel(*twin, i);
          found = true;
          continue;
        }
      }
      for (Index rest = item.qubits; rest != 0; rest &= rest - 1)
        wire_[static_cast<std::size_t>(std::countr_zero(rest))].push_back(i);
    }
    if (found) build(result);
    return found;
  }

 private:
  Item read(const Operation& op) const {
    Item item;
    if (skipped(op)) {
      item.gone = true;
      return item;
    }
    for_each_qubit(circuit_, op, [&](Qubit q) { item.qubits |= bit_mask(q); });
    if (op.kind == OpKind::kPauliRotation) return read_rotation(op, item);
    if (const auto matrix = single_qubit_matrix(circuit_, op); matrix && is_diagonal(*matrix)) {
      const double zero = std::arg((*matrix)[0]), one = std::arg((*matrix)[3]);
      item.kind = Item::Kind::kRotation;
      item.angle = one - zero;
      item.phase = 0.5 * (one + zero);
      const Complex made[] = {std::polar(1.0, item.phase - 0.5 * item.angle),
                              std::polar(1.0, item.phase + 0.5 * item.angle)};
      const Complex entries[] = {(*matrix)[0], (*matrix)[3]};
      if (recomposes(made, entries)) return item;
      item.kind = Item::Kind::kDiagonal;
    }
    if (op.kind != OpKind::kGate) return item;
    if (is_cx(op)) {
      item.kind = Item::Kind::kCx;
      item.control = circuit_.controls(op)[0];
      item.target = circuit_.targets(op)[0];
    } else if (op.controls == 0 && op.gate == Gate::kRzz) {
      item.kind = Item::Kind::kRotation;
      item.angle = circuit_.params(op)[0];
    } else if (gate_info(op.gate).diagonal) {
      item.kind = Item::Kind::kDiagonal;
    }
    return item;
  }

  Item read_rotation(const Operation& op, Item item) const {
    const auto letters = circuit_.letters(op);
    if (op.controls != 0 || std::any_of(letters.begin(), letters.end(), [](std::uint32_t l) { return l != 3; }))
      return item;
    item.kind = Item::Kind::kRotation;
    item.angle = circuit_.params(op)[0];
    return item;
  }

  bool diagonal_on(const Item& item, Qubit q) const {
    switch (item.kind) {
      case Item::Kind::kRotation:
      case Item::Kind::kDiagonal:
        return true;
      case Item::Kind::kCx:
        return item.control == q;
      case Item::Kind::kOther:
        return false;
    }
    return false;
  }

  // The earlier equal CX that `cx` reaches through rotations and other CX on its target, with nothing but diagonals on
  // its control in between.
  std::optional<std::uint32_t> find_twin(const Item& cx) const {
    const auto& line = wire_[cx.target];
    int steps = 0;
    for (std::size_t at = line.size(); at-- > 0 && steps < kLookBack; ++steps) {
      const Item& item = items_[line[at]];
      if (item.kind == Item::Kind::kRotation) continue;
      if (item.kind != Item::Kind::kCx || item.target != cx.target) return std::nullopt;
      if (item.control != cx.control) continue;
      return control_is_free(cx.control, line[at]) ? std::optional(line[at]) : std::nullopt;
    }
    return std::nullopt;
  }

  // `since` is an item on the control's wire.
  bool control_is_free(Qubit control, std::uint32_t since) const {
    const auto& line = wire_[control];
    std::size_t at = line.size();
    for (int steps = 0; steps < kLookBack; ++steps) {
      if (line[--at] <= since) return true;
      if (!diagonal_on(items_[line[at]], control)) return false;
    }
    return false;
  }

  void cancel(std::uint32_t first, std::uint32_t second) {
    const Qubit control = items_[first].control, target = items_[first].target;
    items_[first].gone = items_[second].gone = true;
    auto& line = wire_[target];
    for (std::size_t at = line.size(); line[--at] > first;) {
      Item& item = items_[line[at]];
      if (item.kind != Item::Kind::kRotation) continue;
      item.qubits ^= bit_mask(control);
      item.changed = true;
      auto& others = wire_[control];
      const auto place = std::lower_bound(others.begin(), others.end(), line[at]);
      if (place != others.end() && *place == line[at]) {
        others.erase(place);
      } else {
        others.insert(place, line[at]);
      }
    }
    for (const Qubit q : {control, target}) wire_[q].erase(std::lower_bound(wire_[q].begin(), wire_[q].end(), first));
  }

  void build(Rewritten& result) const {
    Rewriter rewriter(circuit_, result);
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.gone) {
        if (!skipped(circuit_.operations()[i])) rewriter.remove(i, "recognised as rotations");
      } else if (item.changed) {
        const Operation& op = circuit_.operations()[i];
        append_rotation(item, is_open(circuit_, op) ? whole_angle(circuit_, op) : item.angle, rewriter.append_for(i));
        rewriter.count_here(i);
      } else {
        rewriter.copy(i);
      }
    }
  }

  static void append_rotation(const Item& item, const Angle& angle, Circuit& circuit) {
    std::vector<Qubit> targets;
    for (Index rest = item.qubits; rest != 0; rest &= rest - 1)
      targets.push_back(static_cast<Qubit>(std::countr_zero(rest)));
    if (item.phase != 0) circuit.add_pauli_rotation(-2 * item.phase, "", {});
    circuit.add_pauli_rotation(angle, std::string(targets.size(), 'Z'), targets);
  }

  const Circuit& circuit_;
  std::vector<Item> items_;
  std::vector<std::vector<std::uint32_t>> wire_;  // items on each qubit, in order, without those that are gone
};

}  // namespace

bool recognise_rotations(const Circuit& circuit, Rewritten& result) { return Recogniser(circuit).run(result); }

}  // namespace qsim
