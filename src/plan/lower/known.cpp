// Follows the start state gate by gate for as long as it is a product of single wires and the global wires' group.
#include "plan/lower/known.h"

#include <algorithm>
#include <bit>

#include "base/bits.h"
#include "base/numbers/phase.h"
#include "plan/plan.h"

namespace qsim {
namespace {

class Absorber {
 public:
  Absorber(Lowered& lowered, std::span<const Qubit> global_wires)
      : lowered_(lowered), start_(plain_start(lowered, global_wires.size())), place_(lowered.qubits) {
    for (std::size_t j = 0; j < global_wires.size(); ++j) {
      group_ |= bit_mask(global_wires[j]);
      place_[global_wires[j]] = static_cast<Bit>(j);
    }
    all_global_ = group_;
    product_ = (bit_mask(lowered.qubits) - 1) & ~group_;
    known_ = product_ | group_;
  }

  KnownStart run() {
    // In place: what stays is never more than what was.
    std::size_t kept = 0;
    for (LoweredOp& op : lowered_.ops) {
      const char* reason = absorb(op);
      if (reason != nullptr) {
        lowered_.remove(op, reason);
        continue;
      }
      if (op.form == Form::kPhases) {
        op.data_count = static_cast<std::uint32_t>(terms_.size());
        std::ranges::copy(terms_, lowered_.phases.begin() + op.data_begin);
      }
      set_basis_masks(op, op.form == Form::kMatrix ? lowered_.matrix(op) : std::span<const Complex>(), terms_);
      product_ &= ~op.support;
      group_ &= ~op.support;
      known_ &= ~op.support;
      lowered_.ops[kept++] = op;
    }
    lowered_.ops.resize(kept);
    for (Complex& entry : start_.global_start) entry *= scalar_;
    for (Qubit wire = 0; wire < lowered_.qubits; ++wire) {
      const bool zero = start_.factor[wire] == std::array<Complex, 2>{Complex(1), Complex(0)};
      if (zero && (all_global_ >> wire & 1) == 0) start_.zero_wires |= bit_mask(wire);
    }
    return std::move(start_);
  }

 private:
  // Returns why the operation is not needed, or null with `op` simplified and `terms_` its phase terms.
  const char* absorb(LoweredOp& op) {
    terms_.clear();
    if (is_open(op)) {  // the timeline takes it into a birth
      terms_.assign(lowered_.terms(op).begin(), lowered_.terms(op).end());
      return nullptr;
    }
    const Index known_controls = op.control_mask & known_;
    if ((op.control_value & known_controls) != (ones_ & known_controls)) return "control never met";
    op.control_mask &= ~known_controls;
    op.control_value &= ~known_controls;
    if (op.form == Form::kPhases) return absorb_phases(op);
    const Index targets = op.target_mask();
    if (op.control_mask == 0 && op.target_count == 1 && (targets & product_) != 0) {
      apply_to_wire(op);
      return "first write";
    }
    if (((targets | op.control_mask) & ~group_) == 0) {
      apply_to_group(op);
      return "first write";
    }
    return nullptr;
  }

  bool is_open(const LoweredOp& op) const {
    return op.form == Form::kPhases &&
           std::ranges::any_of(lowered_.terms(op), [](const PhaseTerm& term) { return term.open != 0; });
  }

  const char* absorb_phases(const LoweredOp& op) {
    const auto terms = lowered_.terms(op);
    if (op.control_mask != 0) {
      terms_.assign(terms.begin(), terms.end());
      return nullptr;
    }
    for (PhaseTerm term : terms) {
      const Index ones = term.mask & known_ & ones_, zeros = term.mask & known_ & ~ones_;
      if (term.parity) {
        if (popcount(ones) % 2 != 0) {
          scalar_ *= phase_by(term.angle);
          term.angle = -term.angle;
        }
      } else if (zeros != 0) {
        continue;
      }
      term.mask &= ~known_;
      if (term.mask == 0) {
        if (!term.parity) scalar_ *= phase_by(term.angle);
      } else if (std::has_single_bit(term.mask) && (term.mask & product_) != 0) {
        const auto wire = static_cast<Qubit>(std::countr_zero(term.mask));
        start_.factor[wire][1] *= phase_by(term.angle);
      } else if ((term.mask & ~group_) == 0) {
        multiply_group(term);
      } else {
        terms_.push_back(term);
      }
    }
    return terms_.empty() ? "known state" : nullptr;
  }

