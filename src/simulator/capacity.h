// Whether a run fits, said before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "qsim/plan.h"

namespace qsim {

/// What a pool needs to hold any one of the program's plans and the tables of all of them on 2^rank_bits ranks, which
/// play the ranks of the plans where those are more.
PoolLayout program_layout(const Program& program, const Machine& machine, std::uint32_t rank_bits);

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
