// A specialised sweep as a tile program: geometry, epochs, merged phases, folded flips.
#pragma once

#include <optional>

#include "cuda/tile/tile_program.h"
#include "plan/plan.h"

namespace qsim::cuda {

struct LowerOptions {
  Precision precision = Precision::kDouble;
  std::uint32_t local_bits = 0;
  Index outside = 0;  // bits that must not become part of the tile: a chunk view fixes them
  int register_bits = 4;
  int max_bits = 12;            // tiles are filled up to this many bits where there are enough tiles
  bool sums_bits = false;       // generated kernels sum each bit's probability while they store
  bool canonical = false;       // blocks of two targets may become their canonical form, where that is less work
  bool lanes = false;           // tensor cores: blocks of two targets may be done on lanes, where that is less work
  bool lookups = false;         // generated kernels read phases of many terms on few bits from tables of those bits
  std::size_t angle_share = 1;  // how many threads may add up the angles of a tile factor
  std::uint32_t trials = 1;     // schedules that are tried; that of the least work is taken
  std::optional<LowerChoice> choice = {};  // of the same sweep with other numbers: nothing is tried
};

/// For a shard of 2^local_bits amplitudes, with the registers and the tiles that kernels have; and with all that
/// generated kernels can do beside the interpreter.
LowerOptions lower_options(std::uint32_t local_bits, Precision precision);
LowerOptions kernel_options(std::uint32_t local_bits, Precision precision);

TileProgram lower_sweep(const Sweep& sweep, const LowerOptions& options);

}  // namespace qsim::cuda
