// How many instructions kernels have, beside what the cost table says: by that the planner keeps them in a GPU's
// instruction cache, and a text that grows or shrinks makes its plans worse without a wrong number.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "benchmarks/code_length.h"
#include "circuit/generate/families.h"
#include "cuda/generate/generate.h"
#include "cuda/run/nvrtc.h"
#include "cuda_programs.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// By the table, of a sweep that does no block on lanes.
double expected_length(const Sweep& sweep, Precision precision, const Machine& machine) {
  double sum = machine.cost(precision).kernel_instructions;
  for (const Arithmetic& one : operation_arithmetic(sweep, precision, machine)) sum += one.instructions;
  return sum;
}

TEST(CudaKernelLengths, AreWhatTheCostTableSays) {
  try {
    const auto nvrtc = cuda::RuntimeCompiler::load();
    const Machine machine = find_machine("h200");
    for (const char* const family : {"qv", "ising", "heisenberg", "random"}) {
      for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
        SCOPED_TRACE(std::string(family) + (precision == Precision::kSingle ? " in single" : " in double"));
        const Circuit circuit = generate(family, GeneratorOptions{30, 0, 1});
        PlanOptions options;
        options.start = Start::kRandom;
        options.precision = precision;
        const Plan plan = make_plan(circuit, machine, options);
        const std::vector<cuda::TileProgram> programs = test::programs_of(plan);
        double expected = 0, length = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(3, programs.size()); ++i) {
          if (uses_lanes(programs[i])) continue;
          const auto cubin = nvrtc.compile(cuda::generate(programs[i]).source, 90).cubin;
          expected += expected_length(plan.stages.front().sweeps.at(i), precision, machine);
          length += static_cast<double>(instructions_of(cubin));
        }
        EXPECT_GE(expected, 0.8 * length);
        EXPECT_LE(expected, 1.25 * length);
      }
    }
  } catch (const DeviceError&) {
    GTEST_SKIP() << "no libnvrtc";
  }
}

}  // namespace
}  // namespace qsim
