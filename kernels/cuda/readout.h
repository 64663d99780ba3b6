// Read-outs of a shard on the device: sums, histograms, sampling, selection. Host-callable launchers; every one
// enqueues on a stream, uses only the scratch it is given and adds in an order that depends on nothing but the shard's
// size.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/state.h"

namespace qsim::cuda {

/// A shard in device memory: 2^local_bits amplitudes, interleaved re, im, in float or double.
struct Shard {
  const void* data = nullptr;
  std::uint32_t local_bits = 0;
  bool double_precision = true;
};

/// Amplitudes of the shard with (index & mask) == value.
struct View {
  std::uint64_t mask = 0, value = 0;
};

constexpr int kMaxIndexBits = 62;

/// A list of bit positions, least significant first, by value for kernels.
struct BitList {
  std::uint8_t bits[kMaxIndexBits] = {};
  std::uint32_t count = 0;
  bool operator==(const BitList&) const = default;
};

/// Doubles of scratch that the sums below need, whatever the shard.
constexpr std::size_t kSumScratchDoubles = std::size_t{1} << 17;

/// out[0] = sum of |a|^2 (compensated).
void launch_norm(Shard shard, double* out, double* scratch, cudaStream_t stream);
/// out[b] = probability that bit b is 1, b < local_bits; out[local_bits] = total. One read of the shard.
void launch_bit_probabilities(Shard shard, double* out, double* scratch, cudaStream_t stream);
/// The same of 2^bits numbers that are probabilities themselves.
void launch_bit_sums(const double* values, std::uint32_t bits, double* out, double* scratch, cudaStream_t stream);
/// out[v], v < 2^bits.count: probability over the view of bits == v. The bits are not in view.mask. `scratch` holds
/// histogram_scratch_bytes().
void launch_histogram(Shard shard, View view, BitList bits, double* out, void* scratch, cudaStream_t stream);
/// The same in units: each amplitude counts round(|a|^2 2^62).
void launch_unit_histogram(Shard shard, View view, BitList bits, std::uint64_t* out, void* scratch,
                           cudaStream_t stream);
std::size_t histogram_scratch_bytes(Shard shard, View view, BitList bits);

/// Draws that fall into one block: places[first], ..., places[first + count - 1], rising, each `base` units above its
/// offset in the block.
struct DrawRun {
  std::uint64_t block = 0, first = 0, count = 0, base = 0;
};
/// out[i], for every place of a run: local index of the first amplitude, in the order of `order`, at which the running
/// total of units of the run's block exceeds the offset; ~0 where none does. `block_bits` spell the block.
void launch_locate(Shard shard, BitList block_bits, BitList order, const DrawRun* runs, std::uint64_t run_count,
                   const std::uint64_t* places, std::uint64_t* out, cudaStream_t stream);

/// sorted[i]: the places in [0, total) of the shots (null: those numbered from `first_shot` on), rising, each by word
/// shot % 4 of block shot / 4 of the stream. `unsorted` has room for as many; `scratch` holds
/// what sort_scratch_bytes(count) says. The sort's errors are its own: no later call returns them.
cudaError_t launch_sorted_places(const std::uint64_t* shots, std::uint64_t first_shot, std::uint64_t count,
                                 std::uint64_t seed, std::uint64_t stream_key, std::uint64_t total,
                                 std::uint64_t* unsorted, std::uint64_t* sorted, void* scratch,
                                 std::size_t scratch_bytes, cudaStream_t stream);
cudaError_t sort_scratch_bytes(std::uint64_t count, std::size_t& bytes);
/// Amplitudes in the order that draws have: `order` are all local bits, those inside a block first, least significant
/// first. Tiles are 2^tile_bits neighbours, blocks 2^inner_bits.
struct DrawOrder {
  BitList order;
  std::uint32_t tile_bits = 0, inner_bits = 0;
  bool operator==(const DrawOrder&) const = default;
};
constexpr std::uint32_t kLeastTileBits = 7;
/// How the shard is walked for the sums of tiles: a warp reads 32 neighbours, the tiles' other bits are what a thread
/// adds, and bits that name tiles are warps', steps' and blocks'.
struct TileWalk {
  static constexpr int kLaneBits = 5, kWarpBits = 3, kStepBits = 2;
  std::uint32_t tile_lanes = 0;  // bits of lanes that are a tile's own
  std::uint64_t ahead[2] = {};   // two of a tile's bits beyond, whose amplitudes are loaded together
  std::uint64_t loop = 0;        // the others
  BitList units;                 // the bits beyond the lanes' that name tiles, rising
  std::uint8_t unit_place[kMaxIndexBits] = {}, lane_place[kLaneBits] = {};  // their bits in tiles' numbers
};
/// running[t]: units of the tiles of t's block up to t and with it; block_units[b]: of block b. One read of the shard.
void launch_tile_units(Shard shard, const DrawOrder& order, const TileWalk& walk, std::uint64_t* running,
                       std::uint64_t* block_units, cudaStream_t stream);

/// Blocks of all ranks: `end_bits` bits name one, `fixed` with a local block's bits at `positions` those of this rank.
struct DrawRanks {
  BitList positions;
  std::uint64_t fixed = 0;
  std::uint32_t end_bits = 0;
};
constexpr std::uint64_t kDrawnElsewhere = ~std::uint64_t{0}, kDrawnNowhere = kDrawnElsewhere - 1;
/// out[i]: where place i of the rising places lies, as block << inner_bits | amplitude in the block's order;
/// kDrawnElsewhere in another rank's block, kDrawnNowhere where the amplitudes are not those that `ends` and `running`
/// have been summed from. `running` is null where tiles are blocks.
void launch_draws(Shard shard, const DrawOrder& order, const DrawRanks& ranks, const std::uint64_t* ends,
                  const std::uint64_t* running, const std::uint64_t* places, std::uint64_t count, std::uint64_t* out,
                  cudaStream_t stream);

/// How amplitudes are ranked: the 64-bit key of |a|^2 (larger is more probable), then the logical index (smaller
/// first).
struct Ranking {
  std::uint8_t logical_of[kMaxIndexBits] = {};  // logical bit of each local bit
  std::uint64_t rank_logical = 0;               // logical bits that the rank number sets
  std::uint64_t logical_mask = 0;               // all logical bits
};
/// Selection by radix: among amplitudes with (key >> (shift + width)) == prefix, counts[v] = how many have the next
/// `width` bits equal to v. Keys are probability keys (by_index false) or, among those whose key equals `fixed_key`,
/// the bitwise complement of the logical index (by_index true). counts has 2^width <= 4096 entries, zeroed here.
struct RadixStep {
  bool by_index = false;
  std::uint64_t fixed_key = 0;
  std::uint64_t prefix = 0;
  int shift = 0, width = 0;
};
void launch_radix_count(Shard shard, const Ranking& ranking, RadixStep step, unsigned long long* counts,
                        cudaStream_t stream);
/// Appends (local index, |a|^2) of every amplitude with key > `key`, or key == `key` and logical index <=
/// `last_logical`, to indices / probabilities; *count ends as their number, at most `capacity` are written.
void launch_collect(Shard shard, const Ranking& ranking, std::uint64_t key, std::uint64_t last_logical,
                    std::uint64_t* indices, double* probabilities, unsigned long long* count, std::uint64_t capacity,
                    cudaStream_t stream);

/// Largest number of z masks in one launch of the Pauli sums.
constexpr int kPauliBatch = 8;
constexpr int kPauliGroups = 32;  // of one launch
struct PauliMasks {
  std::uint64_t x = 0;
  std::uint64_t z[kPauliBatch] = {};
  int count = 0;
};
/// Another rank's amplitudes as partners of those from index `first` on, which is a multiple of their number.
struct PauliPartners {
  const void* data = nullptr;  // null: the shard's own
  std::uint64_t first = 0;
};
/// out[16 g + 2 j], out[16 g + 2 j + 1] = re, im of sum over i of conj(a[i ^ x]) a[i] (-1)^popcount(i & z[j]), x and z
/// of masks[g], g < count (on the host); 0 where z is absent. With partners from elsewhere the shard is the part that
/// they belong to, and one of re and im is 0 (Backend::pauli_sums_remote).
void launch_pauli_sums(Shard shard, PauliPartners partners, const PauliMasks* masks, int count, double* out,
                       double* scratch, cudaStream_t stream);
/// Strings whose X parts are in the tiles of 2^kSpanBits amplitudes that `reach` spans: with v a place in a tile, bit
/// by bit, index = base XOR reach[bits of v]. A string joins v and v ^ x; its sign is the parity of z_base with the
/// base and of z with v. It is real or, where `imaginary` has its bit, imaginary.
constexpr int kSpanBits = 12, kSpanStrings = 32, kSpanRuns = 16;
struct PauliSpan {
  std::uint64_t reach[kSpanBits] = {};
  std::uint64_t run_mask[kSpanRuns] = {};  // base = sum of (tile's number << shift & mask)
  std::uint32_t run_shift[kSpanRuns] = {};
  int runs = 0, count = 0;
  std::uint32_t imaginary = 0;
  std::uint32_t x[kSpanStrings] = {}, z[kSpanStrings] = {};
  std::uint64_t z_base[kSpanStrings] = {};
};
/// out[j] = the sum of string j < span.count as launch_pauli_sums has it, its real or imaginary part; x is not 0. The
/// shard has more than one tile.
void launch_spanned_sums(Shard shard, const PauliSpan& span, double* out, double* scratch, cudaStream_t stream);
/// Up to kTripStrings strings whose X parts lie in the tiles that `reach` spans. A tile is 2^kTripLineBits lines of 128
/// bytes: place v = line << low bits | place in the line, low bits 3 in double and 4 in single; with l the line, bit by
/// bit, index = base XOR reach[bits of l] XOR the place in the line. A string joins v and v ^ x; its sign is the parity
/// of z_base with the base and of z with what XORs into v.
constexpr int kTripLineBits = 9, kTripRounds = 3, kRoundStrings = 3, kTripStrings = kTripRounds * kRoundStrings;
constexpr int kTripThreadBits = 9, kTripRegisterBits = 3, kTripRuns = 16;
constexpr std::uint32_t trip_low_bits(bool double_precision) { return double_precision ? 3 : 4; }
/// A string in its round: x is the XOR of the registers that `flip` has (0: there is no string), of which the lowest
/// is the only one or one of the two lowest.
struct TripString {
  std::uint64_t z_base = 0;
  double sign[kTripRegisterBits + 1] = {};  // -1 where z is odd with a register's part, of the half last
  std::uint16_t z_thread = 0;               // bits of threads whose part z is odd with
  std::uint8_t flip = 0;
  std::uint8_t imaginary = 0;
};
/// What bits of a thread's number and of a register's XOR into a place. In single each thread has two halves of
/// registers, which the last part tells apart.
struct TripRound {
  std::uint16_t thread[kTripThreadBits] = {}, part[kTripRegisterBits + 1] = {};
  // Flips 1, 2 and 4: a bit a string that is imaginary. Any others: kAnyFlips.
  static constexpr std::uint16_t kAnyFlips = 8;
  std::uint16_t kind = kAnyFlips;
};
struct PauliTrip {
  std::uint64_t reach[kTripLineBits] = {};
  std::uint64_t run_mask[kTripRuns] = {};  // base = sum of (tile's number << shift & mask)
  std::uint32_t run_shift[kTripRuns] = {};
  int runs = 0, rounds = 0;
  TripRound round[kTripRounds];
  TripString string[kTripStrings];  // kRoundStrings a round
};
/// Sums of a trip's strings, to be finished, at `place` < trips_together() of the scratch. X parts are not 0; the shard
/// has more than one tile.
void launch_trip_sums(Shard shard, const PauliTrip& trip, int place, double* scratch, cudaStream_t stream);
int trips_together(Shard shard);
/// out[kTripStrings g + j] = the sum of string j of the trip at place g < trips, as launch_pauli_sums has it, its real
/// or imaginary part.
void launch_finish_trips(Shard shard, int trips, double* out, const double* scratch, cudaStream_t stream);
/// out[0], out[1] = re, im of sum conj(left) right.
void launch_inner_product(Shard left, Shard right, double* out, double* scratch, cudaStream_t stream);
/// *out = sum, modulo 2^64, of the hashes of the view's `count` amplitudes (their bits and their places).
void launch_checksum(Shard shard, const ViewMap& map, std::uint64_t count, unsigned long long* out,
                     cudaStream_t stream);
/// out[2 i], out[2 i + 1] = amplitude indices[i].
void launch_read_amplitudes(Shard shard, const std::uint64_t* indices, std::uint64_t count, double* out,
                            cudaStream_t stream);

}  // namespace qsim::cuda
