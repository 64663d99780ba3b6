// Over how many ranks a circuit can be split.
#pragma once

#include "qsim/circuit.h"

namespace qsim {

/// Fewest local bits that every operation can be brought to.
std::uint32_t needed_local_bits(const Circuit& circuit);

}  // namespace qsim
