// The tile machine with the avx2 instruction set.
#include "kernels/cpu/tile_machine.h"
#include "kernels/cpu/vector_avx2.h"

namespace qsim::cpu {

TileMachine<float> tile_machine_single_avx2() {
  using S = avx2::Floats;
  return {S::kLaneBits, S::kRegisterBits, &Machine<S>::run};
}

TileMachine<double> tile_machine_double_avx2() {
  using S = avx2::Doubles;
  return {S::kLaneBits, S::kRegisterBits, &Machine<S>::run};
}

}  // namespace qsim::cpu
