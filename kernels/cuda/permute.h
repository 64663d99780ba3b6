// Sweeps that permute: the amplitudes of a bundle, gathered into memory beside the state.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/state.h"
#include "kernels/cuda/sweep.h"

namespace qsim::cuda {

constexpr std::uint8_t kNoRow = 255;
constexpr std::uint32_t kStepsAtOnce = 4;
constexpr std::uint32_t kMostRows = 64;  // and bits of a place

/// A PermutationProgram (device/permutation/program.h) for bundles of 2^bundle_bits amplitudes.
struct PermuteArguments {
  const std::uint32_t* steps = nullptr;  // PermutationStep::packed, a multiple of kStepsAtOnce of them
  std::uint32_t step_count = 0, rows = 0, bundle_bits = 0;
  bool phases = false;                         // some steps are, or `phase` is not 1
  double phase[2] = {1, 0};                    // of every amplitude
  std::uint64_t unborn = 0, high_targets = 0;  // of those that are flipped the bits from 32 on
  ViewMap map;                                 // of the bundle
  std::uint8_t bit[kMostRows] = {};            // of each row
  std::uint8_t position[kMostRows] = {};       // of that bit in the bundle, or kNoRow
  std::uint8_t target_at[kMostRows] = {};      // the row of each bit that is flipped, or kNoRow
};

/// A sweep whose flips have at most one control (device/permutation/affine.h), for bundles of 2^bits amplitudes:
/// amplitude k is gathered[the XOR of the columns of k's bits] = state[`from` ^ those], where it `turns` times `phase`.
/// Columns past `bits` are 0.
struct AffineArguments {
  std::uint32_t bits = 0;
  std::uint64_t unborn = 0, from = 0;
  std::uint64_t to_column[kMostRows] = {}, from_column[kMostRows] = {};
  double phase[2] = {1, 0};
  bool turns = false;
};
constexpr std::uint32_t kAffineLanes = 5;  // bits of k by which a warp's lanes differ; a thread has those behind them

/// The first write of 2^bits amplitudes: ProductLookups (plan/product_lookups.h) of where they come from. `tables`:
/// pairs of Real, each table of 2^width of them and then two for each bit that is left.
struct ProductArguments {
  const std::uint32_t* steps = nullptr;  // as of PermuteArguments
  const void* tables = nullptr;
  std::uint32_t step_count = 0, rows = 0, bits = 0;
  std::uint32_t indexed = 0, table_count = 0, width = 0, left = 0;
  bool phases = false;                    // some steps are
  std::uint64_t above = 0;                // of every place: bits that are not among the lowest `bits`
  std::uint64_t checked = 0, wanted = 0;  // other amplitudes are 0
  double scale[2] = {};
  std::uint8_t bit[kMostRows] = {};      // of each row
  std::uint8_t row_of[kMostRows] = {};   // the row of each bit, or kNoRow
  std::uint8_t varying[kMostRows] = {};  // bits: those of the index, lowest first, then those that are left
};

/// gathered[j] = state[where place(j)'s amplitude comes from], j < 2^bundle_bits; or, `in_place`, gathered[place(j)].
/// `norm`: sum of squares added, or null.
template <class Real>
cudaError_t launch_permute(const std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                           std::conditional_t<sizeof(Real) == 8, double2, float2>* gathered,
                           const PermuteArguments& arguments, bool in_place, NormCell* norm, cudaStream_t stream);
template <class Real>
cudaError_t launch_affine(const std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                          std::conditional_t<sizeof(Real) == 8, double2, float2>* gathered,
                          const AffineArguments& arguments, NormCell* norm, cudaStream_t stream);

template <class Real>
cudaError_t launch_product(std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                           const ProductArguments& arguments, NormCell* norm, cudaStream_t stream);

}  // namespace qsim::cuda
