#include "device/permutation/program.h"

#include <algorithm>

#include "base/bits.h"

namespace qsim {

PermutationProgram permutation_program(const Sweep& sweep, std::uint32_t local_bits) {
  PermutationProgram program;
  program.bundle = sweep.bundle;
  program.unborn = sweep.unborn;
  program.fixed = low_mask(local_bits) & ~sweep.unborn;
  for (const Birth& birth : sweep.births) program.fixed |= bit_mask(birth.bit);
  program.fixed &= ~program.bundle;
  Index targets = 0, controls = 0;
  for (const PlanOp& op : sweep.ops) {
    targets |= bit_mask(op.targets[0]);
    controls |= op.control_mask;
  }
  std::uint32_t row_of[64] = {};
  const auto add_row = [&](unsigned bit) {
    row_of[bit] = static_cast<std::uint32_t>(program.bits.size());
    program.bits.push_back(static_cast<std::uint8_t>(bit));
  };
  for_each_bit(targets, add_row);
  program.targets = static_cast<std::uint32_t>(program.bits.size());
  for_each_bit(controls & ~targets, add_row);
  const auto ones = static_cast<std::uint32_t>(program.bits.size());
  for (auto op = sweep.ops.rbegin(); op != sweep.ops.rend(); ++op) {
    const std::uint32_t target = row_of[op->targets[0]];
    Index left = op->control_mask;
    do {
      std::uint32_t row[2] = {ones, ones};
      bool inverted[2] = {};
      for (int i = 0; i < 2 && left != 0; ++i, left &= left - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        row[i] = row_of[bit];
        inverted[i] = !test_bit(op->control_value, bit);
      }
      program.steps.push_back(PermutationStep::packed(target, left == 0, row[0], inverted[0], row[1], inverted[1]));
    } while (left != 0);
  }
  return program;
}

}  // namespace qsim
