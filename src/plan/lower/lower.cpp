// Lowering of every kind of gate to matrices, flips and phases over wires.
#include "plan/lower/lower.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/bits.h"
#include "base/layout.h"
#include "optimizer/operations.h"
#include "plan/lower/basis_change.h"
#include "plan/matrix_forms.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using std::numbers::pi;

class Lowerer {
 public:
  explicit Lowerer(const Circuit& circuit) : circuit_(circuit) {
    result_.qubits = circuit.qubits();
    result_.wire_of.resize(circuit.qubits());
    for (Qubit q = 0; q < circuit.qubits(); ++q) result_.wire_of[q] = q;
    result_.ops.reserve(circuit.operations().size());
  }

  Lowered run() {
    for (source_ = 0; source_ < circuit_.operations().size(); ++source_) {
      const Operation& op = circuit_.operations()[source_];
      if (op.kind == OpKind::kBarrier || op.kind == OpKind::kMeasure) continue;
      ++result_.gates;
      read_operands(op);
      if (op.kind == OpKind::kPauliRotation) {
        lower_rotation(op);
      } else if (is_open(circuit_, op)) {
        lower_open_phase(op);
      } else if (op.kind == OpKind::kGate && op.gate == Gate::kSwap) {
        lower_swap();
      } else if (op.kind == OpKind::kGate && op.gate == Gate::kRzz) {
        lower_parity(bit_mask(wires_[0]) | bit_mask(wires_[1]), circuit_.params(op)[0]);
      } else if (op.kind == OpKind::kGate && op.gate == Gate::kX) {
        emit_flip(wires_[0], controls_, controls_, 1);
      } else {
        lower_matrix(op);
      }
    }
    return std::move(result_);
  }

 private:
  void read_operands(const Operation& op) {
    controls_ = 0;
    for (const Qubit q : circuit_.controls(op)) controls_ |= bit_mask(q);
    wires_.clear();
    for (const Qubit q : circuit_.targets(op)) wires_.push_back(static_cast<Bit>(q));
  }

  void lower_swap() {
    const Index a = bit_mask(wires_[0]), b = bit_mask(wires_[1]);
    emit_flip(wires_[0], b, b, 0);
    emit_flip(wires_[1], controls_ | a, controls_ | a, 1);
    emit_flip(wires_[0], b, b, 0);
  }

  void lower_matrix(const Operation& op) {
    if (wires_.size() > kMaxMatrixTargets) {
      throw UnsupportedError("a matrix on " + std::to_string(wires_.size()) +
                                 " qubits is not supported (at most 6); split it into smaller gates",
                             {"", op.line, 0});
    }
    const Matrix matrix = circuit_.matrix(op);
    if (auto angles = diagonal_angles(matrix)) {
      const auto terms = phase_terms(std::move(*angles), wires_, controls_);
      return terms.empty() ? remove("identity") : emit_phases(terms, 0, 1);
    }
    const bool alone = controls_ == 0 && wires_.size() == 1;  // may merge with its neighbours on the wire
    if (!alone) {
      if (const auto monomial = monomial_form(matrix); monomial && lower_monomial(*monomial)) return;
    }
    emit_matrix(matrix, wires_, controls_, 1);
  }

  // A phased flip needs no matrix.
  bool lower_monomial(const Monomial& form) {
    const auto flip = flip_form(form.row);
    if (!flip) return false;
    const auto terms = phase_terms(form.angle, wires_, controls_);
    if (!terms.empty()) emit_phases(terms, 0, 0);
    Index mask = controls_, value = controls_;
    for (std::size_t j = 0; j < wires_.size(); ++j) {
      if (flip->control_mask >> j & 1) mask |= bit_mask(wires_[j]);
      if (flip->control_value >> j & 1) value |= bit_mask(wires_[j]);
    }
    emit_flip(wires_[static_cast<std::size_t>(flip->target)], mask, value, 1);
    return true;
  }

  // The angle of an operation that has one.
  OpenAngle angle_of(const Operation& op) {
    const double value = circuit_.params(op)[0];
    const auto terms = circuit_.open_terms(op.param_begin);
    if (terms.empty()) return value;
    return result_.open.multiple(value, terms[0].parameter, terms[0].factor);
  }

  // The one gate that is open beside rotations is a phase.
  void lower_open_phase(const Operation& op) {
    if (op.gate != Gate::kPhase) throw Error("an open gate is no rotation about Z and no phase");
    emit_phases(std::vector<PhaseTerm>{{controls_ | bit_mask(wires_[0]), false, angle_of(op)}}, 0, 1);
  }

