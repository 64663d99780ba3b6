// How many bytes a state takes, for any number of qubits that an index can name.
#pragma once

#include <cstdint>
#include <string>

#include "base/bits.h"
#include "qsim/error.h"
#include "qsim/types.h"

namespace qsim {

/// Of 2^bits amplitudes, bits at most 62; 2^64 - 1 where they are more.
constexpr std::uint64_t state_bytes(Precision precision, std::uint32_t bits) {
  return saturating_multiply(std::uint64_t{1} << bits, amplitude_bytes(precision));
}

/// CapacityError for more qubits than an index can name.
inline void require_addressable(std::uint32_t qubits) {
  if (qubits <= static_cast<std::uint32_t>(kMaxQubits)) return;
  throw CapacityError(std::to_string(qubits) + " qubits do not fit any machine: at most " + std::to_string(kMaxQubits) +
                          " can be addressed",
                      0, 0);
}

}  // namespace qsim
