// What a sweep does to one tile, ready for a GPU block: amplitudes in registers, changed between epochs through shared
// memory. Both tiers (interpreter and generated kernels) and the host emulator of the tests run this value.
//
// A tile's amplitude has a coordinate: bit i of it is the amplitude's index bit active[i]. Coordinates past the active
// bits are phantoms (always 0), so that a tile never has fewer than the bits that a warp and its registers need.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::cuda {

using Coordinate = std::uint32_t;  // coordinate in a tile, or a mask over it

constexpr int kMaxTileBits = 13;
constexpr int kMaxRegisterBits = 5;
constexpr int kLanePair = 2;  // lowest bits of a thread's number: the block's targets in TileOpKind::kLanes
constexpr Bit kPhantom = 255;

/// Holds for a tile when (base & mask) == value and, where parity_mask is not 0, parity(base & parity_mask) is `odd`.
struct TileGuard {
  Index mask = 0, value = 0, parity_mask = 0;
  bool odd = false;
  bool always() const { return mask == 0 && parity_mask == 0; }
  bool holds(Index base) const;
  friend bool operator==(const TileGuard&, const TileGuard&) = default;
};

/// exp(i angle) where all bits of `mask` are set in the tile's base index.
struct TileTerm {
  Index mask = 0;
  double angle = 0;
};

/// Whether the bits `threads` of a thread's number and the bits `tile` of the base have that parity together.
struct ParityPart {
  std::uint32_t threads = 0;
  Index tile = 0;
  bool odd = true;
};

/// An entry of a table of all values of some bits: first + the bits `threads` of a thread's number, packed, + those of
/// the base under `tile`, packed, behind them.
struct Lookup {
  int table = 0;
  std::uint32_t threads = 0;
  Index tile = 0;
  std::uint32_t first = 0;
  std::size_t place(std::uint32_t thread_number, Index base) const;
};

/// A complex number a thread multiplies with: constant (1 where `where` says no) * tables[table][thread] * tile factor
/// * the tile factors of the set bits of the thread's number * the entries of more tables, conjugate where a tile
/// factor, which is 1 or -1, is -1 * more tile factors, conjugate in threads of odd parity. Or nothing but the entry of
/// a lookup.
struct Factor {
  bool present = false;
  Complex constant{1, 0};
  std::optional<Lookup> lookup;
  std::optional<ParityPart> where;
  int table = -1;
  int tile = -1;
  std::vector<std::pair<int, int>> cross;               // (thread bit, tile factor)
  std::vector<std::pair<int, int>> turned;              // (table, tile factor)
  std::vector<std::pair<int, std::uint32_t>> mirrored;  // (tile factor, the bits of the thread's number)
};

/// Scaled 2x2 forms of two multiply-adds an amplitude; t is the tangent (or, in the swapped forms, the cotangent).
enum class Rotation : std::uint8_t {
  kNone,
  kReal,           // [1 -t; t  1]
  kRealMinus,      // [1  t; t -1]
  kImaginary,      // [1 -it; -it 1]
  kRealSwap,       // [t -1; 1  t]
  kRealSwapMinus,  // [t  1; 1 -t]
  kImaginarySwap,  // [t -i; -i t]
};

enum class TileOpKind : std::uint8_t {
  kRotate,    // rotation[s], tangent[s] on every register slot s
  kMatrix1,   // 2x2 on slots[0]
  kMatrix2,   // 4x4 on slots[0] < slots[1]; bit 0 of a matrix index is slots[0]
  kLanes,     // 4x4 on the lowest two bits of the thread's number, in that order; of every register
  kDense,     // matrix on the coordinates `targets`, in registers or not
  kSwap,      // X on slots[0]
  kPair,      // factor[0] everywhere, [1] where slots[0] is 1, [2] where slots[1] is 1, [3] where both are
  kMultiply,  // factor[0] on the registers of `set`
};

struct TileOp {
  TileOpKind kind = TileOpKind::kMultiply;
  TileGuard guard;
  std::uint32_t thread_mask = 0, thread_value = 0;  // kMatrix1, kMatrix2, kSwap: threads that take part
  std::array<std::uint8_t, 2> slots{};
  std::uint32_t set = 0;  // kMultiply: registers; kMatrix*, kSwap: registers with 0 on the slots that head a group
  std::array<Rotation, kMaxRegisterBits> rotation{};
  std::array<double, kMaxRegisterBits> tangent{};
  std::uint32_t open = 0;  // kRotate: slots where generated kernels ask whether the form is the swapped one
  std::vector<Complex> matrix;
  std::vector<std::uint8_t> targets;               // kDense
  Coordinate control_mask = 0, control_value = 0;  // kDense
  std::array<Factor, 4> factor;
};