  // The same for an open angle; under controls parities stay what they are.
  void lower_open_parity(Index mask, const OpenAngle& angle) {
    const bool single = std::has_single_bit(mask);
    const std::vector<PhaseTerm> terms{{0, false, result_.open.scaled(angle, -0.5)}, {mask, !single, angle}};
    emit_phases(terms, controls_, 1);
  }

  // exp(-i angle/2 Z...Z) = exp(-i angle/2) exp(i angle parity).
  void lower_parity(Index mask, double angle) {
    std::vector<PhaseTerm> terms;
    const double global = wrap_angle(-0.5 * angle);
    const bool expand = controls_ != 0 && popcount(mask) <= 3;
    if (global != 0) terms.push_back({expand ? controls_ : 0, false, global});
    if (expand) {
      const auto more = expand_parity(mask, angle, controls_);
      terms.insert(terms.end(), more.begin(), more.end());
    } else if (const double wrapped = wrap_angle(angle); wrapped != 0) {
      const bool single = std::has_single_bit(mask);
      terms.push_back({mask, !single, wrapped});
    }
    terms.empty() ? remove("identity") : emit_phases(terms, expand ? 0 : controls_, 1);
  }

  void lower_rotation(const Operation& op) {
    const auto letters = circuit_.letters(op);
    const OpenAngle whole = angle_of(op);
    const double angle = whole.value;
    Index mask = 0;
    std::vector<std::size_t> turned;
    for (std::size_t j = 0; j < wires_.size(); ++j) {
      mask |= bit_mask(wires_[j]);
      if (letters[j] != 3) turned.push_back(j);
    }
    if (turned.empty()) {
      if (mask == 0) return lower_scalar(whole);
      if (whole.sum != 0) return lower_open_parity(mask, whole);
      return lower_parity(mask, angle);
    }
    if (is_one_matrix(letters)) {
      if (std::abs(wrap_angle(0.5 * angle)) == 0) return remove("identity");
      return emit_matrix(circuit_.matrix(op), wires_, controls_, 1);
    }
    for (const std::size_t j : turned) emit_turn(letters[j] == 1 ? kHadamard2 : kFromY, wires_[j]);
    lower_parity(mask, angle);
    for (const std::size_t j : turned) emit_turn(letters[j] == 1 ? kHadamard2 : kToY, wires_[j]);
  }

  void lower_scalar(const OpenAngle& angle) {
    OpenAngle global = result_.open.scaled(angle, -0.5);
    global.value = wrap_angle(global.value);
    if (global.value == 0) return remove("identity");
    emit_phases(std::vector<PhaseTerm>{{controls_, false, global}}, 0, 1);
  }

  void emit_turn(std::span<const Complex> matrix, Bit wire) { emit_matrix(matrix, std::span(&wire, 1), 0, 0); }

  void emit_matrix(std::span<const Complex> matrix, std::span<const Bit> wires, Index controls, std::uint32_t gates) {
    LoweredOp op = begin(Form::kMatrix, result_.matrices.size(), matrix.size(), gates);
    op.target_count = static_cast<std::uint8_t>(wires.size());
    std::copy(wires.begin(), wires.end(), op.targets.begin());
    op.control_mask = op.control_value = controls;
    result_.matrices.insert(result_.matrices.end(), matrix.begin(), matrix.end());
    // A matrix alone on a wire joins others, and their product is looked at.
    if (controls != 0) drop_dust(std::span(result_.matrices).last(matrix.size()));
    set_basis_masks(op, matrix, {});
    result_.ops.push_back(op);
  }

  void emit_flip(Bit wire, Index control_mask, Index control_value, std::uint32_t gates) {
    LoweredOp op = begin(Form::kFlip, 0, 0, gates);
    op.act_on(bit_mask(wire));
    op.control_mask = control_mask;
    op.control_value = control_value;
    set_basis_masks(op, {}, {});
    result_.ops.push_back(op);
  }

  void emit_phases(std::span<const PhaseTerm> terms, Index controls, std::uint32_t gates) {
    LoweredOp op = begin(Form::kPhases, result_.phases.size(), terms.size(), gates);
    op.control_mask = op.control_value = controls;
    result_.phases.insert(result_.phases.end(), terms.begin(), terms.end());
    set_basis_masks(op, {}, terms);
    result_.ops.push_back(op);
  }

  LoweredOp begin(Form form, std::size_t data_begin, std::size_t data_count, std::uint32_t gates) const {
    if (data_begin + data_count > std::numeric_limits<std::uint32_t>::max()) {
      throw UnsupportedError("the circuit's matrices and phases have more than 2^32 entries; split the circuit");
    }
    LoweredOp op;
    op.form = form;
    op.data_begin = static_cast<std::uint32_t>(data_begin);
    op.data_count = static_cast<std::uint32_t>(data_count);
    op.gates = gates;
    op.source = static_cast<std::uint32_t>(source_);
    return op;
  }

