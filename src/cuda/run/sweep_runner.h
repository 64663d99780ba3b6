// Prepared sweeps on a device: lowered, encoded, their tables in the pool, launched on a stream.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "cuda/device.h"
#include "cuda/run/bit_sums.h"
#include "device/backend.h"
#include "kernels/cuda/sweep.h"
#include "plan/plan.h"

namespace qsim::cuda {

/// Where a run's memory is; all of it lies in the pool.
struct SweepMemory {
  std::byte* state = nullptr;
  std::byte* tables = nullptr;
  std::uint64_t table_bytes = 0;
  std::span<std::byte> spare, steps;  // of sweeps that permute
  NormCell* norm = nullptr;
  std::uint32_t local_bits = 0;
  std::span<const Stream> lanes;  // everything that may still use the tables
  BitSumMemory sums;
};

/// A part of a chunk that is not in place: its amplitudes from index `first` on are at `data`.
struct Arrival {
  Index first = 0;
  const std::byte* data = nullptr;
};

class SweepRunner {
 public:
  virtual ~SweepRunner() = default;
  virtual void set_memory(const SweepMemory& memory) = 0;
  /// Where the state is: a sweep that permutes may have left it where SweepMemory::spare was.
  virtual std::byte* state() const = 0;
  virtual std::uint32_t prepare(std::span<const Sweep> sweeps, Summing summing, cudaStream_t stream) = 0;
  /// Sweeps `handle`, ... become `sweeps`, which differ in their numbers alone: kernels stay where those are arguments.
  virtual void renew(std::uint32_t handle, std::span<const Sweep> sweeps, cudaStream_t stream) = 0;
  virtual void expect_chunks(std::uint32_t handle, Index mask, Index arrivals, cudaStream_t stream) = 0;
  /// Whether run_arrived() has its kernel.
  virtual bool loads_arrived(std::uint32_t handle, Index mask, Index arrivals) = 0;
  virtual void finish_preparing() = 0;
  virtual void clear() = 0;
  /// While held, no kernel is loaded: loading can wait for the device, and the device for a rank that waits for this
  /// one.
  virtual void hold_loading(bool held) = 0;
  virtual void run(std::uint32_t handle, ChunkView chunk, cudaStream_t stream, bool accumulate_norm) = 0;
  /// The same of a chunk whose parts `arrived` are elsewhere; loads_arrived() was true.
  virtual void run_arrived(std::uint32_t handle, ChunkView chunk, Index arrivals, std::span<const Arrival> arrived,
                           cudaStream_t stream, bool accumulate_norm) = 0;
  /// What the latest run has left in SweepMemory::sums; null where it has not.
  virtual const SweptBits* swept_bits() const = 0;
};

std::unique_ptr<SweepRunner> make_sweep_runner(const BackendOptions& options);

}  // namespace qsim::cuda
