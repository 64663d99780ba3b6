// One way through a program: where it is, what it has measured, which shots took it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/layout.h"
#include "classical/variables.h"
#include "qsim/types.h"
#include "runtime/read_out/classical_bits.h"
#include "runtime/read_out/sampling.h"

namespace qsim {

/// An outcome of an instrument.
struct Choice {
  std::uint32_t outcome = 0;
  double share = 1;        // of the branch
  double probability = 1;  // in the branch's state as it is scaled
};

struct Branch {
  std::size_t step = 0;
  ClassicalBits bits;
  Variables memory;              // variables of the control
  std::uint64_t taken = 0;       // steps of control so far
  std::uint64_t iterations = 0;  // jumps back so far
  std::uint64_t gates = 0;       // run so far, and what their matrices lack of being unitary
  double defect = 0;
  Index known = 0,
        known_one = 0;          // qubits that nothing has acted on since they were measured or reset; those that are 1
  double weight = 1, norm = 1;  // probability of the branch; total probability of its scaled state
  ShotLists shots;              // of those that took this branch
  std::uint64_t drawn() const {
    std::uint64_t drawn = 0;
    for (const ShotList& list : shots) drawn += list.size();
    return drawn;
  }
};

}  // namespace qsim