  void remove(const char* reason) { result_.removed.push_back({static_cast<std::uint32_t>(source_), reason}); }

  const Circuit& circuit_;
  Lowered result_;
  std::size_t source_ = 0;
  Index controls_ = 0;
  std::vector<Bit> wires_;  // of the operation's targets
};

// Sets bit `target` of the three masks for which matrix bit j is block-diagonal.
void set_matrix_masks(LoweredOp& op, std::size_t j, std::span<const Complex> matrix) {
  const std::size_t order = std::size_t{1} << op.target_count, bit = std::size_t{1} << j;
  bool z = true, x = true, y = true;
  for (std::size_t row = 0; row < order && (z || x || y); ++row) {
    for (std::size_t column = 0; column < order; ++column) {
      const Complex here = matrix[row * order + column], there = matrix[(row ^ bit) * order + (column ^ bit)];
      const bool same = ((row ^ column) & bit) == 0;
      z = z && (same || is_tiny(here));
      x = x && is_tiny(here - there);
      y = y && is_tiny(here - (same ? there : -there));
    }
  }
  const Index wire = bit_mask(op.targets[j]);
  if (z) op.z_mask |= wire;
  if (x) op.x_mask |= wire;
  if (y) op.y_mask |= wire;
}

}  // namespace

bool is_one_matrix(std::span<const std::uint32_t> letters) {
  constexpr std::uint32_t kZ = 3;
  return letters.size() == 1 || (letters.size() == 2 && letters[0] != kZ && letters[1] != kZ);
}

Lowered lower(const Circuit& circuit) {
  if (circuit.qubits() > static_cast<std::uint32_t>(kMaxQubits)) {
    throw CapacityError(std::to_string(circuit.qubits()) + " qubits: more than " + std::to_string(kMaxQubits) +
                            " cannot be addressed; use fewer qubits",
                        0, 0);
  }
  if (!circuit.measurements_are_terminal()) {
    throw UnsupportedError(
        "a plan stands for a unitary circuit, but this one has a reset, a condition or a "
        "measurement before its end; plan it with plan_circuit");
  }
  return Lowerer(circuit).run();
}

void set_basis_masks(LoweredOp& op, std::span<const Complex> matrix, std::span<const PhaseTerm> terms) {
  op.z_mask = op.control_mask;
  op.x_mask = op.y_mask = 0;
  op.support = op.control_mask | op.target_mask();
  switch (op.form) {
    case Form::kMatrix:
      for (std::size_t j = 0; j < op.target_count; ++j) set_matrix_masks(op, j, matrix);
      break;
    case Form::kFlip:
      op.x_mask = bit_mask(op.targets[0]);
      break;
    case Form::kPhases:
      for (const PhaseTerm& term : terms) op.z_mask |= term.mask;
      op.support = op.z_mask;
      break;
  }
}

Index map_mask(Index wires, const Layout& layout) {
  Index bits = 0;
  for (; wires != 0; wires &= wires - 1)
    bits |= bit_mask(layout.bit_of[static_cast<std::size_t>(std::countr_zero(wires))]);
  return bits;
}

void append_to_sweep(Sweep& sweep, const Lowered& lowered, const LoweredOp& op, const Layout& layout) {
  PlanOp out = op;
  for (std::size_t j = 0; j < op.target_count; ++j) out.targets[j] = layout.bit_of[op.targets[j]];
  out.control_mask = map_mask(op.control_mask, layout);
  out.control_value = map_mask(op.control_value, layout);
  if (op.form == Form::kMatrix) {
    out.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    const auto matrix = lowered.matrix(op);
    sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
  } else if (op.form == Form::kPhases) {
    out.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
    for (PhaseTerm term : lowered.terms(op)) {
      term.mask = map_mask(term.mask, layout);
      sweep.phases.push_back(term);
    }
  }
  sweep.ops.push_back(out);
}

std::vector<Qubit> wires_by_first_use(const Lowered& lowered) {
  std::vector<std::size_t> use(lowered.qubits, lowered.ops.size());
  for (std::size_t i = lowered.ops.size(); i-- > 0;) {
    for_each_bit(lowered.ops[i].target_mask(), [&](unsigned wire) { use[wire] = i; });
  }
  std::vector<Qubit> order(lowered.qubits);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](Qubit a, Qubit b) { return use[a] < use[b]; });
  return order;
}

Layout qubit_layout(const Lowered& lowered, const Layout& wire_layout) {
  Layout layout;
  layout.bit_of.reserve(lowered.wire_of.size());
  for (const Qubit wire : lowered.wire_of) layout.bit_of.push_back(wire_layout.bit_of[wire]);
  return layout;
}

}  // namespace qsim
