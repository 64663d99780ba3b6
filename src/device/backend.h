// The seam between the executor and a device: one shard of the state, sweeps over it, and read-outs of it. No gate name
// in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/layout.h"
#include "base/ranks/communicator.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {

/// The amplitudes of a shard whose local index satisfies (index & mask) == value, in ascending order. {0, 0} is all of
/// it.
struct ChunkView {
  Index mask = 0, value = 0;
};

/// Memory that a transport may touch directly.
struct MemoryRegion {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  bool on_device = false;
};

struct BackendInfo {
  std::string name;                                // "cpu", "cuda", "null"
  std::string device;                              // "AMD EPYC, 2 threads, avx512" or "NVIDIA H200"
  std::uint64_t memory_bytes = 0, free_bytes = 0;  // usable by the pool
  int threads = 1;
  int device_id = -1;
};

struct BackendOptions {
  Precision precision = Precision::kDouble;
  int threads = 0;              // CPU: 0 = the affinity mask's
  int device_id = 0;            // CUDA
  std::string instruction_set;  // CPU: "" = best; "scalar", "avx2", "avx512"
  Jit jit = Jit::kAuto;         // CUDA
  double pool_share = 0;        // CUDA: fixed share of free memory; 0 = what the plan needs
  std::string kernel_cache;     // CUDA: folder of compiled kernels; "off" = none, "" = the user's
};

/// K most probable: local physical index and probability.
struct IndexProbability {
  Index index = 0;
  double probability = 0;
};

/// Pauli strings of one X part: z_masks [begin, begin + count) of a list.
struct PauliGroup {
  Index x_mask = 0;
  std::uint32_t begin = 0, count = 0;
};

/// A draw inside a block of amplitudes: find the first amplitude of the block, in the order given by `order` bits,
/// whose running total of units exceeds `offset`.
struct UnitDraw {
  Index block = 0;
  std::uint64_t offset = 0;
};

/// The integer distribution over blocks of amplitudes, for draws.
struct DrawBlocks {
  std::span<const std::uint64_t> ends;  // [block]: units of all blocks of the whole state up to this one and with it
  Index local_positions = 0;            // bits of a block's number that `block_bits` are, in their order
  Index fixed = 0;                      // the other bits of the numbers of this rank's blocks
  std::span<const Bit> block_bits;      // local bits whose values spell the block
  std::span<const Bit> order;           // the remaining local bits: amplitudes inside a block, least significant first
};

/// This shard's view `mine` against `peer`'s `theirs` (equal sizes), through ring slot `slot`.
struct Trade {
  ChunkView mine, theirs;
  int peer = 0;
  std::uint32_t slot = 0;
};

/// What is done with drawn indices.
using DrawTaker = std::function<void(std::span<const Index>)>;

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

/// A shard of 2^local_bits amplitudes on one device. Lanes are in-order queues (CUDA streams; on the CPU every call
/// completes before it returns). Verbs without a lane run on lane 0 and, where they return values, wait for them.
/// A library's answers about a shard.
struct SecondOpinion {
  std::string_view library;
  double norm = 0;
  Complex inner_product;  // where a snapshot was given
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual BackendInfo info() const = 0;

  // -- memory: one allocation, then nothing
  /// Allocates the pool for shards of 2^local_bits; may be called again for another run. CapacityError or DeviceError.
  virtual void reserve(const PoolLayout& layout, std::uint32_t local_bits) = 0;
  virtual std::uint64_t peak_bytes() const = 0;  // high-water mark of the pool
  virtual MemoryRegion state() = 0;
  virtual MemoryRegion slot(std::uint32_t slot) = 0;    // of the chunk ring
  virtual void save_state(std::uint32_t snapshot) = 0;  // copies the state to a snapshot of the pool, and back
  virtual void restore_state(std::uint32_t snapshot) = 0;
  virtual void exchange_state(std::uint32_t snapshot) = 0;  // the state and the snapshot change places
  /// Copies `count` amplitudes in the state's precision from host memory to [first, first + count).
  virtual void copy_in(Index first, Index count, const std::byte* host) = 0;

