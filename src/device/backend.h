// The seam between the executor and a device: one shard of the state in the device's memory, sweeps over it and chunks
// of it. No gate name in it. Questions about the shard are shard_reader.h's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/layout.h"
#include "device/abilities.h"
#include "device/shard_reader.h"
#include "device/views.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {

/// Memory that a transport may touch directly.
struct MemoryRegion {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  bool on_device = false;
};

struct BackendInfo {
  std::string name;              // "cpu", "cuda", "null"
  std::string device;            // "AMD EPYC, 2 threads, avx512" or "NVIDIA H200"
  std::uint64_t free_bytes = 0;  // usable by the pool
  int threads = 1;
  int device_id = -1;
};

struct BackendOptions {
  Precision precision = Precision::kDouble;
  int threads = 0;                                         // CPU: 0 = the affinity mask's
  int device_id = 0;                                       // CUDA
  InstructionSet instruction_set = InstructionSet::kAuto;  // CPU
  Jit jit = Jit::kAuto;                                    // CUDA
  double pool_share = 0;                                   // CUDA: fixed share of free memory; 0 = what the plan needs
  std::string kernel_cache;  // CUDA: folder of compiled kernels; "off" = none, "" = the user's
};

/// Whether the last sweep that is prepared should sum each bit's probability while it stores, for BitSums.
enum class Summing : std::uint8_t { kNo, kBits };

/// A shard of 2^local_bits amplitudes on one device. Lanes are in-order queues (CUDA streams; on the CPU every call
/// completes before it returns). Verbs without a lane run on lane 0 and, where they return values, wait for them.
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
  virtual std::uint32_t prepare(std::span<const Sweep> sweeps, Summing summing) = 0;
  /// Says that `handle` will run in chunks that fix the bits of `mask`, so that nothing is made or uploaded beside an
  /// exchange. `arrivals`: where ArrivalSweeps may run it, the bits that tell a chunk's parts apart; else 0.
  virtual void expect_chunks(std::uint32_t handle, Index mask, Index arrivals) = 0;
  /// Waits for what prepare() and expect_chunks() left running in the background and sweeps would wait for, so that no
  /// run's time contains it.
  virtual void finish_preparing() = 0;
  /// Forgets all prepared sweeps.
  virtual void clear_sweeps() = 0;
  /// Runs prepared sweep `handle` on the tiles inside `chunk` (its mask names inactive bits only). With
  /// `accumulate_norm`, the sum of squares of what is written is added to a running total that take_norm() returns and
  /// clears.
  virtual void sweep(std::uint32_t handle, ChunkView chunk, int lane, bool accumulate_norm) = 0;
  virtual double take_norm() = 0;
  virtual int lanes() const = 0;
  virtual void fork() = 0;         // every lane waits for what lane 0 has been given so far
  virtual void join() = 0;         // lane 0 waits for every lane
  virtual void synchronize() = 0;  // the host waits for everything

  // -- exchange
  virtual void pack(ChunkView view, std::uint32_t slot, int lane) = 0;    // state -> slot, contiguous
  virtual void unpack(ChunkView view, std::uint32_t slot, int lane) = 0;  // slot -> state

  // -- whole-state values; `layout` and `rank` name each amplitude's logical index
  /// Unnormalised complex Gaussian amplitudes: Philox4x64 keyed by (seed, logical index), times `scale`.
  virtual void fill_random(const Layout& layout, std::uint32_t rank, std::uint64_t seed, double scale) = 0;

  // -- more
  virtual ShardReader& reader() = 0;
  virtual Abilities abilities() = 0;
};

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options);
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);  // DeviceError where there is none
/// Counts and checks, computes nothing: any number of qubits and ranks.
std::unique_ptr<Backend> make_null_backend(const BackendOptions& options);

}  // namespace qsim