/// Where amplitudes go at the end of an epoch: coordinate v to A v + offset (+ the offsets whose guards hold).
struct AffineMap {
  std::array<Coordinate, kMaxTileBits> column{};  // A's columns
  Coordinate offset = 0;
  std::vector<std::pair<TileGuard, Coordinate>> guarded;
  Coordinate apply(Coordinate v) const;  // without the guarded offsets
  bool identity() const;
};

/// Register j of thread t holds the amplitude whose coordinate has the bits of j at reg and those of t at thread.
struct Epoch {
  std::vector<std::uint8_t> reg, thread;
  bool exchanged = false;  // from the epoch before, whose map is the identity: places of the lowest two bits of the
                           // thread's number and of registers' bits are exchanged, all others stay
  std::vector<TileOp> ops;
  AffineMap map;
  Coordinate coordinate(std::uint32_t thread_number, std::uint32_t register_number) const;
};

constexpr int kWarpBits = 5;  // of a thread's number: its lane

/// What lowering chose by trying.
struct LowerChoice {
  std::uint8_t blocks = 0;  // of enum class Blocks
  std::uint32_t trial = 0;
};

struct TileProgram {
  LowerChoice choice;
  Precision precision = Precision::kDouble;
  int register_bits = 4;
  int bits = 0;              // coordinates, phantoms included
  std::vector<Bit> active;   // index bit of each coordinate; kPhantom
  std::vector<Bit> store;    // index bit it is written to
  std::vector<Index> reach;  // empty, or what each coordinate flips of a place in memory, at loads and stores
  Index tile_bits = 0;       // index bits that number the tiles (chunk bits included)
  bool reads = true;
  Coordinate births = 0;   // coordinates whose bit is born here: both values read the place of 0
  Coordinate dead = 0;     // coordinates (unborn, phantom) where only 0 exists: neither read nor written
  Index zero_tiles = 0;    // where reads: tiles with one of these bits start as zeros
  Index arrivals = 0;      // generated kernels: bits whose values tell from where amplitudes are loaded
  bool wide = false;       // generated kernels do matrices on three targets as wider ones, on tensor cores
  bool light = false;      // blocks are what takes generated kernels least: the interpreter does whole ones faster
  bool sums_bits = false;  // generated kernels sum each bit's probability while they store
  bool open = false;       // its numbers may be put in anew: no text depends on which of them are equal
  int start_table = -1;    // loaded values times tables[start_table][thread] * start_register[slot][bit] ...
  std::array<std::array<Complex, 2>, kMaxRegisterBits> start_register{};
  bool start_scaled = false;  // any start factor at all
  Complex start_constant{1, 0};
  std::vector<Birth> start_tile;  // ... * factors of the inactive births by the tile's bits
  // Bank number of each coordinate (3 bits in double, 4 in single): a tile's place in shared memory is an invertible
  // linear map of the coordinate whose low bits are the XOR of the banks of its bits.
  std::array<std::uint8_t, kMaxTileBits> bank{};
  std::vector<Epoch> epochs;
  std::vector<std::vector<Complex>> tables;         // [table][thread]
  std::vector<bool> separable;                      // [table]: products of a lane's entry and a warp's first one
  std::vector<std::vector<Complex>> lookups;        // generated kernels: tables of other bits than a thread's number
  std::vector<std::vector<TileTerm>> tile_factors;  // each exp(i sum of angles)
  int thread_bits() const { return bits - register_bits; }
};

/// All tables, then all lookups, as they lie in memory; and where there a lookup's begin.
std::vector<Complex> table_memory(const TileProgram& program);
std::uint64_t lookup_offset(const TileProgram& program, int lookup);

/// Adds a table of exp(i angle) by thread; returns its number.
int add_table(TileProgram& program, std::span<const double> angles);

/// How many threads, neighbours in a warp, add up the angles of one tile factor in a kernel of its own; of `factors` of
/// up to `terms` angles in a block of so many threads, `most` at most.
std::size_t angle_share(std::size_t threads, std::size_t factors, std::size_t terms, std::size_t most);
std::size_t angle_share(const TileProgram& program);

/// Tile factors of more angles than a few become products of several, where all are made sooner then: `most_share` is
/// how many threads may add up one (1: the interpreter; angle_share()).
void split_tile_factors(TileProgram& program, std::size_t most_share);

/// Angles as such a kernel asks for them before it asks for its amplitudes: rows of angle_share() of each factor's
/// terms, factor after factor, {} where it has no more. Empty where it does not.
std::vector<TileTerm> angle_rows(const TileProgram& program);

/// Whether it reads, and writes eight times that and more.
bool grows(const TileProgram& program);

/// Whether it has blocks on lanes.
bool uses_lanes(const TileProgram& program);

/// Multiplies all that the program stores: where a multiplication is made anyway, or by one more.
void multiply(TileProgram& program, Complex factor);

/// Rounds tangents to single precision and takes back what that does to the norm, so that the same gate many times does
/// not move it.
void round_tangents(TileProgram& program);

}  // namespace qsim::cuda
