// A sweep translated for vector registers: what src/cpu writes and the tile machines of this folder run. Plain data.
//
// A tile lies in a buffer as complex vectors: V real parts, then V imaginary parts (V = 2^lane_bits amplitudes). A
// place in a tile has K position bits: the lane_bits lowest choose the lane, the others the vector. A pass walks the
// tile once: it takes groups of 2^R complex vectors that differ in R register positions into registers, runs its
// micro-operations on them and puts them back.
#pragma once

#include <complex>
#include <cstdint>

#include "qsim/types.h"

namespace qsim::cpu {

constexpr int kMaxRegisterBits = 3;

/// What a micro-operation does to the vectors x[i] of a group. `bit` is a register bit or a lane bit. x0 and x1 differ
/// in that register bit; s(x) is x with the lanes exchanged that differ in that lane bit. Coefficients c[] are scalars
/// for register bits and vectors (V values each) for lane bits.
enum class Micro : std::uint8_t {
  kDiagonal,  // x[i] *= table[i], i in `vectors`; tables follow each other, chosen by the group's bits in `group_mask`
  kTileDiagonal,   // the same with the table that was made for this tile
  kGroupFactor,    // x[i] *= the tile's factor of this group
  kShearA,         // x0 + c0 x1, x1 + c1 x0
  kShearB,         // x1 + c0 x0, x0 + c1 x1
  kShearC,         // c0 x0 - x1, x0 + c1 x1
  kCrossA,         // x0 + i c0 x1, x1 + i c1 x0
  kCrossB,         // x1 + i c0 x0, x0 + i c1 x1
  kReal,           // c0 x0 + c1 x1, c2 x0 + c3 x1
  kCross,          // c0 x0 + i c1 x1, i c2 x0 + c3 x1
  kGeneral,        // complex 2x2: c0 + i c1, ...
  kGeneralMasked,  // the same in the lanes of `lanes`
  kFlip,           // exchanges x0 and x1
  kFlipMasked,     // the same in the lanes of `lanes`
  kLaneFlip,       // s(x) in the lanes of `lanes`
  kLaneShearA,     // x + c0 s(x)
  kLaneShearB,     // s(x) + c0 x
  kLaneReal,       // c0 x + c1 s(x)
  kLaneCrossA,     // x + i c0 s(x)
  kLaneCrossB,     // s(x) + i c0 x
  kLaneCross,      // c0 x + i c1 s(x)
  kLaneGeneral,    // (c0 + i c1) x + (c2 + i c3) s(x)
  kExchange,       // exchanges lane bit `other` with register bit `bit`
  kMatrix4,        // complex 4x4 on register bits `bit` (low) and `other`, row-major
  kMatrix4Masked,  // the same in the lanes of `lanes`
  kParity4,        // a 4x4 that mixes x00 with x11 and x01 with x10 alone: complex 2x2 of the first, then of the second
  kParityReal,     // the same where each of the two is a kReal
  kParityCross,    // and where each is a kCross
  kLaneMatrix4,    // complex 4x4 on register bit `bit` and lane bit `other`: for x0, s(x0), x1, s(x1) what each
                   // contributes to x0 and to x1
  kLaneParity4,    // the same where x0 and s(x1) mix, and x1 and s(x0)
};

struct MicroOp {
  Micro kind = Micro::kFlip;
  std::uint8_t bit = 0, other = 0;
  // The vectors acted on; kinds on register bits: the x0 of their pairs, the x00 of their quads.
  std::uint8_t vectors = 0xff;
  std::uint16_t lanes = 0xffff;
  std::uint32_t group_mask = 0, group_value = 0;  // acts on groups with (vector index & mask) == value
  std::uint32_t table_stride = 0;                 // diagonals: reals from one table to the next
  std::uint64_t data = 0;  // index into coefficients (kTileDiagonal: number of the tile diagonal)
  // Acts on tiles with (base & mask) == value and, where parity_mask is not 0, an odd number of its bits in the base.
  Index tile_mask = 0, tile_value = 0, parity_mask = 0;
};

/// A dense matrix on 2..6 targets, or a walk of micro-operations.
struct Pass {
  std::uint8_t register_bits[kMaxRegisterBits] = {};  // vector-index bits, ascending
  bool dense = false;
  std::uint32_t op_begin = 0, op_end = 0;
  // Dense: conditions and coefficients of the one op of the range; targets are vector-index bits.
  std::uint8_t targets[6] = {};
  std::uint8_t target_count = 0;
};

/// The phases of a diagonal that depend on the tile: a product of one entry for each piece (6 bits) of the tile's
/// number. An entry: V real and V imaginary parts by lane; then 2^R complex scalars by register combination; then,
/// where `groups`, 2^(vector bits) / 2^R complex scalars by group.
struct TileDiagonal {
  std::uint64_t pieces_data = 0;  // index into coefficients
  std::uint32_t entry_reals = 0;
  std::uint8_t vectors = 0xff;  // those whose table is not 1 everywhere
  bool groups = false;
  bool fixed = false;  // fixed_data: a table of 2^R vectors to multiply by
  std::uint64_t fixed_data = 0;
};

/// Multiplies tiles whose base has (base & mask) == value and, where parity_mask is not 0, an odd number of its bits.
struct TileScale {
  Index mask = 0, value = 0, parity_mask = 0;
  double re = 1, im = 0;
};

enum class Load : std::uint8_t {
  kUnits,     // half vectors of consecutive amplitudes from memory
  kElements,  // one amplitude at a time
  kStart,     // nothing is read: the start table
};

constexpr Index kNowhere = ~Index{0};

template <typename T>
struct TileProgramView {
  std::uint64_t vectors = 0;  // 2^(K - lane_bits)
  Load load = Load::kUnits;
  bool store_units = true;
  bool stream = false;  // stores go past the caches
  bool ahead = false;   // the next tile is loaded while this one is worked on
  // Offsets from a tile's base, in amplitudes: of half vectors or of elements, in buffer order. kNowhere: zeros, or not
  // stored.
  const Index* load_offsets = nullptr;
  const Index* store_offsets = nullptr;
  const T* start = nullptr;  // complex vectors by which the loaded values are multiplied; null: none
  const Pass* passes = nullptr;
  std::uint32_t pass_count = 0;
  const MicroOp* ops = nullptr;
  const T* coefficients = nullptr;
  const TileDiagonal* tile_diagonals = nullptr;
  std::uint32_t tile_diagonal_count = 0;
  std::uint64_t table_reals = 0;           // of one tile diagonal in scratch: 2^R vectors, then a scalar a group
  int pieces = 0;                          // of the tile number, 6 bits each
  const double* scalar_pieces = nullptr;   // [piece][64] complex: phase of the whole tile
  const TileScale* tile_scales = nullptr;  // further phases of whole tiles
  std::uint32_t tile_scale_count = 0;
  std::complex<double> scale{1};  // of everything stored
};

constexpr std::uint64_t kMaxBatch = 8;

/// A batch to do: one tile, or 2, 4, 8 that are neighbours in memory. Those are loaded and stored together, so that
/// memory is read in longer runs than a tile has.
struct TileTask {
  Index base = 0;    // of the first tile
  Index number = 0;  // its base's bits that name tiles, packed; the others' follow
  std::uint64_t tiles = 1;
  Index tile_step = 0;             // from one tile's base to the next
  std::complex<double> factor{1};  // of what is loaded; 0: the tiles start (and stay) zero
  bool loaded = false;             // the batch has been loaded ahead
  Index next_base = kNowhere;      // batch to load ahead
};

/// Memory of one thread.
template <typename T>
struct TileScratch {
  T* tile = nullptr;    // 2^(K + 1) reals for each tile of a batch
  T* next = nullptr;    // the same, for the batch that is loaded ahead
  T* tables = nullptr;  // of tile diagonals, table_reals each
  const MicroOp** enabled = nullptr;
  std::complex<T>* dense = nullptr;        // 64 complex vectors
  std::complex<double>* scales = nullptr;  // one a tile of a batch
};

/// Runs one batch; returns the sum of |a|^2 that it stored where `norm`.
template <typename T>
using TileFunction = double (*)(const TileProgramView<T>& program, std::complex<T>* shard, const TileTask& task,
                                const TileScratch<T>& scratch, bool norm);

/// A machine: its vectors, and its code.
template <typename T>
struct TileMachine {
  int lane_bits = 0, register_bits = 0;
  TileFunction<T> run = nullptr;
};
TileMachine<float> tile_machine_single_avx2();
TileMachine<double> tile_machine_double_avx2();
TileMachine<float> tile_machine_single_avx512();
TileMachine<double> tile_machine_double_avx512();

}  // namespace qsim::cpu
