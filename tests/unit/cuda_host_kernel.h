// Generated kernels compiled for the host and run there, a thread for each of a block's: what the text does, barriers
// included, without a GPU.
#pragma once

#include <vector>

#include "cuda/generate.h"

namespace qsim::test {

/// Whether there is a C++ compiler to do it with.
bool host_compiler_exists();

/// Runs the kernel of `program` on all its tiles of `state`; throws std::runtime_error where the text does not compile.
void run_generated(const cuda::TileProgram& program, std::vector<Complex>& state);

}  // namespace qsim::test
