#include "cuda/run/permutation.h"

#include <algorithm>
#include <string>
#include <type_traits>

#include "base/bits.h"
#include "cuda/device.h"
#include "device/permutation/program.h"
#include "qsim/error.h"

namespace qsim::cuda {

Permutation::Permutation(const Sweep& sweep, std::uint32_t local_bits)
    : local_bits_(local_bits), whole_(is_one_bundle(sweep, local_bits)) {
  const PermutationProgram program = permutation_program(sweep, local_bits);
  bundle_ = program.bundle;
  fixed_ = program.fixed;
  if (is_affine(sweep))
    set_columns(sweep);
  else
    set_steps(program);
}

void Permutation::set_columns(const Sweep& sweep) {
  constexpr std::uint32_t kLineBits = 4;  // 128 bytes in single precision
  gather_ = affine_gather(sweep, local_bits_, fixed_, kAffineLanes, kLineBits);
  affine_.emplace();
  affine_->bits = count_bits(bundle_);
  affine_->unborn = sweep.unborn;
  std::ranges::copy(gather_.to, affine_->to_column);
  std::ranges::copy(gather_.from, affine_->from_column);
}

void Permutation::set_steps(const PermutationProgram& program) {
  steps_ = program.steps;
  // Steps that neither choose nor flip.
  const std::uint32_t ones = program.rows() - 1, idle = PermutationStep::packed(0, false, ones, false, ones, false);
  while (steps_.size() % kStepsAtOnce != 0) steps_.push_back(idle);
  arguments_.step_count = static_cast<std::uint32_t>(steps_.size());
  arguments_.rows = program.rows();
  arguments_.bundle_bits = count_bits(bundle_);
  arguments_.unborn = program.unborn;
  std::ranges::fill(arguments_.target_at, kNoRow);
  for (std::uint32_t row = 0; row < program.bits.size(); ++row) {
    const std::uint8_t bit = program.bits[row] % kMostRows;
    arguments_.bit[row] = bit;
    arguments_.position[row] =
        test_bit(bundle_, bit) ? static_cast<std::uint8_t>(count_bits(bundle_ & low_mask(bit))) : kNoRow;
    if (row >= program.targets) continue;
    arguments_.target_at[bit] = static_cast<std::uint8_t>(row);
    if (bit >= 32) arguments_.high_targets |= bit_mask(bit);
  }
}

template <class Real>
bool Permutation::run(std::byte* state, std::span<std::byte> spare, std::span<std::byte> steps, NormCell* norm,
                      cudaStream_t stream) {
  using Pair = std::conditional_t<sizeof(Real) == 8, double2, float2>;
  const Index size = bit_mask(count_bits(bundle_)), bundles = bit_mask(count_bits(fixed_));
  const auto require = [](std::uint64_t needed, std::uint64_t there) {
    if (needed <= there) return;
    throw CapacityError("a sweep that permutes needs " + std::to_string(needed) +
                            " bytes beside the state, the pool has " + std::to_string(there),
                        needed, there);
  };
  require((whole_ ? bit_mask(local_bits_) : size) * sizeof(Pair), spare.size());
  require(steps_.size() * sizeof(std::uint32_t), steps.size());
  if (!steps_.empty()) {
    check(cudaMemcpyAsync(steps.data(), steps_.data(), steps_.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice,
                          stream),
          "cudaMemcpyAsync of a permutation");
  }
  arguments_.steps = reinterpret_cast<const std::uint32_t*>(steps.data());
  auto* const amplitudes = reinterpret_cast<Pair*>(state);
  auto* const gathered = reinterpret_cast<Pair*>(spare.data());
  const Index outside = low_mask(local_bits_) & ~bundle_;
  for (Index number = 0; number < bundles; ++number) {
    arguments_.map = view_map(local_bits_, outside, deposit_bits(number, fixed_));
    if (affine_) {
      affine_->from = gather_.source(number);
      check(launch_affine<Real>(amplitudes, gathered, *affine_, norm, stream), "launch of an affine permutation");
    } else {
      check(launch_permute<Real>(amplitudes, gathered, arguments_, whole_, norm, stream), "launch of a permutation");
    }
    if (whole_) return true;
    check(launch_pack<Real>(amplitudes, gathered, arguments_.map, size, true, stream), "launch of pack");
  }
  return false;
}

template bool Permutation::run<float>(std::byte*, std::span<std::byte>, std::span<std::byte>, NormCell*, cudaStream_t);
template bool Permutation::run<double>(std::byte*, std::span<std::byte>, std::span<std::byte>, NormCell*, cudaStream_t);

}  // namespace qsim::cuda
