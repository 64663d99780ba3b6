// Whole-shard kernels: random start states and chunk packing.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace qsim::cuda {

constexpr int kMaxStateBits = 62;

/// Amplitudes with (index & mask) == value, in ascending order: run i of index bits moves by shift[i].
struct ViewMap {
  std::uint64_t value = 0;
  std::uint64_t run_mask[kMaxStateBits] = {};  // of the packed index
  std::uint8_t run_shift[kMaxStateBits] = {};
  std::uint32_t runs = 0;
};

/// packed[i] = state[place(i)] or, unpacking, the other way, i < count.
template <class Real>
cudaError_t launch_pack(std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                        std::conditional_t<sizeof(Real) == 8, double2, float2>* packed, const ViewMap& map,
                        std::uint64_t count, bool unpack, cudaStream_t stream);

/// Where bit b of a physical index (rank bits included) goes in the logical one.
struct LogicalMap {
  std::uint8_t logical_of[kMaxStateBits] = {};
  std::uint32_t bits = 0;       // local bits
  std::uint64_t rank_part = 0;  // logical bits of the rank's number
};

/// state[i] = gaussian pair (seed, logical index) times scale, i < 2^map.bits.
template <class Real>
cudaError_t launch_fill_random(std::conditional_t<sizeof(Real) == 8, double2, float2>* state, const LogicalMap& map,
                               std::uint64_t seed, double scale, cudaStream_t stream);

}  // namespace qsim::cuda
