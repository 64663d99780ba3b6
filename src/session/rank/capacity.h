// Whether a run fits, said before anything is allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/ranks/communicator.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/program/layout.h"
#include "plan/program/planned_circuit.h"
#include "qsim/types.h"

namespace qsim {

/// Adds to the pool of a dynamic program, of the half of what is left of `usable_bytes`, as many saved states as may be
/// wanted. Returns their number.
std::uint32_t add_snapshots(PoolLayout& pool, const PlannedCircuit& program, std::uint64_t usable_bytes);

/// The memory that ranks may use, where it is least and where it is most. "GPU 2" or empty: the device of that rank.
struct RanksMemory {
  std::uint64_t least_bytes = 0, most_bytes = 0;
  int least_rank = 0, most_rank = 0;
  std::string least_device, most_device;
  /// What to tell the user where ranks differ by more than 2 %; empty otherwise.
  std::string warning() const;
};
/// Collective. `gpu`: the number of this rank's GPU, -1 without one. The lowest rank on ties.
RanksMemory agree_on_memory(Communicator& communicator, std::uint64_t usable_bytes, int gpu);

struct CapacityQuestion {
  std::uint32_t qubits = 0;
  Precision precision = Precision::kDouble;
  int rank = 0, ranks = 1;
  std::string device;                                // "GPU 2", or empty
  std::uint64_t needed_bytes = 0, usable_bytes = 0;  // a rank
  std::uint64_t read_out_bytes = 0;                  // of those needed
  std::string read_out;                              // what takes most of them
  std::uint32_t rank_bits = 0;
};

/// Throws CapacityError with the sizes and what would fit when needed_bytes exceeds usable_bytes.
void require_capacity(const CapacityQuestion& question, const Machine& machine);

}  // namespace qsim
