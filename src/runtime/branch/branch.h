// One way through a program: where it is, what it has measured, which shots took it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/layout.h"
#include "classical/variables.h"
#include "qsim/types.h"
#include "runtime/read_out/classical_bits.h"

namespace qsim {

/// An outcome of a measurement or reset.
struct Choice {
  bool one = false;
  double share = 1;        // of the branch
  double probability = 1;  // in the branch's state as it is scaled
};

/// Shots that have been through as many draws: the next one of each is that number.
struct ShotList {
  std::uint32_t draws = 0;           // 0 where a step's draw has the same number in every branch
  std::vector<std::uint64_t> shots;  // numbers, rising
};
using ShotLists = std::vector<ShotList>;  // of different draws

struct Branch {
  std::size_t step = 0;
  ClassicalBits bits;
  Variables memory;              // variables of the control
  std::uint64_t taken = 0;       // steps of control so far
  std::uint64_t iterations = 0;  // jumps back so far
  std::uint64_t gates = 0;       // run so far, and what their matrices lack of being unitary
  double defect = 0;
  Index known = 0,
        known_one = 0;           // qubits that nothing has acted on since they were measured or reset; those that are 1
  double weight = 1, norm = 1;   // probability of the branch; total probability of its scaled state
  std::uint64_t shot_count = 0;  // of all shots, before the first split; their numbers are then not listed
  ShotLists shots;               // of those that took this branch
  std::uint64_t drawn() const {
    std::uint64_t drawn = shot_count;
    for (const ShotList& list : shots) drawn += list.shots.size();
    return drawn;
  }
};

}  // namespace qsim
