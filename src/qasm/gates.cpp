// Gate names, bodies and their expansion by an explicit stack.
#include "qasm/gates.h"

#include <algorithm>
#include <numeric>

#include "circuit/gate_table.h"

namespace qsim::qasm {
namespace {

// qelib1.inc of the paper (arXiv:1707.03429): these may not be defined anew.
constexpr std::string_view kPaperGates[] = {"u3",  "u2", "u1", "cx", "id", "x",  "y",  "z",   "h",   "s",   "sdg", "t",
                                            "tdg", "rx", "ry", "rz", "cz", "cy", "ch", "ccx", "crz", "cu1", "cu3"};
// What the file has gained since.
constexpr std::string_view kLaterGates[] = {"u0",  "u",  "p",   "sx",  "sxdg", "swap", "cswap", "crx",     "cry", "cp",
                                            "csx", "cu", "rxx", "rzz", "rccx", "rc3x", "c3x",   "c3sqrtx", "c4x"};

}  // namespace

GateBook::GateBook() {
  add_table_name("U", false);
  add_table_name("CX", false);
}

void GateBook::add_table_name(std::string_view name, bool replaceable) {
  const auto meaning = find_spelling(name);
  if (!meaning) throw Error("the gate table has no row for '" + std::string(name) + "' of qelib1.inc");
  const GateInfo& info = gate_info(meaning->gate);
  GateEntry entry;
  entry.in_table = true;
  entry.replaceable = replaceable;
  entry.gate = meaning->gate;
  entry.controls = static_cast<std::uint16_t>(meaning->controls);
  entry.parameters = static_cast<std::uint32_t>(info.params);
  entry.qubits = static_cast<std::uint32_t>(info.targets + meaning->controls);
  gates_.emplace(name, entry);
}

std::string_view GateBook::add_library() {
  if (has_library_) return {};
  for (const std::string_view name : kPaperGates) {
    if (gates_.contains(name)) return name;
  }
  has_library_ = true;
  for (const std::string_view name : kPaperGates) add_table_name(name, false);
  for (const std::string_view name : kLaterGates) add_table_name(name, true);
  return {};
}

bool GateBook::in_library(std::string_view name) {
  return std::ranges::count(kPaperGates, name) + std::ranges::count(kLaterGates, name) > 0;
}

const GateEntry* GateBook::find_further(std::string_view name) {
  if (!has_library_ || !find_further_gate(name)) return nullptr;
  add_table_name(name, true);
  return find(name);
}

const GateEntry* GateBook::find(std::string_view name) const {
  const auto found = gates_.find(name);
  return found == gates_.end() ? nullptr : &found->second;
}

void GateBook::offer_names(NearestName& nearest) const {
  for (const auto& [name, entry] : gates_) nearest.offer(name);
}

void GateBook::begin_body() {
  open_ = Definition{};
  open_.begin = open_.end = static_cast<std::uint32_t>(statements_.size());
  open_qubits_ = static_cast<std::uint32_t>(body_qubits_.size());
  open_angles_ = static_cast<std::uint32_t>(body_angles_.size());
  open_nodes_ = arena_.size();
}

void GateBook::discard_body() {
  statements_.resize(open_.begin);
  body_qubits_.resize(open_qubits_);
  body_angles_.resize(open_angles_);
  arena_.truncate(open_nodes_);
}

void GateBook::count(std::uint64_t operations, std::uint64_t steps) {
  open_.operations = saturating_add(open_.operations, operations);
  open_.steps = saturating_add(open_.steps, steps);
}

void GateBook::add_call(const GateEntry& entry, std::span<const std::uint32_t> qubits,
                        std::span<const ExpressionRange> angles) {
  BodyStatement statement;
  std::uint64_t work = 1 + qubits.size();
  for (const ExpressionRange& angle : angles) work += angle.end - angle.begin;
  if (entry.in_table) {
    statement.gate = entry.gate;
    statement.controls = entry.controls;
    count(1, work);
  } else {
    const Definition& callee = definition(entry);
    if (open_.opaque_name.empty()) open_.opaque_name = callee.opaque_name;
    // A gate that does nothing is not worth a statement; without it every statement yields an operation.
    if (callee.operations == 0) return;
    statement.kind = BodyKind::kCall;
    statement.callee = entry.definition;
    count(callee.operations, saturating_add(work, callee.steps));
  }
  statement.qubit_begin = static_cast<std::uint32_t>(body_qubits_.size());
  body_qubits_.insert(body_qubits_.end(), qubits.begin(), qubits.end());
  statement.qubit_end = static_cast<std::uint32_t>(body_qubits_.size());
  statement.angle_begin = static_cast<std::uint32_t>(body_angles_.size());
  body_angles_.insert(body_angles_.end(), angles.begin(), angles.end());
  statement.angle_end = static_cast<std::uint32_t>(body_angles_.size());
  statements_.push_back(statement);
}

void GateBook::add_plain(BodyKind kind, std::span<const std::uint32_t> qubits, std::uint32_t matrix) {
  BodyStatement statement;
  statement.kind = kind;
  statement.callee = matrix;
  statement.qubit_begin = static_cast<std::uint32_t>(body_qubits_.size());
  body_qubits_.insert(body_qubits_.end(), qubits.begin(), qubits.end());
  statement.qubit_end = static_cast<std::uint32_t>(body_qubits_.size());
  statements_.push_back(statement);
  count(1, 1 + qubits.size());
}

void GateBook::define(std::string_view name, std::uint32_t parameters, std::uint32_t qubits) {
  open_.end = static_cast<std::uint32_t>(statements_.size());
  open_.parameters = parameters;
  open_.qubits = qubits;
  GateEntry entry;
  entry.definition = static_cast<std::uint32_t>(definitions_.size());
  entry.parameters = parameters;
  entry.qubits = qubits;
  definitions_.push_back(open_);
  gates_[name] = entry;
}

void GateBook::define_opaque(std::string_view name, std::uint32_t parameters, std::uint32_t qubits) {
  begin_body();
  open_.opaque_name = name;
  define(name, parameters, qubits);
}

void GateBook::define_matrix(std::string_view name, const Matrix& matrix, std::uint32_t qubits) {
  begin_body();
  std::vector<std::uint32_t> all(qubits);
  std::iota(all.begin(), all.end(), 0u);
  add_plain(BodyKind::kMatrix, all, static_cast<std::uint32_t>(matrices_.size()));
  matrices_.push_back(&matrix);
  define(name, 0, qubits);
}

std::uint64_t GateBook::operations(const GateEntry& entry) const {
  return entry.in_table ? 1 : definition(entry).operations;
}

std::uint64_t GateBook::steps(const GateEntry& entry) const {
  return entry.in_table ? 1 + entry.qubits + entry.parameters : definition(entry).steps + entry.qubits;
}

void GateBook::apply(const GateEntry& entry, std::span<const Qubit> qubits, std::span<const double> angles,
                     Circuit& circuit) {
  if (entry.in_table) {
    circuit.add_gate(entry.gate, qubits.first(entry.controls), qubits.subspan(entry.controls), angles);
    return;
  }
  qubit_stack_.assign(qubits.begin(), qubits.end());
  angle_stack_.assign(angles.begin(), angles.end());
  expand(definition(entry), circuit);
}

// Pushes the statement's qubits and angles, seen from inside the application `frame`.
void GateBook::push_operands(const BodyStatement& statement, const Frame& frame) {
  for (std::uint32_t i = statement.qubit_begin; i < statement.qubit_end; ++i) {
    const Qubit qubit = qubit_stack_[frame.qubits + body_qubits_[i]];
    qubit_stack_.push_back(qubit);
  }
  const std::size_t angles_end = angle_stack_.size();
  for (std::uint32_t i = statement.angle_begin; i < statement.angle_end; ++i) {
    const std::span<const double> bound(angle_stack_.data() + frame.angles, angles_end - frame.angles);
    const double value = arena_.evaluate(body_angles_[i], bound);
    angle_stack_.push_back(value);
  }
}

void GateBook::expand(const Definition& definition, Circuit& circuit) {
  frames_.assign(1, Frame{definition.begin, definition.end, 0, 0});
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.next == frame.end) {
      qubit_stack_.resize(frame.qubits);
      angle_stack_.resize(frame.angles);
      frames_.pop_back();
      continue;
    }
    const BodyStatement& statement = statements_[frame.next++];
    const auto first_qubit = static_cast<std::uint32_t>(qubit_stack_.size());
    const auto first_angle = static_cast<std::uint32_t>(angle_stack_.size());
    push_operands(statement, frame);
    if (statement.kind == BodyKind::kCall) {
      const Definition& callee = definitions_[statement.callee];
      frames_.push_back({callee.begin, callee.end, first_qubit, first_angle});
      continue;
    }
    const std::span<const Qubit> qubits(qubit_stack_.data() + first_qubit, qubit_stack_.size() - first_qubit);
    const std::span<const double> angles(angle_stack_.data() + first_angle, angle_stack_.size() - first_angle);
    switch (statement.kind) {
      case BodyKind::kTableGate:
        circuit.add_gate(statement.gate, qubits.first(statement.controls), qubits.subspan(statement.controls), angles);
        break;
      case BodyKind::kBarrier:
        circuit.add_barrier(qubits);
        break;
      case BodyKind::kReset:
        circuit.add_reset(qubits[0]);
        break;
      case BodyKind::kMatrix:
        circuit.add_unitary(*matrices_[statement.callee], {}, qubits, false);
        break;
      case BodyKind::kCall:
        break;  // above
    }
    qubit_stack_.resize(first_qubit);
    angle_stack_.resize(first_angle);
  }
}

}  // namespace qsim::qasm
