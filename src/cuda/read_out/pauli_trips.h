// Pauli strings packed nine at a time into tiles that their X parts span: one trip over the shard for each nine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/shard_reader.h"
#include "kernels/cuda/readout.h"

namespace qsim::cuda {

/// Shards from here on are summed so: on smaller ones trips are short beside what each costs to begin and end, and
/// fewer ones of more strings (pauli_spans.h) are faster.
constexpr std::uint32_t kLeastTripBits = 23;

struct PauliMember {
  Index x = 0, z = 0;
  std::uint32_t place = 0;  // of its sum
};
/// Strings in the order in which they are packed, kTripStrings at a time, whatever their X parts.
struct PauliStrings {
  std::vector<PauliMember> spanned;
  std::vector<PauliGroup> apart;  // without an X part, or a last one alone
};
/// `z_masks` and the groups' places as in ShardReader::pauli_sums.
PauliStrings split_pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks);

struct PackedTrip {
  PauliTrip trip;
  std::vector<std::uint32_t> places;  // of its strings' sums
};
/// At most kTripStrings members: their X parts span no more than a tile has.
PackedTrip pack_trip(std::span<const PauliMember> members, std::uint32_t local_bits, bool double_precision);

}  // namespace qsim::cuda
