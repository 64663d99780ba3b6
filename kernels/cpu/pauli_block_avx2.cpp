// Blocks of Pauli sums with the avx2 instruction set.
#define QSIM_PAULI_BLOCK_BODY
#include "kernels/cpu/pauli_block.h"

namespace qsim::cpu {

PauliKernels<float> pauli_kernels_single_avx2() { return {products_of<float>, signed_of}; }
PauliKernels<double> pauli_kernels_double_avx2() { return {products_of<double>, signed_of}; }

}  // namespace qsim::cpu
