// The interpreter in single precision: 32 amplitudes a thread.
#include "kernels/cuda/sweep_launch.cuh"

namespace qsim::cuda {

cudaError_t launch_sweep(const SweepParams<float>& params, std::uint64_t tiles, cudaStream_t stream) {
  return launch_sweep_of(params, tiles, stream);
}

}  // namespace qsim::cuda
