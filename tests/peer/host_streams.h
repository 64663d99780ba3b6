// Streams and events of the CUDA runtime on the host, as far as the transports between GPUs use them: each stream is a
// thread that runs what it was given in order, after random pauses, so that what is not ordered by events gets out of
// order. Defines the runtime's own functions; programs with it do not link the runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

namespace qsim::test {

/// A stream that is made and owned here; cudaStream_t is its address.
cudaStream_t make_host_stream();
/// Waits for what it was given, then ends it.
void end_host_stream(cudaStream_t stream);
/// Gives `stream` something to run after what it has.
void enqueue(cudaStream_t stream, std::function<void()> work);
/// Longest pause before a piece of work, in microseconds, and where the pauses' random numbers begin.
void set_pauses(std::uint32_t most, std::uint64_t seed);
/// Copies and kernels that streams have run.
struct CopyCounts {
  std::uint64_t copies = 0, kernels = 0;
};
CopyCounts copy_counts();

/// The Nth call of the runtime or of NCCL from now on fails, once, and does nothing; 0: none does.
void fail_call(std::uint64_t nth);
/// Counts a call; true for the one that is to fail.
bool call_fails();
/// Whether it has been reached.
bool call_has_failed();

}  // namespace qsim::test
