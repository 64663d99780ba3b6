// Sums of Pauli strings over tiles that their X parts span: one trip over the shard for nine strings of any X parts.
//
// Blocks of 512 threads stay and walk tiles of 64 KiB, which cp.async brings into a ring in shared memory while others
// are summed. A round takes three strings: a thread reads eight places that are the combinations of the strings' X
// parts, so both ends of every pair are in its registers, and signs among them fold four pairs by multiply-adds with
// +-1. Shared memory is written once and read three times for nine strings, and nothing crosses threads until the end.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/readout_device.cuh"

namespace qsim::cuda {
namespace {

constexpr int kTripThreads = 1 << kTripThreadBits, kTripWarps = kTripThreads / 32;
constexpr int kRegisters = 1 << kTripRegisterBits;
constexpr int kUnits = 8;  // of 16 bytes, of a line
constexpr int kTileBytes = kUnits * 16 << kTripLineBits;
constexpr int kMaxStages = 3;
constexpr std::uint32_t kStringBits = (1u << kTripStrings) - 1;
static_assert(kMaxStages * kTripStrings <= 32, "signs of the bases of all tiles in the ring");
constexpr int kLoads = kTileBytes / 16 / kTripThreads;
static_assert(kLoads == 1 << (kTripLineBits - (kTripThreadBits - 3)), "a thread loads the lines of its highest bits");
/// Four times the multiprocessors of an H200, or eight tiles each: how sums are added depends on no device's number of
/// multiprocessors.
constexpr std::uint64_t kTripBlocks = 528, kLeastTiles = 8;

/// How many halves of eight amplitudes a thread has of a tile.
template <class Amplitude>
constexpr int kHalves = static_cast<int>(kTileBytes / sizeof(Amplitude)) / kTripThreads / kRegisters;

__device__ inline void copy_unit(std::uint32_t shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}
__device__ inline void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until all but the newest `newer` groups are here.
__device__ inline void wait_for_groups(int newer) {
  if (newer >= 1) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
  } else {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
  }
}

/// The tile's number at the bits that name tiles.
__device__ inline std::uint64_t base_of(const PauliTrip& trip, std::uint64_t number) {
  std::uint64_t base = 0;
  for (int r = 0; r < trip.runs; ++r) base |= number << trip.run_shift[r] & trip.run_mask[r];
  return base;
}

/// Sum over the four pairs (r, r ^ Flip), r without Flip's lowest bit, with the signs between them: of their real or
/// imaginary parts.
template <int Flip, bool Imaginary>
__device__ inline double pairs_sum(const double2 (&a)[kRegisters], const double* sign) {
  constexpr int kPivot = Flip & -Flip;
  constexpr int kLow = kPivot == 1 ? 1 : 0, kHigh = kPivot == 4 ? 1 : 2;  // the other two register bits
  double terms[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const double2 right = a[(k & 1) << kLow | k >> 1 << kHigh], left = a[((k & 1) << kLow | k >> 1 << kHigh) ^ Flip];
    terms[k] = Imaginary ? left.x * right.y - left.y * right.x : left.x * right.x + left.y * right.y;
  }
  const double low = sign[kLow], high = sign[kHigh];
  return fma(high, fma(low, terms[3], terms[2]), fma(low, terms[1], terms[0]));
}

template <int Flip>
__device__ inline double pairs_sum(const double2 (&a)[kRegisters], const TripString& string) {
  return string.imaginary != 0 ? pairs_sum<Flip, true>(a, string.sign) : pairs_sum<Flip, false>(a, string.sign);
}

/// Three strings whose X parts are independent, as in most rounds, without a branch between them.
template <int Imaginary>
__device__ inline void independent_sums(const double2 (&a)[kRegisters], const TripString* strings,
                                        double (&sums)[kRoundStrings]) {
  sums[0] = pairs_sum<1, (Imaginary & 1) != 0>(a, strings[0].sign);
  sums[1] = pairs_sum<2, (Imaginary & 2) != 0>(a, strings[1].sign);
  sums[2] = pairs_sum<4, (Imaginary & 4) != 0>(a, strings[2].sign);
}

/// Any strings: plans give the first flip 1, the second 1 or 2, the third 1 to 4, and those that are not there 0.
__device__ inline void dependent_sums(const double2 (&a)[kRegisters], const TripString* strings,
                                      double (&sums)[kRoundStrings]) {
  sums[0] = pairs_sum<1>(a, strings[0]);
  sums[1] = sums[2] = 0;
  if (strings[1].flip == 1) sums[1] = pairs_sum<1>(a, strings[1]);
  if (strings[1].flip == 2) sums[1] = pairs_sum<2>(a, strings[1]);
  if (strings[2].flip == 1) sums[2] = pairs_sum<1>(a, strings[2]);
  if (strings[2].flip == 2) sums[2] = pairs_sum<2>(a, strings[2]);
  if (strings[2].flip == 3) sums[2] = pairs_sum<3>(a, strings[2]);
  if (strings[2].flip == 4) sums[2] = pairs_sum<4>(a, strings[2]);
}

__device__ inline void strings_sums(const double2 (&a)[kRegisters], int kind, const TripString* strings,
                                    double (&sums)[kRoundStrings]) {
  switch (kind) {
    case 0:
      return independent_sums<0>(a, strings, sums);
    case 1:
      return independent_sums<1>(a, strings, sums);
    case 2:
      return independent_sums<2>(a, strings, sums);
    case 3:
      return independent_sums<3>(a, strings, sums);
    case 4:
      return independent_sums<4>(a, strings, sums);
    case 5:
      return independent_sums<5>(a, strings, sums);
    case 6:
      return independent_sums<6>(a, strings, sums);
    case 7:
      return independent_sums<7>(a, strings, sums);
    default:
      return dependent_sums(a, strings, sums);
  }
}

/// A thread's sums of a round's strings in one tile, `own` the bytes of its place in it.
template <class Amplitude>
__device__ inline void round_sums(const unsigned char* tile, std::uint32_t own, const TripRound& round,
                                  const TripString* strings, double (&few)[kRoundStrings]) {
#pragma unroll
  for (int half = 0; half < kHalves<Amplitude>; ++half) {
    double2 a[kRegisters];
#pragma unroll
    for (int r = 0; r < kRegisters; ++r) {
      std::uint32_t part = half != 0 ? round.part[kTripRegisterBits] : 0;
#pragma unroll
      for (int s = 0; s < kTripRegisterBits; ++s) part ^= (r >> s & 1) != 0 ? round.part[s] : 0;
      a[r] = load_amplitude(reinterpret_cast<const Amplitude*>(tile + (own ^ part * sizeof(Amplitude))), 0);
    }
    double sums[kRoundStrings];
    strings_sums(a, round.kind, strings, sums);
#pragma unroll
    for (int j = 0; j < kRoundStrings; ++j)
      few[j] = half == 0 ? sums[j] : fma(strings[j].sign[kTripRegisterBits], sums[j], few[j]);
  }
}

/// A tile's units into `shared`: a thread brings the lines of its number and of the highest bits' combinations.
template <class Amplitude>
__device__ inline void bring_tile(const Amplitude* data, std::uint64_t at, std::uint32_t shared,
                                  const PauliTrip& trip) {
#pragma unroll
  for (int r = 0; r < kLoads; ++r) {
    std::uint64_t reach = 0;
#pragma unroll
    for (int s = 0; s < 3; ++s) reach ^= (r >> s & 1) != 0 ? trip.reach[kTripThreadBits - 3 + s] : 0;
    copy_unit(shared + static_cast<std::uint32_t>(r * kTripThreads * 16), data + (at ^ reach));
  }
}

/// Adds a warp's sums, then the block's, and writes them.
__device__ inline void store_sums(const Compensated (&sums)[kTripStrings], Compensated* shared, double* scratch) {
#pragma unroll
  for (int j = 0; j < kTripStrings; ++j) {
    const Compensated warp = warp_sum(sums[j]);
    if (threadIdx.x % 32 == 0) shared[j * kTripWarps + threadIdx.x / 32] = warp;
  }
  __syncthreads();
  if (threadIdx.x >= kTripStrings) return;
  Compensated total;
  for (int warp = 0; warp < kTripWarps; ++warp) total.add(shared[threadIdx.x * kTripWarps + warp]);
  total.sum *= 2;
  total.error *= 2;
  store_pair(scratch, kTripStrings, static_cast<int>(threadIdx.x), total);
}

template <class Amplitude>
__global__ void __launch_bounds__(kTripThreads, 1)
    trip_kernel(const Amplitude* data, std::uint64_t tiles, int stages, const __grid_constant__ PauliTrip trip,
                double* scratch) {
  extern __shared__ __align__(128) unsigned char memory[];
  const std::uint32_t t = threadIdx.x;
  std::uint64_t from = t % kUnits * (16 / sizeof(Amplitude));
#pragma unroll
  for (int b = 3; b < kTripThreadBits; ++b) from ^= (t >> b & 1) != 0 ? trip.reach[b - 3] : 0;
  std::uint32_t own[kTripRounds];  // bytes
  std::uint32_t signs = 0;         // of the thread, a bit a string
#pragma unroll
  for (int round = 0; round < kTripRounds; ++round) {
    std::uint32_t place = 0;
#pragma unroll
    for (int b = 0; b < kTripThreadBits; ++b) place ^= (t >> b & 1) != 0 ? trip.round[round].thread[b] : 0;
    own[round] = place * static_cast<std::uint32_t>(sizeof(Amplitude));
  }
#pragma unroll
  for (int j = 0; j < kTripStrings; ++j) signs |= odd_parity(t & trip.string[j].z_thread) << j;
  const std::uint64_t z_base = t % 32 < kTripStrings ? trip.string[t % 32].z_base : 0;
  Compensated sums[kTripStrings];
  const auto shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory)) + 16 * t;
  const std::uint64_t stride = gridDim.x, names = base_of(trip, ~std::uint64_t{0}), step = base_of(trip, stride);
  // The next tile to be brought, to place `next` of the ring, and the signs of bases: a bit a string, the newest
  // lowest.
  std::uint64_t coming = blockIdx.x, base = base_of(trip, coming);
  std::uint32_t bases = 0;
  int next = 0, here = 0;
  const auto bring = [&] {
    if (coming < tiles) bring_tile(data, base ^ from, shared + static_cast<std::uint32_t>(next * kTileBytes), trip);
    close_group();
    bases = bases << kTripStrings | (__ballot_sync(kAllLanes, odd_parity(base & z_base) != 0) & kStringBits);
    base = ((base | ~names) + step) & names;
    coming += stride;
    next = next + 1 == stages ? 0 : next + 1;
  };
  for (int ahead = 1; ahead < stages; ++ahead) bring();
  const int oldest = (stages > 1 ? stages - 1 : 0) * kTripStrings;
  for (std::uint64_t number = blockIdx.x; number < tiles; number += stride) {
    if (stages == 1) bring();
    wait_for_groups(stages - 2);
    __syncthreads();  // the tile is here, and the one before has been read
    if (stages > 1) bring();
    const std::uint32_t odd = signs ^ bases >> oldest;
    const unsigned char* const tile = memory + here * kTileBytes;
#pragma unroll
    for (int round = 0; round < kTripRounds; ++round) {
      if (round >= trip.rounds) break;
      double few[kRoundStrings];
      round_sums<Amplitude>(tile, own[round], trip.round[round], trip.string + round * kRoundStrings, few);
#pragma unroll
      for (int j = 0; j < kRoundStrings; ++j) {
        const int string = round * kRoundStrings + j;
        sums[string].add((odd >> string & 1) != 0 ? -few[j] : few[j]);
      }
    }
    here = here + 1 == stages ? 0 : here + 1;
    if (stages == 1) __syncthreads();  // before it is overwritten
  }
  wait_for_groups(0);
  __syncthreads();
  store_sums(sums, reinterpret_cast<Compensated*>(memory), scratch);
}