  void apply_to_wire(const LoweredOp& op) {
    const Qubit wire = op.targets[0];
    auto& factor = start_.factor[wire];
    if (op.form == Form::kFlip) {
      std::swap(factor[0], factor[1]);
    } else {
      const auto m = lowered_.matrix(op);
      factor = {m[0] * factor[0] + m[1] * factor[1], m[2] * factor[0] + m[3] * factor[1]};
    }
    set_known(wire, factor[1] == Complex(0), factor[0] == Complex(0));
  }

  void set_known(Qubit wire, bool zero, bool one) {
    known_ = zero || one ? known_ | bit_mask(wire) : known_ & ~bit_mask(wire);
    ones_ = one ? ones_ | bit_mask(wire) : ones_ & ~bit_mask(wire);
  }

  Index to_group(Index wires) const {
    Index value = 0;
    for (; wires != 0; wires &= wires - 1) value |= bit_mask(place_[static_cast<std::size_t>(std::countr_zero(wires))]);
    return value;
  }

  void multiply_group(const PhaseTerm& term) {
    const Index mask = to_group(term.mask);
    for (Index value = 0; value < start_.global_start.size(); ++value) {
      const bool applies = term.parity ? popcount(value & mask) % 2 != 0 : (value & mask) == mask;
      if (applies) start_.global_start[value] *= phase_by(term.angle);
    }
  }

  void apply_to_group(const LoweredOp& op) {
    const Index mask = to_group(op.control_mask), wanted = to_group(op.control_value);
    const Index targets = to_group(op.target_mask());
    const std::size_t order = std::size_t{1} << op.target_count;
    std::vector<Index> offset(order, 0);
    for (std::size_t i = 0; i < order; ++i) {
      for (std::size_t j = 0; j < op.target_count; ++j) {
        if (i >> j & 1) offset[i] |= bit_mask(place_[op.targets[j]]);
      }
    }
    auto& state = start_.global_start;
    std::vector<Complex> in(order);
    for (Index base = 0; base < state.size(); ++base) {
      if ((base & targets) != 0 || (base & mask) != wanted) continue;
      for (std::size_t i = 0; i < order; ++i) in[i] = state[base | offset[i]];
      for (std::size_t i = 0; i < order; ++i) {
        Complex sum = 0;
        if (op.form == Form::kFlip) {
          sum = in[i ^ 1];
        } else {
          const auto matrix = lowered_.matrix(op);
          for (std::size_t j = 0; j < order; ++j) sum += matrix[i * order + j] * in[j];
        }
        state[base | offset[i]] = sum;
      }
    }
    for (std::size_t j = 0; j < op.target_count; ++j) refresh_group_wire(op.targets[j]);
  }

  void refresh_group_wire(Qubit wire) {
    bool zero = true, one = true;
    for (Index value = 0; value < start_.global_start.size(); ++value) {
      if (start_.global_start[value] == Complex(0)) continue;
      (value >> place_[wire] & 1 ? zero : one) = false;
    }
    set_known(wire, zero, one);
  }

  Lowered& lowered_;
  KnownStart start_;
  std::vector<Bit> place_;  // of global wires in global_start's index
  Index product_ = 0;       // local wires that are still alone
  Index group_ = 0;         // global wires that are entangled with each other at most
  Index all_global_ = 0;
  Index known_ = 0, ones_ = 0;  // wires in a basis state, and those of them that are 1
  Complex scalar_{1, 0};
  std::vector<PhaseTerm> terms_;
};

}  // namespace

KnownStart plain_start(const Lowered& lowered, std::size_t global_wires) {
  KnownStart start;
  start.factor.assign(lowered.qubits, {Complex(1), Complex(0)});
  start.global_start.assign(std::size_t{1} << global_wires, Complex(0));
  start.global_start[0] = 1;
  return start;
}

KnownStart absorb_known_start(Lowered& lowered, std::span<const Qubit> global_wires) {
  return Absorber(lowered, global_wires).run();
}

}  // namespace qsim
