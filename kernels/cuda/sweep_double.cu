// The interpreter in double precision: 16 amplitudes a thread.
#include "kernels/cuda/sweep_launch.cuh"

namespace qsim::cuda {

cudaError_t sweep_kernel_status() {
  cudaFuncAttributes attributes;
  const cudaError_t status = cudaFuncGetAttributes(&attributes, sweep_kernel<double, register_bits(double{})>);
  if (status == cudaErrorNoKernelImageForDevice) (void)cudaGetLastError();
  return status;
}

cudaError_t launch_sweep(const SweepParams<double>& params, std::uint64_t tiles, cudaStream_t stream) {
  return launch_sweep_of(params, tiles, stream);
}

}  // namespace qsim::cuda