/// As many as the device's shared memory holds.
int stages_of_device() {
  int device = 0, bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 1;
  if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess) return 1;
  return std::clamp(bytes / kTileBytes, 1, kMaxStages);
}

std::uint64_t trip_tiles(Shard shard) {
  return std::uint64_t{1} << (shard.local_bits - kTripLineBits - trip_low_bits(shard.double_precision));
}
int trip_blocks(Shard shard) {
  return static_cast<int>(std::clamp<std::uint64_t>(trip_tiles(shard) / kLeastTiles, 1, kTripBlocks));
}
std::size_t trip_doubles(int blocks) { return 2 * kTripStrings * static_cast<std::size_t>(blocks); }

}  // namespace

void launch_trip_sums(Shard shard, const PauliTrip& trip, int place, double* scratch, cudaStream_t stream) {
  const std::uint64_t tiles = trip_tiles(shard);
  const int blocks = trip_blocks(shard), stages = stages_of_device();
  double* const mine = scratch + static_cast<std::size_t>(place) * trip_doubles(blocks);
  with_amplitudes(shard, [&](auto* data) {
    auto* const kernel = trip_kernel<std::remove_cvref_t<decltype(*data)>>;
    // Where this is refused the launch is too, and is asked about.
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, stages * kTileBytes);
    kernel<<<blocks, kTripThreads, stages * kTileBytes, stream>>>(data, tiles, stages, trip, mine);
  });
}

int trips_together(Shard shard) { return static_cast<int>(kSumScratchDoubles / trip_doubles(trip_blocks(shard))); }

void launch_finish_trips(Shard shard, int spans, double* out, const double* scratch, cudaStream_t stream) {
  launch_finish_sums(scratch, trip_blocks(shard), kTripStrings, spans, out, stream);
}

}  // namespace qsim::cuda
