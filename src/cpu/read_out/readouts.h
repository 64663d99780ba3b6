// Read-outs of a shard in host memory, shared among a team of threads. Work is cut into pieces that do not depend on
// the number of threads and added up in order, so results do not either.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "base/threads/thread_team.h"
#include "device/backend.h"

namespace qsim::cpu {

/// A shard: 2^bits amplitudes.
template <typename T>
struct Shard {
  std::complex<T>* data = nullptr;
  std::uint32_t bits = 0;
  Index size() const { return Index{1} << bits; }
};

// The meanings are those of Backend's verbs of the same names.
template <typename T>
double norm(const Shard<T>& shard, ThreadTeam& team);
template <typename T>
void bit_probabilities(const Shard<T>& shard, ThreadTeam& team, std::span<double> out);
template <typename T>
void histogram(const Shard<T>& shard, ThreadTeam& team, std::span<const Bit> bits, std::span<double> out);
template <typename T>
void unit_histogram(const Shard<T>& shard, ThreadTeam& team, ChunkView view, std::span<const Bit> bits,
                    std::span<std::uint64_t> out);
template <typename T>
void locate(const Shard<T>& shard, ThreadTeam& team, std::span<const Bit> block_bits, std::span<const Bit> order,
            std::span<const UnitDraw> draws, std::span<Index> out);
template <typename T>
std::vector<IndexProbability> top(const Shard<T>& shard, ThreadTeam& team, std::size_t count, const Layout& layout,
                                  std::uint32_t rank);
/// Another rank's amplitudes as partners of those from index `first` on, which is a multiple of their number.
template <typename T>
struct PauliPartners {
  const std::complex<T>* data = nullptr;  // null: the shard's own
  Index first = 0;
};
/// With partners from elsewhere, `shard` is the part that they belong to, and the sums are those of pauli_sums_remote.
template <typename T>
void pauli_sums(const Shard<T>& shard, ThreadTeam& team, PauliPartners<T> partners, Index x_mask,
                std::span<const Index> z_masks, std::span<Complex> out);
template <typename T>
Complex inner_product(const Shard<T>& shard, ThreadTeam& team, const std::complex<T>* other);
template <typename T>
std::uint64_t checksum(const Shard<T>& shard, ThreadTeam& team, ChunkView view);
template <typename T>
void fill_random(const Shard<T>& shard, ThreadTeam& team, const Layout& layout, std::uint32_t rank, std::uint64_t seed,
                 double scale);

}  // namespace qsim::cpu
