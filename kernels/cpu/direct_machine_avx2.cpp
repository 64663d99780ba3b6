// Sweeps that run once with the avx2 instruction set.
#define QSIM_DIRECT_MACHINE_BODY
#include "kernels/cpu/direct_machine.h"
#include "kernels/cpu/vector_avx2.h"

namespace qsim::cpu {

DirectMachine direct_machine_avx2() { return {avx2::Doubles::kLaneBits, &DirectSweep<avx2::Doubles>::run}; }

}  // namespace qsim::cpu
