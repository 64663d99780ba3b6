// How alike two states are, whatever their scale and global phase. Amplitudes are given as they lie in memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "qsim/types.h"

namespace qsim {

/// A fixed vector to project states of `amplitudes` amplitudes on: no symmetry of a state is one of this.
std::vector<Complex> probe(std::size_t amplitudes);

/// |<probe|state>|^2 of the normalised state, in [0, 1]. States at a distance d have values that differ by 2 d at most.
double likeness(std::span<const std::byte> state, std::span<const Complex> probe, Precision precision);

/// The norm of the difference of the two normalised states, one of them turned by the phase that makes it smallest. To
/// about the root of the number of amplitudes times double's rounding: an inner product alone would have half of the
/// digits.
double distance(std::span<const std::byte> a, std::span<const std::byte> b, Precision precision);

}  // namespace qsim
