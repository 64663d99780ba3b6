// Names -> backends and transports.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "device/backend.h"
#include "device/gpu_parts.h"
#include "device/transport.h"
#include "plan/cost/pool_layout.h"
#include "qsim/target.h"
#include "runtime/distributed_state.h"

namespace qsim {

/// Makes a backend of that kind, which is not kAuto.
std::unique_ptr<Backend> make_backend(BackendKind kind, const BackendOptions& options);

struct OpenedTransport {
  std::unique_ptr<Transport> transport;  // null on one rank
  std::string name, reason;
};
/// Opens the first transport that is there and passes its self-test on every rank; `wanted` forces one. Collective;
/// CommunicatorError, the same on every rank, where none is left. The state is overwritten.
OpenedTransport open_transport(BackendKind backend, ExchangeKind wanted, DistributedState& state,
                               const PoolLayout& pool);

/// The same among `factories`, best first, on behalf of `backend`.
OpenedTransport open_one_of(std::span<const TransportFactory> factories, BackendKind backend, ExchangeKind wanted,
                            DistributedState& state, const PoolLayout& pool);

/// The GPU of the rank that is number `place` on its host: the place-th of those named, or of those there are.
/// DeviceError where that does not exist.
GpuInfo pick_gpu(const GpuSurvey& survey, const Target& target, int place);

/// FileError where a folder was named for compiled kernels that cannot be used.
void check_kernel_cache(const std::string& wanted);

/// Threads of a rank: `wanted`, or this process's share of the cores that it may run on; 1 for small circuits.
int rank_threads(int wanted, std::uint32_t local_bits, int ranks_in_process);
/// Bytes that the ranks of this host may use together, and what is free of them now.
struct HostLimits {
  std::uint64_t usable_bytes = 0, available_bytes = 0;
};
HostLimits host_limits();

}  // namespace qsim
