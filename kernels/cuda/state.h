// Whole-shard kernels: random start states and chunk packing.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
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

/// The map of a view whose amplitudes have `value` at the bits of `mask`: neighbouring free bits make a run.
inline ViewMap view_map(std::uint32_t local_bits, std::uint64_t mask, std::uint64_t value) {
  ViewMap map;
  map.value = value;
  std::uint32_t packed = 0;
  for (std::uint32_t bit = 0; bit < local_bits; ++bit) {
    if ((mask >> bit & 1) != 0) continue;
    const bool continues = map.runs > 0 && map.run_shift[map.runs - 1] == bit - packed;
    if (!continues) map.run_shift[map.runs++] = static_cast<std::uint8_t>(bit - packed);
    map.run_mask[map.runs - 1] |= std::uint64_t{1} << packed;
    ++packed;
  }
  return map;
}

/// packed[i] = state[place(i)] or, unpacking, the other way, i < count.
template <class Real>
cudaError_t launch_pack(std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                        std::conditional_t<sizeof(Real) == 8, double2, float2>* packed, const ViewMap& map,
                        std::uint64_t count, bool unpack, cudaStream_t stream);

/// Exchanges, for begin <= i < end, element place(i) of `mine` with the one of `theirs`, a peer's, at the same place
/// but with `their_value` where the map has its value. Elements have 8 or 16 bytes. What lies between must hold still.
cudaError_t launch_swap(void* mine, void* theirs, std::size_t element_bytes, const ViewMap& map,
                        std::uint64_t their_value, std::uint64_t begin, std::uint64_t end, cudaStream_t stream);

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
