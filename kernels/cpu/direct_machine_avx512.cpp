// Sweeps that run once with the avx512 instruction set.

// g++ 12 calls the undefined operand of its own intrinsics uninitialized.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#define QSIM_DIRECT_MACHINE_BODY
#include "kernels/cpu/direct_machine.h"
#include "kernels/cpu/vector_avx512.h"

namespace qsim::cpu {

DirectMachine direct_machine_avx512() { return {avx512::Doubles::kLaneBits, &DirectSweep<avx512::Doubles>::run}; }

}  // namespace qsim::cpu
