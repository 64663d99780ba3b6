// Sweeps whose flips have at most one control (is_affine): where an amplitude comes from and where it goes are XORs of
// a column for each bit of a number that counts the amplitudes, in an order that may be chosen.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// Amplitude k of a bundle goes to the XOR of `to` (places in the bundle, packed) over the bits of k, and comes from
/// the XOR of `from` (places) and source_of() the bundle's first place.
struct AffineGather {
  std::vector<Index> to, from;
};

/// `sweep` permutes and is_affine(). The first `lanes` bits of k lead to neighbours, as far as the bundle has any; the
/// next ones come from the lowest `line_bits` bits of a place, as far as they lead elsewhere: so that what lies
/// together in memory is written, and read, together.
AffineGather affine_gather(const Sweep& sweep, std::uint32_t lanes, std::uint32_t line_bits);

/// Where `sweep` takes what is at `place`, and where it takes from what goes there.
Index target_of(const Sweep& sweep, Index place);
Index source_of(const Sweep& sweep, Index place);

}  // namespace qsim
