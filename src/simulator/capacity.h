// Whether a run fits, said before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qsim/plan.h"

namespace qsim {

struct CapacityQuestion {
  std::uint32_t qubits = 0;
  Precision precision = Precision::kDouble;
  int rank = 0, ranks = 1;
  std::string device;                                // "GPU 2", or empty
  std::uint64_t needed_bytes = 0, usable_bytes = 0;  // a rank
  std::uint32_t rank_bits = 0;
};

/// Throws CapacityError with the sizes and what would fit when needed_bytes exceeds usable_bytes.
void require_capacity(const CapacityQuestion& question, const Machine& machine);

}  // namespace qsim
