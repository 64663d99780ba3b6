// Many Pauli sums of one shard at once: groups that share their partners' tile run while both tiles are in cache.
#pragma once

#include <span>

#include "cpu/read_out/readouts.h"

namespace qsim::cpu {

/// Backend::pauli_group_sums and, with partners from elsewhere, pauli_sums_remote, with the loops of `instruction_set`;
/// the shard has at least 2^kPauliBlockBits amplitudes.
template <typename T>
void pauli_group_sums(const Shard<T>& shard, ThreadTeam& team, InstructionSet instruction_set,
                      PauliPartners<T> partners, std::span<const PauliGroup> groups, std::span<const Index> z_masks,
                      std::span<Complex> out);

}  // namespace qsim::cpu
