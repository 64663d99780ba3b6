// Sweeps that permute, over a shard on a device.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/permutation/affine.h"
#include "device/permutation/program.h"
#include "kernels/cuda/permute.h"
#include "kernels/cuda/sweep.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::cuda {

/// A prepared sweep that permutes.
class Permutation {
 public:
  /// `sweep` of a shard of 2^local_bits, specialised.
  Permutation(const Sweep& sweep, std::uint32_t local_bits);

  /// Moves the amplitudes of `state` through `spare`, with `steps` on the device: PoolLayout::spare_bytes and
  /// step_bytes of memory. `norm`: null, or where the sum of their squares is added. True: they are in `spare` then.
  template <class Real>
  bool run(std::byte* state, std::span<std::byte> spare, std::span<std::byte> steps, NormCell* norm,
           cudaStream_t stream);

 private:
  std::uint32_t local_bits_;
  Index bundle_, fixed_;
  bool whole_;
  void set_steps(const PermutationProgram& program);
  void set_columns(const Sweep& sweep);

  std::vector<std::uint32_t> steps_;
  PermuteArguments arguments_;
  std::optional<AffineArguments> affine_;  // then there are no steps
  AffineGather gather_;                    // that they are of
};

}  // namespace qsim::cuda
