// Source text of a kernel that does one tile program and nothing else: straight-line code with bit positions, angles
// and matrix entries as arguments, equal ones once. Programs of one structure whose numbers are equal in the same
// places give the same text, so the text is the cache's key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/tile/tile_program.h"
#include "plan/plan.h"
#include "qsim/target.h"

namespace qsim::cuda {

/// A text that begins with this is assembled with few optimisations (ptxas -O1).
inline constexpr std::string_view kAssembledSimply = "// assembled simply\n";

struct GeneratedSweep {
  std::string source;               // CUDA C++ for NVRTC; the kernel's name is "sweep"
  std::vector<std::uint64_t> ints;  // arguments p.u
  std::vector<double> reals;        // arguments p.d
  std::uint32_t shared_bytes = 0;   // dynamic shared memory of a block
  // Of a program with arrivals: p.u[origins + v], filled in at launch, leads in bytes from the place in the state to
  // where amplitudes are whose bits under `arrivals` (neighbours) have value v.
  std::size_t origins = 0;
  std::vector<Bit> summed;  // where the kernel sums bits: those of p.cells, in their order
};

GeneratedSweep generate(const TileProgram& program);

/// A sweep that permutes, of a shard of 2^local_bits, specialised; its flips are straight-line code. It takes
/// PermutationPointers and the bits of the bundle that it is to gather.
GeneratedSweep generate_permutation(const Sweep& sweep, std::uint32_t local_bits, Precision precision);

/// Its first argument. `tables`: as of ProductArguments (kernels/cuda/permute.h), but real numbers where all of them
/// are.
struct PermutationPointers {
  const void* state = nullptr;
  void* gathered = nullptr;  // of the first write: the state
  const void* tables = nullptr;
  void* norm = nullptr;
  std::uint64_t fixed = 0;  // the bits of every place outside the bundle
  double scale[2] = {};     // of every amplitude, what it is or what it is multiplied by
};
constexpr std::uint32_t kPermutationThreads = 256;
/// Amplitudes that a block makes at a time.
constexpr std::uint32_t kPermutationBlock = 32 * kPermutationThreads;

/// Bytes of the kernel's first argument before p.u: see the struct in the text.
constexpr std::size_t kGeneratedPointers = 8;
/// p.u begins with the number of runs of tile bits and (shift, mask) of each; they are filled in at launch.
constexpr std::size_t kGeneratedRuns = 32;

/// p.cells, of kernels that sum bits: kSumCells times kCellBits pairs. Bit `summed[v]` has pair v of each cell, whose
/// first number counts 2^-62 and whose second 2^-100 of probability: whole numbers, so that the order of blocks does
/// not matter. p.totals: the probability of each tile.
constexpr std::size_t kSumCells = 64, kCellBits = 16;
constexpr std::size_t kCellWords = 2 * kSumCells * kCellBits;

}  // namespace qsim::cuda