  // -- sweeps
  /// Uploads sweeps that are specialised to this rank, and begins to compile them; returns the handle of the first, the
  /// others follow.
  virtual std::uint32_t prepare(std::span<const Sweep> sweeps) = 0;
  /// Says that `handle` will run in chunks that fix the bits of `mask`, so that nothing is made or uploaded beside an
  /// exchange. `arrivals`: where sweep_arrived() may run it, the bits that tell a chunk's parts apart; else 0.
  virtual void expect_chunks(std::uint32_t handle, Index mask, Index arrivals) {
    (void)handle, (void)mask, (void)arrivals;
  }
  /// Waits for what prepare() and expect_chunks() left running in the background and sweeps would wait for, so that no
  /// run's time contains it.
  virtual void finish_preparing() {}
  /// Forgets all prepared sweeps.
  virtual void clear_sweeps() = 0;
  /// Runs prepared sweep `handle` on the tiles inside `chunk` (its mask names inactive bits only). With
  /// `accumulate_norm`, the sum of squares of what is written is added to a running total that take_norm() returns and
  /// clears.
  virtual void sweep(std::uint32_t handle, ChunkView chunk, int lane, bool accumulate_norm) = 0;
  /// sweep() on a chunk of which the parts `arrived` (their `mine`, a run of memory each) are in their slots instead of
  /// in place. `arrivals`: the bits, neighbours, that tell the chunk's parts apart.
  virtual void sweep_arrived(std::uint32_t handle, ChunkView chunk, int lane, bool accumulate_norm, Index arrivals,
                             std::span<const Trade> arrived) {
    (void)arrivals;
    for (const Trade& one : arrived) unpack(one.mine, one.slot, lane);
    sweep(handle, chunk, lane, accumulate_norm);
  }
  /// Whether sweep_arrived() would load what is in the slots from there; else a transport puts it in place better.
  virtual bool loads_arrived(std::uint32_t handle, Index mask, Index arrivals) {
    (void)handle, (void)mask, (void)arrivals;
    return false;
  }
  virtual double take_norm() = 0;
  virtual int lanes() const = 0;
  /// The device's own queue behind `lane` (a cudaStream_t), for transports that enqueue their copies; null where there
  /// is none.
  virtual void* native_lane(int lane) {
    (void)lane;
    return nullptr;
  }
  /// The lanes' own clock; null where every call is complete when it returns, so that the host's clock tells.
  virtual LaneClock* lane_clock() { return nullptr; }
  virtual void fork() = 0;         // every lane waits for what lane 0 has been given so far
  virtual void join() = 0;         // lane 0 waits for every lane
  virtual void synchronize() = 0;  // the host waits for everything

  // -- exchange
  virtual void pack(ChunkView view, std::uint32_t slot, int lane) = 0;    // state -> slot, contiguous
  virtual void unpack(ChunkView view, std::uint32_t slot, int lane) = 0;  // slot -> state

  // -- whole-state values; `layout` and `rank` name each amplitude's logical index
  /// Unnormalised complex Gaussian amplitudes: Philox4x64 keyed by (seed, logical index), times `scale`.
  virtual void fill_random(const Layout& layout, std::uint32_t rank, std::uint64_t seed, double scale) = 0;

