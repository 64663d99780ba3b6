// The interpreter does on the host what tile programs say.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "cuda_emulator.h"
#include "cuda_host_kernel.h"
#include "cuda_programs.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

using cuda::TileProgram;

/// A plan's sweeps on one rank after the other, from |0...0>, by the interpreter: each part against the emulator.
TEST(CudaInterpreter, ItsKernelDoesOnTheHostWhatProgramsSay) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  const char* const wanted = std::getenv("QSIM_HOST_TEXTS");  // more of them
  const std::uint64_t circuits = wanted == nullptr ? 8 : std::strtoull(wanted, nullptr, 10);
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    const test::HostInterpreter interpreter(precision);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (std::uint64_t seed = 1; seed <= circuits && !HasFailure(); ++seed) {
      test::RandomCircuitOptions circuit_options;
      circuit_options.qubits = 6 + static_cast<unsigned>((seed - 1) % 8);
      circuit_options.operations = 60;
      circuit_options.seed = seed;
      PlanOptions options;
      options.precision = precision;
      options.rank_bits = static_cast<std::uint32_t>(seed % 3);
      if (seed % 2 == 1) options.tile_bits = 2 + (seed - 1) % 4;
      const Plan plan = make_plan(test::random_circuit(circuit_options), find_machine("h200"), options);
      for (std::uint32_t rank = 0; rank < 1u << plan.rank_bits; ++rank) {
        std::vector<Complex> state(std::size_t{1} << plan.local_bits(), Complex(nan, nan)), expected = state;
        for (const Stage& stage : plan.stages) {
          for (const Sweep& words : stage.sweeps) {
            const TileProgram program =
                lower_sweep(specialize(words, plan, rank), cuda::lower_options(plan.local_bits(), precision));
            if (!interpreter.run(program, state)) FAIL() << "seed " << seed << " is too long to interpret";
            test::emulate(program, expected);
            for (Index i = 0; i < state.size(); ++i) {
              if (std::isnan(expected[i].real())) continue;
              EXPECT_LE(std::abs(state[i] - expected[i]), precision == Precision::kDouble ? 1e-12 : 1e-4)
                  << "seed " << seed << " rank " << rank << " index " << i;
              if (HasFailure()) return;
            }
            state = expected;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace qsim
