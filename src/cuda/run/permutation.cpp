#include "cuda/run/permutation.h"

#include <algorithm>
#include <type_traits>

#include "base/bits.h"
#include "cuda/device.h"
#include "cuda/generate/generate.h"
#include "device/permutation/product.h"
#include "device/permutation/program.h"
#include "plan/product_lookups.h"

namespace qsim::cuda {

Permutation::Permutation(const Sweep& sweep, std::uint32_t local_bits)
    : local_bits_(local_bits), whole_(is_one_bundle(sweep, local_bits)) {
  const PermutationProgram program = permutation_program(sweep, local_bits);
  bundle_ = program.bundle;
  fixed_ = program.fixed;
  if (!sweep.reads) {
    set_products(sweep, program);
  } else if (is_affine(sweep)) {
    set_columns(sweep, program);
  } else {
    set_words(program);
  }
}

void Permutation::set_columns(const Sweep& sweep, const PermutationProgram& program) {
  constexpr std::uint32_t kLineBits = 4;  // 128 bytes in single precision
  gather_ = affine_gather(sweep, local_bits_, fixed_, kAffineLanes, kLineBits);
  affine_.emplace();
  affine_->bits = count_bits(bundle_);
  affine_->unborn = sweep.unborn;
  std::ranges::copy(gather_.to, affine_->to_column);
  std::ranges::copy(gather_.from, affine_->from_column);
  affine_->phase[0] = program.phase.real();
  affine_->phase[1] = program.phase.imag();
  affine_->turns = program.phase != 1.0;
}

void Permutation::set_steps(const PermutationProgram& program) {
  steps_ = program.steps;
  // Steps that neither choose nor flip.
  const std::uint32_t ones = program.rows() - 1, idle = PermutationStep::packed(0, 0, ones, false, ones, false);
  while (steps_.size() % kStepsAtOnce != 0) steps_.push_back(idle);
}

void Permutation::set_words(const PermutationProgram& program) {
  set_steps(program);
  arguments_.step_count = static_cast<std::uint32_t>(steps_.size());
  arguments_.rows = program.rows();
  arguments_.phases = program.phases || program.phase != 1.0;
  arguments_.phase[0] = program.phase.real();
  arguments_.phase[1] = program.phase.imag();
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

void Permutation::set_products(const Sweep& sweep, const PermutationProgram& program) {
  set_steps(program);
  const ProductLookups lookups = product_lookups(sweep);
  const ProductStart start = product_start(sweep);
  ProductArguments& product = product_.emplace();
  product.step_count = static_cast<std::uint32_t>(steps_.size());
  product.rows = program.rows();
  product.phases = program.phases;
  product.bits = local_bits_;
  product.above = program.above;
  product.indexed = lookups.indexed;
  product.table_count = lookups.tables;
  product.width = lookups.width;
  product.left = lookups.left;
  product.checked = start.checked;
  product.wanted = start.wanted;
  product.scale[0] = start.scale.real();
  product.scale[1] = start.scale.imag();
  real_tables_ = has_real_products(sweep);
  std::ranges::fill(product.row_of, kNoRow);
  for (std::uint32_t row = 0; row < program.bits.size(); ++row) {
    const std::uint8_t bit = program.bits[row] % kMostRows;
    product.bit[row] = bit;
    product.row_of[bit] = static_cast<std::uint8_t>(row);
  }
  std::uint32_t count = 0;
  for_each_bit(start.varying,
               [&](unsigned bit) { product.varying[count++ % kMostRows] = static_cast<std::uint8_t>(bit); });
  tables_ = product_tables(sweep);
}

const std::uint32_t* Permutation::upload_steps(std::span<std::byte> steps, cudaStream_t stream) const {
  const std::size_t bytes = steps_.size() * sizeof(std::uint32_t);
  if (bytes > 0)
    check(cudaMemcpyAsync(steps.data(), steps_.data(), bytes, cudaMemcpyHostToDevice, stream),
          "copy of permutation steps");
  return reinterpret_cast<const std::uint32_t*>(steps.data());
}

template <class Real>
void Permutation::write_products(std::byte* state, std::span<std::byte> steps, NormCell* norm,
                                 const DriverKernel* kernel, cudaStream_t stream) {
  using Pair = std::conditional_t<sizeof(Real) == 8, double2, float2>;
  const bool real = kernel != nullptr && real_tables_;
  std::vector<Real> tables;
  for (const Complex entry : tables_) {
    tables.push_back(static_cast<Real>(entry.real()));
    if (!real) tables.push_back(static_cast<Real>(entry.imag()));
  }
  const std::size_t begin = kernel != nullptr ? 0 : (steps_.size() * sizeof(std::uint32_t) + 15) / 16 * 16;
  require_beside_state(begin + tables.size() * sizeof(Real), steps.size());
  if (!tables.empty()) {
    check(cudaMemcpyAsync(steps.data() + begin, tables.data(), tables.size() * sizeof(Real), cudaMemcpyHostToDevice,
                          stream),
          "copy of a permutation's tables");
  }
  if (kernel != nullptr) {
    PermutationPointers pointers{nullptr, state,           steps.data(),
                                 norm,    product_->above, {product_->scale[0], product_->scale[1]}};
    constexpr Index kMostBlocks = 2048;  // each of which copies the tables
    void* arguments[] = {&pointers};
    const Index blocks = std::clamp<Index>(bit_mask(local_bits_) / kPermutationBlock, 1, kMostBlocks);
    return kernel->launch(static_cast<std::uint32_t>(blocks), kPermutationThreads, stream, arguments);
  }
  product_->steps = upload_steps(steps, stream);
  product_->tables = steps.data() + begin;
  check(launch_product<Real>(reinterpret_cast<Pair*>(state), *product_, norm, stream), "launch of a first permutation");
}

template <class Real>
bool Permutation::run(std::byte* state, std::span<std::byte> spare, std::span<std::byte> steps, NormCell* norm,
                      const DriverKernel* kernel, cudaStream_t stream) {
  if (product_) {
    write_products<Real>(state, steps, norm, kernel, stream);
    return false;
  }
  using Pair = std::conditional_t<sizeof(Real) == 8, double2, float2>;
  const Index size = bit_mask(count_bits(bundle_)), bundles = bit_mask(count_bits(fixed_));
  require_beside_state((whole_ ? bit_mask(local_bits_) : size) * sizeof(Pair), spare.size());
  require_beside_state(steps_.size() * sizeof(std::uint32_t), steps.size());
  if (kernel == nullptr) arguments_.steps = upload_steps(steps, stream);
  auto* const amplitudes = reinterpret_cast<Pair*>(state);
  auto* const gathered = reinterpret_cast<Pair*>(spare.data());
  const Index outside = low_mask(local_bits_) & ~bundle_;
  for (Index number = 0; number < bundles; ++number) {
    arguments_.map = view_map(local_bits_, outside, deposit_bits(number, fixed_));
    if (kernel != nullptr) {
      PermutationPointers pointers{amplitudes,
                                   gathered,
                                   nullptr,
                                   norm,
                                   deposit_bits(number, fixed_),
                                   {arguments_.phase[0], arguments_.phase[1]}};
      void* words[] = {&pointers};
      const Index blocks = std::max<Index>(size / kPermutationBlock, 1);
      kernel->launch(static_cast<std::uint32_t>(blocks), kPermutationThreads, stream, words);
    } else if (affine_) {
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

template bool Permutation::run<float>(std::byte*, std::span<std::byte>, std::span<std::byte>, NormCell*,
                                      const DriverKernel*, cudaStream_t);
template bool Permutation::run<double>(std::byte*, std::span<std::byte>, std::span<std::byte>, NormCell*,
                                       const DriverKernel*, cudaStream_t);

}  // namespace qsim::cuda
