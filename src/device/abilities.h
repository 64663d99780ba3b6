// What some backends can do beside what all of them must.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "device/views.h"
#include "qsim/types.h"

namespace qsim {

struct Sweep;

/// When a device's lanes did what they were given, for time lines.
class LaneClock {
 public:
  virtual ~LaneClock() = default;
  /// Times count from now on; earlier marks are forgotten. The device is idle.
  virtual void restart() = 0;
  /// Marks what `lane` has been given so far.
  virtual std::uint32_t mark(int lane) = 0;
  /// Seconds from restart() until that was done. Everything marked is done.
  virtual double seconds(std::uint32_t mark) = 0;
};

/// Lanes that are queues of a device, which work while the host goes on.
class DeviceQueues {
 public:
  virtual ~DeviceQueues() = default;
  /// The device's own queue behind `lane` (a cudaStream_t), for transports that enqueue their copies.
  virtual void* native_lane(int lane) = 0;
  virtual LaneClock* lane_clock() = 0;
};

/// Sweeps that load what has arrived from its slots. `arrivals`: the bits, neighbours, that tell a chunk's parts apart.
class ArrivalSweeps {
 public:
  virtual ~ArrivalSweeps() = default;
  /// Whether sweep `handle` does, in chunks of `mask`; for others a transport puts it in place better.
  virtual bool loads_arrived(std::uint32_t handle, Index mask, Index arrivals) = 0;
  /// Backend::sweep() on a chunk of which the parts `arrived` (their `mine`, a run of memory each) are in their slots
  /// instead of in place; loads_arrived() was true.
  virtual void sweep_arrived(std::uint32_t handle, ChunkView chunk, int lane, bool accumulate_norm, Index arrivals,
                             std::span<const Trade> arrived) = 0;
};

/// Prepared sweeps that take other numbers.
class SweepRenewal {
 public:
  virtual ~SweepRenewal() = default;
  /// Sweeps `handle`, ... become `sweeps`: those they were prepared for but for the numbers in matrices, phases and
  /// births.
  virtual void renew(std::uint32_t handle, std::span<const Sweep> sweeps) = 0;
};

/// Sweeps that sum the probabilities of bits while they store.
class BitSums {
 public:
  virtual ~BitSums() = default;
  /// ShardReader::bit_probabilities() as the latest sweep has summed it: false, and `out` as it was, where it has not.
  /// It may where it was prepared for it and ran over the whole shard. Asked for right after that sweep.
  virtual bool take_bit_probabilities(std::span<double> out) = 0;
};

/// The integer distribution over blocks of amplitudes, for draws.
struct DrawBlocks {
  std::span<const std::uint64_t> ends;  // [block]: units of all blocks of the whole state up to this one and with it
  Index local_positions = 0;            // bits of a block's number that `block_bits` are, in their order
  Index fixed = 0;                      // the other bits of the numbers of this rank's blocks
  std::span<const Bit> block_bits;      // local bits whose values spell the block
  std::span<const Bit> order;           // the remaining local bits: amplitudes inside a block, least significant first
};

/// Numbers of shots, rising: those that are listed or, where none is, `first`, `first` + 1, ...
struct ShotNumbers {
  std::span<const std::uint64_t> listed;
  std::uint64_t first = 0, unlisted = 0;
  std::uint64_t size() const { return listed.empty() ? unlisted : listed.size(); }
  ShotNumbers part(std::uint64_t begin, std::uint64_t count) const {
    if (!listed.empty()) return {listed.subspan(begin, count), 0, 0};
    return {{}, first + begin, count};
  }
};

/// What is done with draws.
using DrawTaker = std::function<void(std::span<const std::uint64_t>)>;

constexpr std::uint64_t kDrawerHostBytes = std::uint64_t{1} << 21;  // that a drawer holds on the host, at most

/// Draws shots faster than its host.
class Drawer {
 public:
  virtual ~Drawer() = default;
  /// Begins to sum the units of this rank's blocks, which are as in DrawBlocks, and keeps what draws from them then
  /// find ready. false: nothing is begun, ShardReader::unit_histogram() has them.
  virtual bool begin_blocks(std::span<const Bit> block_bits, std::span<const Bit> order) = 0;
  /// Whether take_blocks() will not have to wait.
  virtual bool blocks_ready() = 0;
  /// The units of every block, after begin_blocks().
  virtual void take_blocks(std::span<std::uint64_t> out) = 0;
  /// Draws the shots with these numbers: `take` is given, in pieces while later ones are drawn, rising where all fit at
  /// once, where the draws fall that fall on this rank: block << order.size() | amplitude in the block's order. The
  /// place of a shot is floor(w total / 2^64), total = ends.back(), w word shot % 4 of block shot / 4 of Philox(seed,
  /// stream). A draw that finds no amplitude, since the state is another than the one that `blocks` were summed from,
  /// is beyond all of them. false: nothing was done, the caller draws and locates.
  virtual bool draw(const DrawBlocks& blocks, const ShotNumbers& shots, std::uint64_t seed, std::uint64_t stream,
                    const DrawTaker& take) = 0;
};

/// A library's answers about a shard.
struct SecondOpinion {
  std::string_view library;
  double norm = 0;
  Complex inner_product;  // where a snapshot was given
};
/// A library of the device's vendor, to hold our sums against.
class VendorLibrary {
 public:
  virtual ~VendorLibrary() = default;
  /// ShardReader's norm() and, with a snapshot, inner_product().
  virtual SecondOpinion second_opinion(std::optional<std::uint32_t> snapshot) = 0;
};

/// Null: the backend cannot. They live as long as it does.
struct Abilities {
  DeviceQueues* queues = nullptr;  // without: every call is complete when it returns
  ArrivalSweeps* arrivals = nullptr;
  BitSums* bit_sums = nullptr;
  Drawer* drawer = nullptr;
  VendorLibrary* library = nullptr;
  SweepRenewal* renewal = nullptr;
};

}  // namespace qsim
