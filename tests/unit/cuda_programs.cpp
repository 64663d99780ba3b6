#include "cuda_programs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cuda_emulator.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "support/dense.h"
#include "support/tolerance.h"

namespace qsim::test {

using namespace qsim::cuda;

std::vector<TileProgram> programs_of(const Plan& plan) {
  std::vector<TileProgram> programs;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps)
      programs.push_back(lower_sweep(specialize(sweep, plan, 0), kernel_options(plan.local_bits(), plan.precision)));
  }
  return programs;
}

std::vector<TileProgram> programs_of(const Circuit& circuit, Precision precision, Start start) {
  PlanOptions options;
  options.start = start;
  options.precision = precision;
  return programs_of(make_plan(circuit, find_machine("h200"), options));
}

void expect_same_effect(const TileProgram& program, unsigned bits, std::uint64_t seed, Index still, HostGpu gpu) {
  std::vector<Complex> expected = dense::random_state(bits, seed), state = expected;
  emulate(program, expected);
  const double norm = run_generated(program, state, gpu);
  double worst = 0, sum = 0;
  for (Index i = 0; i < state.size(); ++i) {
    if ((i & still) != 0) continue;
    const double difference = std::abs(state[i] - expected[i]);
    if (!(difference <= worst)) worst = difference;
    sum += std::norm(state[i]);
  }
  EXPECT_LE(worst, program.precision == Precision::kDouble ? 1e-13 : 3e-5) << "seed " << seed;
  EXPECT_NEAR(norm, sum, sum * kernel_norm_tolerance(program.precision)) << "seed " << seed;
}

Sweep sweep_of_bits(Bit count) {
  Sweep sweep;
  for (Bit bit = 0; bit < count; ++bit) sweep.active.push_back(bit);
  sweep.store = sweep.active;
  return sweep;
}

PlanOp hadamard(Bit target, Sweep& sweep) {
  const double r = std::sqrt(0.5);
  PlanOp op;
  op.target_count = 1;
  op.targets[0] = target;
  op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
  op.data_count = 4;
  sweep.matrices.insert(sweep.matrices.end(), {r, r, r, -r});
  return op;
}

}  // namespace qsim::test
