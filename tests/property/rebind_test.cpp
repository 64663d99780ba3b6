// Programs with open angles, run for one set of values after the other, against the dense reference.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/bits.h"
#include "base/philox.h"
#include "qsim/error.h"
#include "qsim/session.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/open_circuit.h"
#include "support/test_backend.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

dense::State amplitudes_of(State& state) { return state.amplitudes(0, Index{1} << state.qubits()); }

/// The probability that a qubit is 1.
double one_of(const dense::State& state, Qubit qubit) {
  double sum = 0;
  for (Index i = 0; i < state.size(); ++i) sum += test_bit(i, qubit) ? std::norm(state[i]) : 0;
  return sum;
}

/// A program run for values A, B, A, C, ... from zero and from held states, states of several layouts taking turns.
void run_values(const Target& target, std::uint64_t seed) {
  test::OpenCircuitOptions shape;
  shape.qubits = 7 + static_cast<std::uint32_t>(seed % 4);
  shape.gates = 20 + 5 * (seed % 13);
  shape.seed = seed;
  shape.parameters = 1 + static_cast<std::uint32_t>(seed % 9);
  shape.most_targets = 3;
  if (seed / 2 % 3 == 0) shape.kinds = 2 + static_cast<unsigned>(seed / 6 % 5);
  const Circuit circuit = test::open_circuit(shape);
  Session session(target);
  const Program program = session.compile(circuit);
  const std::size_t count = circuit.parameters().size();
  const double allowed = test::tolerance(target.precision, shape.gates);
  PhiloxSequence random(seed);

  State held = session.state(shape.qubits);
  dense::State reference = dense::zero_state(shape.qubits);
  std::vector<double> values;
  for (std::uint64_t step = 0; step < 8; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    values = test::surprising_values(count, step % 3 == 2 ? 6 * seed : 6 * seed + step);
    State fresh = session.run(program, values);
    const dense::State fresh_wanted = dense::run(circuit.bind(values));
    EXPECT_LE(dense::max_difference(amplitudes_of(fresh), fresh_wanted), allowed);
    if (random.below(2) == 0) {
      const std::vector<double> marginals = session.answer(program, {.marginals = true}, values).marginals;
      for (Qubit q = 0; q < shape.qubits; ++q) EXPECT_NEAR(marginals[q], one_of(fresh_wanted, q), 2 * allowed);
      continue;
    }
    if (random.below(4) == 0) {  // from elsewhere
      held.set(3);
      reference = dense::zero_state(shape.qubits);
      std::swap(reference[0], reference[3]);
    }
    held.run(program, values);
    reference = dense::run(circuit.bind(values), reference);
    EXPECT_LE(dense::max_difference(amplitudes_of(held), reference), 8 * allowed);
  }
}

/// In both precisions, on what `target_of` gives for each seed.
void run_campaign(std::uint64_t usual, const std::function<Target(std::uint64_t)>& target_of) {
  const test::Campaign campaign(usual);
  for (std::uint64_t seed = campaign.first; seed < campaign.first + campaign.count; ++seed) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      Target target = target_of(seed);
      target.precision = precision;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", ranks " + std::to_string(target.ranks));
      run_values(target, seed);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Rebind, GivesWhatPlanningGives) {
  run_campaign(40, [](std::uint64_t seed) {
    Target target;
    target.backend = BackendKind::kCpu;
    target.ranks = 1 << seed % 3;
    target.instruction_set = seed % 5 == 0   ? InstructionSet::kScalar
                             : seed % 5 == 1 ? InstructionSet::kAvx2
                                             : InstructionSet::kAuto;
    return target;
  });
}

/// Kernels that are compiled for the first numbers are run with the others, or the interpreter is.
TEST(Rebind, GivesWhatPlanningGivesOnAGpu) {
  Target gpu;
  gpu.backend = BackendKind::kCuda;
  try {
    const Session here(gpu);
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  run_campaign(24, [&gpu](std::uint64_t seed) {
    Target target = gpu;
    target.ranks = 1 << seed % 2;
    target.oversubscribe_gpus = true;
    target.jit = seed % 3 == 0 ? Jit::kOff : seed % 3 == 1 ? Jit::kOnly : Jit::kAuto;
    return target;
  });
}

}  // namespace
}  // namespace qsim
