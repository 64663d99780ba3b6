#include "cpu/read_out/readouts_pauli.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "base/bits.h"
#include "cpu/cpu_info.h"
#include "device/numbers/compensated.h"
#include "kernels/cpu/pauli_block.h"
#include "qsim/error.h"

namespace qsim::cpu {

PauliKernels<float> pauli_kernels_single_scalar();
PauliKernels<double> pauli_kernels_double_scalar();
PauliKernels<float> pauli_kernels_single_avx2();
PauliKernels<double> pauli_kernels_double_avx2();
PauliKernels<float> pauli_kernels_single_avx512();
PauliKernels<double> pauli_kernels_double_avx512();

namespace {

constexpr std::uint32_t kTileBits = 14;  // two tiles in double fit a core's own cache
constexpr Index kMaxPieces = 64;         // partial sums are kept for each, whatever the number of threads

template <typename T>
PauliKernels<T> kernels_of(InstructionSet set);
template <>
PauliKernels<float> kernels_of(InstructionSet set) {
  return for_instruction_set(set, pauli_kernels_single_scalar, pauli_kernels_single_avx2,
                             pauli_kernels_single_avx512)();
}
template <>
PauliKernels<double> kernels_of(InstructionSet set) {
  return for_instruction_set(set, pauli_kernels_double_scalar, pauli_kernels_double_avx2,
                             pauli_kernels_double_avx512)();
}

/// Strings of one X part whose sums are all real or all imaginary: a pair (i, i ^ x) adds c and its conjugate, with
/// signs that agree when z meets x in an even number of bits.
struct Part {
  Index x = 0;
  bool imaginary = false;
  Index pivot = 0;  // of each pair only the amplitude with this bit 0 is visited; 0: pairs lie inside a block
  std::size_t begin = 0, count = 0;  // in the sorted masks
};

struct SortedStrings {
  std::vector<Part> parts;  // by the partner's tile
  std::vector<Index> masks;
  std::vector<std::size_t> place;  // in the caller's list
};

/// `paired`: both ends of a pair are here, below `size`.
SortedStrings sort_strings(std::span<const PauliGroup> groups, std::span<const Index> z_masks, Index tile, Index size,
                           bool paired) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto tile_of = [&](std::size_t group) { return (groups[group].x_mask & (size - 1)) / tile; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return tile_of(a) < tile_of(b); });
  SortedStrings sorted;
  for (const std::size_t number : order) {
    const PauliGroup& group = groups[number];
    for (const bool imaginary : {false, true}) {
      Part part{group.x_mask & (size - 1), imaginary, 0, sorted.masks.size(), 0};
      if (paired && part.x >= kPauliBlock) part.pivot = std::bit_floor(part.x);
      for (std::size_t j = group.begin; j < std::size_t{group.begin} + group.count; ++j) {
        if (odd_parity(z_masks[j] & group.x_mask) != imaginary) continue;
        sorted.masks.push_back(z_masks[j]);
        sorted.place.push_back(j);
      }
      part.count = sorted.masks.size() - part.begin;
      if (part.count != 0) sorted.parts.push_back(part);
    }
  }
  return sorted;
}

std::vector<double> sign_table() {
  std::vector<double> signs(kPauliRows * kPauliRows);
  for (Index r = 0; r < kPauliRows; ++r) {
    for (Index i = 0; i < kPauliRows; ++i) signs[r * kPauliRows + i] = odd_parity(r & i) ? -1.0 : 1.0;
  }
  return signs;
}

}  // namespace

template <typename T>
void pauli_group_sums(const Shard<T>& shard, ThreadTeam& team, InstructionSet instruction_set,
                      PauliPartners<T> partners, std::span<const PauliGroup> groups, std::span<const Index> z_masks,
                      std::span<Complex> out) {
  const PauliKernels<T> kernels = kernels_of<T>(instruction_set);
  const Index tile = Index{1} << std::min(shard.bits, kTileBits);
  const bool paired = partners.data == nullptr;
  const std::complex<T>* const others = paired ? shard.data : partners.data;
  const SortedStrings sorted = sort_strings(groups, z_masks, tile, shard.size(), paired);
  const std::vector<double> signs = sign_table();
  const Index tiles = shard.size() / tile, pieces = std::min(tiles, kMaxPieces), strings = sorted.masks.size();
  std::vector<CompensatedSum> sums(pieces * strings);
  struct Work {
    std::array<double, kPauliBlock> products;
    std::vector<double> sums;
  };
  std::vector<Work> work(static_cast<std::size_t>(team.size()));
  for (Work& one : work) one.sums.resize(strings);
  team.run(pieces, [&](Index piece, int worker) {
    Work& mine = work[static_cast<std::size_t>(worker)];
    CompensatedSum* const total = sums.data() + piece * strings;
    for (Index base = piece * (tiles / pieces) * tile; base < (piece + 1) * (tiles / pieces) * tile; base += tile) {
      for (const Part& part : sorted.parts) {
        if ((base & part.pivot) != 0) continue;
        for (Index block = base; block < base + tile; block += kPauliBlock) {
          if ((block & part.pivot) != 0) continue;
          const Index partner = (block ^ part.x) & ~(kPauliBlock - 1);
          kernels.products(shard.data + block, others + partner, part.x % kPauliBlock, part.imaginary,
                           mine.products.data());
          const Index* const masks = sorted.masks.data() + part.begin;
          kernels.signed_sums(mine.products.data(), masks, part.count, signs.data(), mine.sums.data());
          for (std::size_t m = 0; m < part.count; ++m) {
            const bool negative = odd_parity((partners.first | block) & masks[m]);
            total[part.begin + m].add(negative ? -mine.sums[m] : mine.sums[m]);
          }
        }
      }
    }
  });
  for (const Part& part : sorted.parts) {
    const double weight = part.pivot == 0 ? 1 : 2;
    for (std::size_t m = part.begin; m < part.begin + part.count; ++m) {
      CompensatedSum all;
      for (Index piece = 0; piece < pieces; ++piece) all.add(sums[piece * strings + m]);
      const double value = weight * all.value();
      out[sorted.place[m]] = part.imaginary ? Complex(0, value) : Complex(value, 0);
    }
  }
}

template void pauli_group_sums(const Shard<float>&, ThreadTeam&, InstructionSet, PauliPartners<float>,
                               std::span<const PauliGroup>, std::span<const Index>, std::span<Complex>);
template void pauli_group_sums(const Shard<double>&, ThreadTeam&, InstructionSet, PauliPartners<double>,
                               std::span<const PauliGroup>, std::span<const Index>, std::span<Complex>);

}  // namespace qsim::cpu
