// A sweep's meaning on a whole shard, word for word, and random sweeps to try it on.
#pragma once

#include <vector>

#include "base/philox.h"
#include "device/backend.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::test {

/// Bits that are still unborn after `sweep`.
Index unborn_after(const Sweep& sweep);

/// What memory holds after `sweep` on the tiles inside `chunk`. Where a still unborn bit is 1 the value means nothing.
std::vector<Complex> reference_sweep(const Sweep& sweep, ChunkView chunk, std::uint32_t bits,
                                     const std::vector<Complex>& memory);

struct SweepShape {
  std::uint32_t bits = 0;  // of the shard
  std::uint32_t active = 0;
  std::uint32_t operations = 0;
  int max_targets = kMaxMatrixTargets;
  bool births = false;    // some bits are unborn before
  bool reach = false;     // active bits flip others of memory; without births
  bool reads = true;      // false: all are, and the sweep writes the first state
  bool phases = false;    // flips and phases alone, each of any bits
  bool permutes = false;  // flips, of any bits, and with `phases` whole sixteenths of a turn or any phase of all
                          // amplitudes; no bit is active
  bool affine = false;    // no flip has more than one control, phases are of everything
  std::uint32_t global_bits = 0;  // above those of the shard; where it permutes and does not read
};
Sweep random_sweep(PhiloxSequence& random, const SweepShape& shape);
/// Normalised.
std::vector<Complex> random_state(PhiloxSequence& random, std::uint32_t bits);
std::vector<Complex> random_unitary(PhiloxSequence& random, std::size_t order);

}  // namespace qsim::test
