// Sweeps whose flips have at most one control (is_affine): where an amplitude comes from and where it goes are XORs of
// a column for each bit of a number that counts the amplitudes, in an order that may be chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// The XOR of the columns of the bits of `number`.
Index combined(Index number, const std::vector<Index>& columns);

/// Amplitude k of a bundle goes to the XOR of `to` over the bits of k, and comes from the XOR of `from` (places) and
/// the bundle's source.
struct AffineGather {
  std::vector<Index> to, from;
  Index first_source = 0;         // of the first bundle
  std::vector<Index> fixed_from;  // what each bit of a bundle's number changes of it
  Index source(Index bundle) const;
};

/// `sweep` of a shard of 2^local_bits permutes and is_affine(); `fixed`: the bits that number its bundles. `to` are
/// places where it is one bundle, else places in the bundle, packed. The first `lane_bits` bits of k lead to
/// neighbours, as far as the bundle has any; the next ones come from the lowest `line_bits` bits of a place, as far as
/// they lead elsewhere: so that what lies together in memory is written, and read, together.
AffineGather affine_gather(const Sweep& sweep, std::uint32_t local_bits, Index fixed, std::uint32_t lane_bits,
                           std::uint32_t line_bits);

}  // namespace qsim
