// Sweeps that permute, over a shard on a device.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cuda/run/nvrtc.h"
#include "device/permutation/affine.h"
#include "device/permutation/program.h"
#include "kernels/cuda/permute.h"
#include "kernels/cuda/sweep.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::cuda {

/// A prepared sweep that permutes.
class Permutation {
 public:
  /// `sweep` of a shard of 2^local_bits, specialised.
  Permutation(const Sweep& sweep, std::uint32_t local_bits);

  /// Moves the amplitudes of `state` through `spare`, or writes the first ones, with `steps` on the device:
  /// PoolLayout::spare_bytes and step_bytes of memory. `norm`: null, or where the sum of their squares is added. True:
  /// they are in `spare` then. `kernel`: of generate_permutation(), or null.
  template <class Real>
  bool run(std::byte* state, std::span<std::byte> spare, std::span<std::byte> steps, NormCell* norm,
           const DriverKernel* kernel, cudaStream_t stream);
  /// Whether a kernel of its own is faster than those that are compiled ahead, and compiled in less time than it takes.
  bool wants_kernel() const { return !affine_ && steps_.size() <= kMostCompiledSteps; }

 private:
  void set_steps(const PermutationProgram& program);
  void set_words(const PermutationProgram& program);
  void set_columns(const Sweep& sweep, const PermutationProgram& program);
  void set_products(const Sweep& sweep, const PermutationProgram& program);
  template <class Real>
  void write_products(std::byte* state, std::span<std::byte> steps, NormCell* norm, const DriverKernel* kernel,
                      cudaStream_t stream);
  /// Copies them to the device; where they are then.
  const std::uint32_t* upload_steps(std::span<std::byte> steps, cudaStream_t stream) const;

  std::uint32_t local_bits_;
  Index bundle_, fixed_;
  bool whole_;
  std::vector<std::uint32_t> steps_;
  PermuteArguments arguments_;
  std::optional<AffineArguments> affine_;    // then there are no steps
  AffineGather gather_;                      // that they are of
  std::optional<ProductArguments> product_;  // of the first write, which has steps
  std::vector<Complex> tables_;
  bool real_tables_ = false;
};

}  // namespace qsim::cuda
