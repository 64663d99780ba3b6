// A sweep that runs once over a state which one tile holds: its operations one after the other, without a program.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "cpu/line_vector.h"
#include "cpu/tile/tile_geometry.h"
#include "kernels/cpu/direct_machine.h"
#include "plan/plan.h"

namespace qsim::cpu {

/// Whether the sweep is for a single run, has the whole shard in one tile, and that is so small that each operation on
/// it takes less than translating it.
bool runs_directly(const Sweep& sweep, std::uint32_t local_bits);

class DirectProgram {
 public:
  DirectProgram(const Sweep& sweep, std::uint32_t local_bits, DirectMachine machine);
  /// Returns the sum of |a|^2 written where `norm`, else 0.
  template <typename T>
  double run(std::complex<T>* shard, bool norm);

 private:
  double& real_part(Index place) {
    return tile_[(place >> machine_.lane_bits << (machine_.lane_bits + 1)) + (place & (lanes() - 1))];
  }
  double& imaginary_part(Index place) { return (&real_part(place))[lanes()]; }
  Index lanes() const { return Index{1} << machine_.lane_bits; }

  Sweep sweep_;
  TileGeometry geometry_;
  DirectMachine machine_;
  LineVector<double> tile_;
};

}  // namespace qsim::cpu
