// Sums over a shard: norm, probabilities of bits, inner products, Pauli sums; and random filling.
#include "cpu/read_out/readouts.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/layout.h"
#include "base/philox.h"
#include "cpu/views.h"
#include "device/numbers/amplitude_hash.h"
#include "device/numbers/compensated.h"
#include "kernels/cpu/blocks.h"

namespace qsim::cpu {
namespace {

/// Contiguous runs of blocks, the unit of work: at most 256 pieces, whatever the number of threads.
struct Pieces {
  Index blocks, count;
  explicit Pieces(Index total_blocks) : blocks(total_blocks), count(std::min<Index>(total_blocks, 256)) {}
  Index begin(Index piece) const { return piece * (blocks / count); }
  Index end(Index piece) const { return (piece + 1) * (blocks / count); }
};

int block_bits(std::uint32_t bits) { return std::min(static_cast<int>(bits), kBlockBits); }

}  // namespace

template <typename T>
double norm(const Shard<T>& shard, ThreadTeam& team) {
  const int bits = block_bits(shard.bits);
  const Pieces pieces(shard.size() >> bits);
  std::vector<CompensatedSum> sums(pieces.count);
  team.run(pieces.count, [&](Index piece, int) {
    for (Index block = pieces.begin(piece); block < pieces.end(piece); ++block) {
      sums[piece].add(norm_block(shard.data + (block << bits), Index{1} << bits));
    }
  });
  CompensatedSum total;
  for (const CompensatedSum& sum : sums) total.add(sum);
  return total.value();
}

template <typename T>
void bit_probabilities(const Shard<T>& shard, ThreadTeam& team, std::span<double> out) {
  const int bits = block_bits(shard.bits);
  const Pieces pieces(shard.size() >> bits);
  const std::size_t values = shard.bits + 1;
  std::vector<CompensatedSum> sums(pieces.count * values);
  std::vector<std::array<double, kBlock>> work(static_cast<std::size_t>(team.size()));
  team.run(pieces.count, [&](Index piece, int worker) {
    CompensatedSum* const sum = sums.data() + piece * values;
    std::array<double, kBlockBits + 1> block_sums{};
    for (Index block = pieces.begin(piece); block < pieces.end(piece); ++block) {
      bit_block(shard.data + (block << bits), bits, block_sums.data(), work[static_cast<std::size_t>(worker)].data());
      const double total = block_sums[static_cast<std::size_t>(bits)];
      for (int bit = 0; bit < bits; ++bit) sum[bit].add(block_sums[static_cast<std::size_t>(bit)]);
      for_each_bit(block << bits, [&](unsigned bit) { sum[bit].add(total); });
      sum[shard.bits].add(total);
    }
  });
  for (std::size_t value = 0; value < values; ++value) {
    CompensatedSum total;
    for (Index piece = 0; piece < pieces.count; ++piece) total.add(sums[piece * values + value]);
    out[value] = total.value();
  }
}

template <typename T>
void pauli_sums(const Shard<T>& shard, ThreadTeam& team, PauliPartners<T> partners, Index x_mask,
                std::span<const Index> z_masks, std::span<Complex> out) {
  const int bits = std::min(static_cast<int>(shard.bits), 10);
  const Index low = (Index{1} << bits) - 1, x = x_mask & (shard.size() - 1);
  Index used = 0;
  for (const Index z : z_masks) used |= z & low;
  const Pieces pieces(shard.size() >> bits);
  std::vector<std::array<CompensatedSum, 2>> sums(pieces.count * z_masks.size());
  std::vector<std::array<double, 2048>> work(static_cast<std::size_t>(team.size()));
  const std::complex<T>* const others = partners.data == nullptr ? shard.data : partners.data;
  team.run(pieces.count, [&](Index piece, int worker) {
    double* const re = work[static_cast<std::size_t>(worker)].data();
    double* const im = re + 1024;
    for (Index block = pieces.begin(piece); block < pieces.end(piece); ++block) {
      const Index base = block << bits;
      product_block(shard.data + base, others + (base ^ (x & ~low)), x & low, low + 1, re, im);
      signed_sums(re, bits, used);
      signed_sums(im, bits, used);
      for (std::size_t j = 0; j < z_masks.size(); ++j) {
        const Index place = extract_bits(z_masks[j], used);
        const double sign = odd_parity((partners.first | base) & z_masks[j]) ? -1 : 1;
        std::array<CompensatedSum, 2>& sum = sums[piece * z_masks.size() + j];
        sum[0].add(sign * re[place]);
        sum[1].add(sign * im[place]);
      }
    }
  });
  for (std::size_t j = 0; j < z_masks.size(); ++j) {
    CompensatedSum re, im;
    for (Index piece = 0; piece < pieces.count; ++piece) {
      re.add(sums[piece * z_masks.size() + j][0]);
      im.add(sums[piece * z_masks.size() + j][1]);
    }
    out[j] = Complex(re.value(), im.value());
    if (partners.data != nullptr) out[j] = odd_parity(x_mask & z_masks[j]) ? Complex(0, im.value()) : re.value();
  }
}

template <typename T>
Complex inner_product(const Shard<T>& shard, ThreadTeam& team, const std::complex<T>* other) {
  const int bits = std::min(static_cast<int>(shard.bits), 10);
  const Pieces pieces(shard.size() >> bits);
  std::vector<std::array<CompensatedSum, 2>> sums(pieces.count);
  std::vector<std::array<double, 2048>> work(static_cast<std::size_t>(team.size()));
  team.run(pieces.count, [&](Index piece, int worker) {
    double* const re = work[static_cast<std::size_t>(worker)].data();
    double* const im = re + 1024;
    for (Index block = pieces.begin(piece); block < pieces.end(piece); ++block) {
      const Index first = block << bits;
      product_block(shard.data + first, other + first, 0, Index{1} << bits, re, im);
      signed_sums(re, bits, 0);
      signed_sums(im, bits, 0);
      sums[piece][0].add(re[0]);
      sums[piece][1].add(im[0]);
    }
  });
  CompensatedSum re, im;
  for (const auto& sum : sums) {
    re.add(sum[0]);
    im.add(sum[1]);
  }
  return {re.value(), im.value()};
}

template <typename T>
std::uint64_t checksum(const Shard<T>& shard, ThreadTeam& team, ChunkView view) {
  const ViewRuns runs(view, shard.bits, 16);
  const Pieces pieces(runs.runs);
  std::vector<std::uint64_t> sums(pieces.count);
  team.run(pieces.count, [&](Index piece, int) {
    std::uint64_t sum = 0;
    for (Index run = pieces.begin(piece); run < pieces.end(piece); ++run) {
      const Index base = runs.base(run), place = base & ~view.mask;
      for (Index i = 0; i < runs.run_length(); ++i) sum += amplitude_hash(shard.data[base + i], place + i);
    }
    sums[piece] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

template <typename T>
void fill_random(const Shard<T>& shard, ThreadTeam& team, const Layout& layout, std::uint32_t rank, std::uint64_t seed,
                 double scale) {
  const int bits = block_bits(shard.bits);
  const std::vector<Qubit> qubit_at = layout.qubit_at();
  std::vector<Bit> qubits(qubit_at.size());
  // to_logical packs bit `bit_of[q]` of the physical index into bit q.
  for (std::size_t qubit = 0; qubit < layout.bit_of.size(); ++qubit) qubits[qubit] = layout.bit_of[qubit];
  const BitPacker logical(qubits);
  const Philox philox(seed, 0);
  const Index rank_part = static_cast<Index>(rank) << shard.bits;
  team.run(shard.size() >> bits, [&](Index block, int) {
    Index high = 0;
    for (Index i = block << bits; i < (block + 1) << bits; ++i) {
      if ((i & 255) == 0 || i == block << bits) high = logical.high_part(rank_part | i);
      const auto [re, im] = philox.gaussian_pair(high | logical.low(rank_part | i));
      shard.data[i] = std::complex<T>(static_cast<T>(re * scale), static_cast<T>(im * scale));
    }
  });
}

#define QSIM_INSTANTIATE(T)                                                                               \
  template double norm(const Shard<T>&, ThreadTeam&);                                                     \
  template void bit_probabilities(const Shard<T>&, ThreadTeam&, std::span<double>);                       \
  template void pauli_sums(const Shard<T>&, ThreadTeam&, PauliPartners<T>, Index, std::span<const Index>, \
                           std::span<Complex>);                                                           \
  template Complex inner_product(const Shard<T>&, ThreadTeam&, const std::complex<T>*);                   \
  template std::uint64_t checksum(const Shard<T>&, ThreadTeam&, ChunkView);                               \
  template void fill_random(const Shard<T>&, ThreadTeam&, const Layout&, std::uint32_t, std::uint64_t, double);
QSIM_INSTANTIATE(float)
QSIM_INSTANTIATE(double)
#undef QSIM_INSTANTIATE

}  // namespace qsim::cpu
