// The tile machine with the avx512 instruction set.

// g++ 12 calls the undefined operand of its own intrinsics uninitialized.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include "kernels/cpu/tile_machine.h"
#include "kernels/cpu/vector_avx512.h"

namespace qsim::cpu {

TileMachine<float> tile_machine_single_avx512() {
  using S = avx512::Floats;
  return {S::kLaneBits, S::kRegisterBits, &Machine<S>::run};
}

TileMachine<double> tile_machine_double_avx512() {
  using S = avx512::Doubles;
  return {S::kLaneBits, S::kRegisterBits, &Machine<S>::run};
}

}  // namespace qsim::cpu
