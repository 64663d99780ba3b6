// Tile programs for tests of generated kernels, and what such a kernel does beside what its program says.
#pragma once

#include "cuda/program/lower.h"
#include "cuda_host_kernel.h"
#include "plan/plan.h"
#include "qsim/circuit.h"

namespace qsim::test {

/// Of all sweeps of a plan, or of an H200's for the circuit, in order, as its backend lowers them.
std::vector<cuda::TileProgram> programs_of(const Plan& plan);
std::vector<cuda::TileProgram> programs_of(const Circuit& circuit, Precision precision, Start start);

/// Without operations; its active bits are the lowest.
Sweep sweep_of_bits(Bit count);

/// Its matrix is appended to those of `sweep`.
PlanOp hadamard(Bit target, Sweep& sweep);

/// The text's effect on a random state against that of the program, which the emulator has, and its norm against that
/// of what it stores; where a bit of `still` is 1 memory means nothing.
void expect_same_effect(const cuda::TileProgram& program, unsigned bits, std::uint64_t seed, Index still = 0,
                        HostGpu gpu = HostGpu::kHopper);

}  // namespace qsim::test
