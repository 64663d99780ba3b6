// Launch of the sweep interpreter, apart from its text, which tests compile for the host too.
#pragma once

#include "kernels/cuda/sweep.cuh"

namespace qsim::cuda {

template <class Real>
cudaError_t launch_sweep_of(const SweepParams<Real>& params, std::uint64_t tiles, cudaStream_t stream) {
  constexpr int R = register_bits(Real{});
  const auto shared =
      static_cast<std::uint32_t>((std::uint64_t{1} << (R + params.thread_bits)) * sizeof(Amplitude<Real>));
  auto* const kernel = sweep_kernel<Real, R>;
  // The same value at every launch: threads of several ranks may share a device.
  constexpr int kMostShared = static_cast<int>((1u << (R + kMaxThreadBits)) * sizeof(Amplitude<Real>));
  cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kMostShared);
  constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 30;
  for (std::uint64_t first = 0; status == cudaSuccess && first < tiles; first += kMostBlocks) {
    const auto blocks = static_cast<unsigned>(tiles - first < kMostBlocks ? tiles - first : kMostBlocks);
    kernel<<<blocks, 1u << params.thread_bits, shared, stream>>>(params, first);
    status = cudaGetLastError();
  }
  return status;
}

}  // namespace qsim::cuda
