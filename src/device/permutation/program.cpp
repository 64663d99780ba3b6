#include "device/permutation/program.h"

#include <string>
#include <utility>

#include "base/bits.h"
#include "base/numbers/phase.h"
#include "optimizer/sums/path_sum.h"
#include "plan/sixteenths.h"
#include "qsim/error.h"

namespace qsim {
namespace {

class Writer {
 public:
  Writer(const Sweep& sweep, std::uint32_t local_bits) : sweep_(sweep) {
    program_.bundle = sweep.bundle;
    program_.unborn = sweep.unborn;
    program_.fixed = low_mask(local_bits) & ~sweep.unborn;
    for (const Birth& birth : sweep.births) program_.fixed |= bit_mask(birth.bit);
    program_.fixed &= low_mask(local_bits) & ~program_.bundle;
    program_.above = sweep.above;
  }

  PermutationProgram run() {
    program_.phase = phase_of_all(sweep_);
    add_rows();
    for (auto op = sweep_.ops.rbegin(); op != sweep_.ops.rend(); ++op) {
      if (op->form == Form::kFlip) {
        add(row_of_[op->targets[0]], PermutationStep::kApplies, op->control_mask, op->control_value);
      } else {
        for (const PhaseTerm& term : terms_of(sweep_, *op)) add_phase(*op, term);
      }
    }
    return std::move(program_);
  }

 private:
  void add_rows() {
    Index targets = 0, others = 0;
    for (const PlanOp& op : sweep_.ops) {
      others |= op.control_mask;
      if (op.form == Form::kFlip) targets |= bit_mask(op.targets[0]);
      for (const PhaseTerm& term : terms_of(sweep_, op)) others |= term.mask;
    }
    const auto add_row = [&](unsigned bit) {
      row_of_[bit] = static_cast<std::uint32_t>(program_.bits.size());
      program_.bits.push_back(static_cast<std::uint8_t>(bit));
    };
    for_each_bit(targets, add_row);
    program_.targets = static_cast<std::uint32_t>(program_.bits.size());
    for_each_bit(others & ~targets, add_row);
  }

  /// The steps of what is done where the bits of `mask` are `value`.
  void add(std::uint32_t target, std::uint32_t kind, Index mask, Index value) {
    const auto ones = static_cast<std::uint32_t>(program_.bits.size());
    do {
      std::uint32_t row[2] = {ones, ones};
      bool inverted[2] = {};
      for (int i = 0; i < 2 && mask != 0; ++i, mask &= mask - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(mask));
        row[i] = row_of_[bit];
        inverted[i] = !test_bit(value, bit);
      }
      program_.steps.push_back(
          PermutationStep::packed(target, mask == 0 ? kind : 0, row[0], inverted[0], row[1], inverted[1]));
    } while (mask != 0);
  }

  void add_phase(const PlanOp& op, const PhaseTerm& term) {
    if (is_of_all(op, term)) return;
    constexpr std::uint32_t kKind = PermutationStep::kApplies | PermutationStep::kPhase;
    const std::uint32_t sixteenths = sixteenths_of(term.angle).value_or(0);
    if (!term.parity) {
      program_.phases = true;
      if (!op.may_meet(term.mask)) return;
      return add(sixteenths, kKind, term.mask | op.control_mask, term.mask | op.control_value);
    }
    // The parity of what the controls leave open is put in the last of these bits, and taken out again.
    const bool odd = odd_parity(term.mask & op.control_value);
    const Index open = term.mask & ~op.control_mask;
    if (open == 0 && !odd) return;
    program_.phases = true;
    const Index last = open & (~open + 1);
    const auto together = [&] {
      for_each_bit(open & ~last, [&](unsigned bit) {
        add(row_of_[std::countr_zero(last)], PermutationStep::kApplies, bit_mask(bit), bit_mask(bit));
      });
    };
    together();
    add(sixteenths, kKind, last | op.control_mask, (odd ? 0 : last) | op.control_value);
    together();
  }

  const Sweep& sweep_;
  PermutationProgram program_;
  std::uint32_t row_of_[64] = {};
};

}  // namespace

void require_beside_state(std::uint64_t needed, std::uint64_t there) {
  if (needed <= there) return;
  throw CapacityError("a sweep that permutes needs " + std::to_string(needed) +
                          " bytes beside the state, the pool has " + std::to_string(there),
                      needed, there);
}

Complex phase_of_all(const Sweep& sweep) {
  std::uint64_t turns = 0;
  for (const PlanOp& op : sweep.ops) {
    for (const PhaseTerm& term : terms_of(sweep, op)) turns += is_of_all(op, term) ? turns_of(term.angle) : 0;
  }
  return phase_by(angle_of_turns(turns));
}

PermutationProgram permutation_program(const Sweep& sweep, std::uint32_t local_bits) {
  return Writer(sweep, local_bits).run();
}

}  // namespace qsim