  // -- read-outs of the shard; sums over ranks are the caller's
  virtual double norm() = 0;  // compensated sum of |a|^2
  /// out[b] = probability that local bit b is 1; out[local_bits] = total.
  virtual void bit_probabilities(std::span<double> out) = 0;
  /// The same, as the latest sweep has summed it while it stored: false, and `out` as it was, where it has not. It may
  /// when its sums_bits is set and it ran over the whole shard. Asked for right after that sweep.
  virtual bool take_bit_probabilities(std::span<double> out) {
    (void)out;
    return false;
  }
  /// out[v] = probability that bits[j] equals bit j of v; out.size() == 2^bits.size(), at most 2^26.
  virtual void histogram(std::span<const Bit> bits, std::span<double> out) = 0;
  /// The same in integer units: each amplitude counts round(|a|^2 2^62) units.
  virtual void unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out) = 0;
  /// For each draw (ascending by block, then offset): blocks are named by the values of `block_bits`; inside a block
  /// amplitudes are ordered by `order` (least significant first; the remaining local bits). Returns the local index
  /// found.
  virtual void locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
                      std::span<Index> out) = 0;
  /// Draws the shots with these numbers where the backend can do it faster than its host: `take` is given the local
  /// indices of the draws that fall on this rank, in pieces while later ones are drawn, rising in the order of places
  /// where all fit at once. The place of a shot is floor(w total / 2^64), total = ends.back(), w word shot % 4 of block
  /// shot / 4 of Philox(seed, stream). false: nothing was done, the caller draws and locates.
  virtual bool draw(const DrawBlocks& blocks, std::span<const std::uint64_t> shots, std::uint64_t seed,
                    std::uint64_t stream, const DrawTaker& take) {
    (void)blocks, (void)shots, (void)seed, (void)stream, (void)take;
    return false;
  }
  /// The `count` most probable local amplitudes by falling probability: |a|^2 of what is stored, re * re + im * im in
  /// double. Ties, to the last digit, go to the lowest logical index.
  virtual std::vector<IndexProbability> top(std::size_t count, const Layout& layout, std::uint32_t rank) = 0;
  /// out[j] = sum over local i of conj(a[i ^ x_mask]) a[i] (-1)^popcount(i & z_masks[j]); x_mask local, so both ends
  /// are here. Bits of z_masks beyond the shard do not matter.
  virtual void pauli_sums(Index x_mask, std::span<const Index> z_masks, std::span<Complex> out) = 0;
  /// pauli_sums of every group; out is as long as z_masks. A backend that can share work between groups overrides it.
  virtual void pauli_group_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks,
                                std::span<Complex> out) {
    for (const PauliGroup& group : groups) {
      pauli_sums(group.x_mask, z_masks.subspan(group.begin, group.count), out.subspan(group.begin, group.count));
    }
  }
  /// For every group, over this shard's i of `view`, where the partners a[i ^ x_mask] are another rank's: `slot` holds
  /// that rank's amplitudes of the view {view.mask, view.value ^ (x_mask & view.mask)}, packed; x_mask & view.mask is
  /// the same for all groups, and view.mask the shard's highest bits. Masks have the bits beyond the shard as well. Of
  /// the sum that pauli_sums gives, out[j] is the part which the partner's sum does not cancel: the real one where
  /// x_mask and z_masks[j] share an even number of bits, otherwise the imaginary one.
  virtual void pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                                 std::uint32_t slot, std::span<Complex> out) = 0;
  /// Sum over local i of conj(snapshot[i]) state[i].
  virtual Complex inner_product(std::uint32_t snapshot) = 0;
  /// norm() and, with a snapshot, inner_product() as a library of the device's vendor makes them, to hold ours against;
  /// nothing where the backend has none.
  virtual std::optional<SecondOpinion> second_opinion(std::optional<std::uint32_t> snapshot) {
    (void)snapshot;
    return std::nullopt;
  }
  /// Sum, modulo 2^64, over the view of a hash of each amplitude's bits and its place in the view: equal contents give
  /// equal sums on every backend and whatever the view's fixed bits; a changed bit or two amplitudes that changed
  /// places do not.
  virtual std::uint64_t checksum(ChunkView view) = 0;
  virtual void read_amplitudes(std::span<const Index> indices, std::span<Complex> out) = 0;
  /// Copies amplitudes [first, first + count) in the state's precision to host memory.
  virtual void copy_out(Index first, Index count, std::byte* host) = 0;
};

/// Moves chunks of the state between ranks' devices.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;  // "host", "p2p", "nccl", "mpi", "staged"
  /// Largest trade that a slot of `slot_bytes` serves. Half of it where outgoing data is packed into the slot's first
  /// half and arrives in the second; the caller cuts larger chunks into several trades.
  virtual std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const { return slot_bytes / 2; }
  /// Trades this shard's `mine` with `peer`'s `theirs` (equal sizes), in place, using ring slot `slot` on `lane`. Both
  /// ranks call it with the views exchanged and in the same order. When lane work after it runs, `mine` holds the
  /// peer's data.
  virtual void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) = 0;
  /// Trades with different peers through different slots, of views of one mask, which may be under way together. All
  /// peers call it with the same trades in the same order, each seen from its side.
  virtual void trade_all(std::span<const Trade> trades, int lane) {
    for (const Trade& one : trades) trade(one.mine, one.theirs, one.peer, one.slot, lane);
  }
  /// Whether there is trade_to_slots().
  virtual bool leaves_in_slots() const { return false; }
  /// trade_all() of views that are one run of memory each, but what arrives stays in the slots, contiguous.
  virtual void trade_to_slots(std::span<const Trade> trades, int lane);
  /// Waits until every trade begun so far is complete (host-driven transports progress only in trade and finish).
  virtual void finish() = 0;
};

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);  // DeviceError where there is none
/// Counts and checks, computes nothing: any number of qubits and ranks.
std::unique_ptr<Backend> make_null_backend(const BackendOptions& options);

/// Host-memory transport over a communicator (CPU backends) for shards of 2^local_bits.
std::unique_ptr<Transport> make_host_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits);

}  // namespace qsim
