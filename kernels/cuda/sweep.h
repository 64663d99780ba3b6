// Parameters of the sweep interpreter, as they lie in constant memory, and its launch.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace qsim::cuda {

template <class Real>
struct Complex2;
template <>
struct Complex2<double> {
  using Type = double2;
};
template <>
struct Complex2<float> {
  using Type = float2;
};
template <class Real>
using Amplitude = typename Complex2<Real>::Type;

constexpr int kMaxRuns = 32;  // runs of neighbouring tile bits
constexpr int kMaxProgramWords = 1536;
constexpr int kMaxProgramReals = 2048;
constexpr int kMaxTileFactors = 256;
// Of a factor's entries: instead of the thread bit. A parity comes first: the constant is 1 where it is another one.
constexpr std::uint32_t kTurnedEntry = 128, kMirroredEntry = 64, kParityEntry = 32;
constexpr int kMaxThreadBits = 8;  // 256 threads a block
constexpr int kMaxSlots = 5;
constexpr int kNormCells = 64;
constexpr int kMaxStartBirths = 40;

/// One bit of a tile factor's sum: angle (in units of pi) where all of `mask` is set in the tile's base index.
struct alignas(16) TileAngle {
  std::uint64_t mask;
  double half_turns;
};

constexpr double kNormCoarse = 0x1p30, kNormFine = 0x1p38;
/// Running total of a norm in fixed point, so that the order of blocks does not matter: (coarse + fine / kNormFine) /
/// kNormCoarse. There is no carry from one to the other, which a block would wait for: norms to 2^34 and 2^26 additions
/// to a cell fit. Each on a line of its own: all of them on a few would be what the second-level cache is busy with.
struct alignas(128) NormCell {
  unsigned long long coarse, fine;
};
inline double norm_of(const NormCell (&cells)[kNormCells]) {
  double coarse = 0, fine = 0;
  for (const NormCell& cell : cells) {
    coarse += static_cast<double>(cell.coarse) / kNormCoarse;
    fine += static_cast<double>(cell.fine) / kNormFine / kNormCoarse;
  }
  return coarse + fine;
}

/// Word codes of the interpreter; the words that follow each are listed in sweep_machine.cuh and written by encode.cpp.
enum class Code : std::uint32_t {
  kEnd,
  kGuard,
  kRotate,
  kMatrix1,
  kMatrix2,
  kDense,
  kSwap,
  kPair,
  kMultiply,
  kScale,
  kRegroup
};

template <class Real>
struct SweepParams {
  Amplitude<Real>* state;
  const Amplitude<Real>* tables;     // thread tables, one after the other
  const std::uint32_t* addresses;    // of threads at each regroup
  const TileAngle* angles;           // of the tile factors
  const std::uint32_t* angle_begin;  // [tile_factors + 1]
  const Amplitude<Real>* dense;      // matrices of dense operations
  NormCell* norm;                    // null: no norm
  std::uint64_t base;                // index bits that all tiles share (chunk)
  std::uint64_t run_mask[kMaxRuns];  // tile number -> index: sum of (tile << shift) & mask
  std::uint8_t run_shift[kMaxRuns];
  std::uint64_t load_thread[kMaxThreadBits], load_slot[kMaxSlots];
  std::uint64_t store_thread[kMaxThreadBits], store_slot[kMaxSlots];
  std::uint64_t store_offset;
  std::uint64_t zero_tiles;
  Real start_register[kMaxSlots][2][2];
  Real start_constant[2];
  Real start_tile[kMaxStartBirths][2][2];
  std::uint64_t start_tile_bit[kMaxStartBirths];
  std::uint32_t dead_load_threads, dead_store_threads;      // masks over the thread's number
  std::uint32_t dead_load_registers, dead_store_registers;  // sets of registers
  std::int32_t start_table;                                 // -1: none
  std::uint32_t start_tile_count, start_slots;              // start_slots: slots that start_register changes
  std::uint32_t runs, tile_factors, thread_bits;
  std::uint8_t reads, start_scaled;
  std::uint8_t store_wait;  // what must have loaded before a thread stores; 0: itself, 1: its warp, 2: the block
  std::uint32_t words[kMaxProgramWords];
  Real reals[kMaxProgramReals];
};

// A kernel's parameters lie in constant memory too.
static_assert(sizeof(SweepParams<double>) + sizeof(std::uint64_t) <= 32764 && sizeof(SweepParams<float>) <= 32764);

constexpr int register_bits(double) { return 4; }
constexpr int register_bits(float) { return 5; }

/// Whether the current device has code for the interpreter.
cudaError_t sweep_kernel_status();

/// Runs the program on tiles [0, tiles), one a block.
cudaError_t launch_sweep(const SweepParams<double>& params, std::uint64_t tiles, cudaStream_t stream);
cudaError_t launch_sweep(const SweepParams<float>& params, std::uint64_t tiles, cudaStream_t stream);

}  // namespace qsim::cuda
