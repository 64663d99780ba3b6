// Backends by name; transports in order of preference, each tested bit by bit before it is used.
#include "session/choose/registry.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/file/files.h"
#include "base/ranks/agreement.h"
#include "comm/launcher.h"
#include "cpu/cpu_info.h"
#include "null/null_backend.h"
#include "plan/cost/pool_layout.h"
#include "qsim/error.h"
#include "runtime/exchange/transport_check.h"

namespace qsim {
namespace {

constexpr std::uint32_t kOneThreadBits = 12;  // a shard that one core sweeps faster than threads meet

std::unique_ptr<Transport> open_host(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                     Precision) {
  return make_host_transport(backend, communicator, local_bits);
}

/// What may carry the state of `backend`'s ranks.
std::vector<TransportFactory> candidates(BackendKind backend, const Communicator& communicator) {
  if (backend == BackendKind::kCuda) return gpu_transports();
  const bool by_mpi = communicator.name() == "mpi";
  return {{by_mpi ? "mpi" : "host", by_mpi ? ExchangeKind::kMpi : ExchangeKind::kAuto, open_host}};
}

/// A device that cannot serve this way of trading may serve another: it is refused as a missing way is.
std::unique_ptr<Transport> open_here(const TransportFactory& factory, const DistributedState& state) {
  try {
    return factory.open(state.backend, state.communicator, state.local_bits(), state.precision);
  } catch (const DeviceError& error) {
    throw CommunicatorError(error.what(), state.communicator.rank(), error.hint());
  }
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int cores = sched_getaffinity(0, sizeof(set), &set) != 0
                        ? static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))
                        : std::max(1, CPU_COUNT(&set));
  // A control group may grant less time than there are cores; threads beyond it would only be stopped in turns.
  const double granted = cpu::control_group().cores;
  return granted > 0 ? std::clamp(static_cast<int>(std::ceil(granted)), 1, cores) : cores;
}

}  // namespace

std::unique_ptr<Backend> make_backend(BackendKind kind, const BackendOptions& options) {
  switch (kind) {
    case BackendKind::kCpu:
      return make_cpu_backend(options);
    case BackendKind::kCuda:
      return make_cuda_backend(options);
    case BackendKind::kNull:
      return make_null_backend(options);
    case BackendKind::kAuto:
      break;
  }
  throw Error("a backend was made before it was chosen");
}

OpenedTransport open_transport(BackendKind backend, ExchangeKind wanted, DistributedState& state,
                               const PoolLayout& pool) {
  if (state.communicator.size() == 1) return {};
  if (backend == BackendKind::kNull) {  // nothing is there to move, or to test by moving it
    return {make_null_transport(dynamic_cast<NullBackend&>(state.backend)), "null", "no amplitude is moved"};
  }
  return open_one_of(candidates(backend, state.communicator), backend, wanted, state, pool);
}

OpenedTransport open_one_of(std::span<const TransportFactory> factories, BackendKind backend, ExchangeKind wanted,
                            DistributedState& state, const PoolLayout& pool) {
  OpenedTransport opened;
  Communicator& communicator = state.communicator;
  std::string refusals, hint;
  int rank = -1;
  for (const TransportFactory& factory : factories) {
    if (wanted != ExchangeKind::kAuto && factory.kind != wanted) continue;
    const auto refuse = [&](const CommunicatorError& error) {
      communicator.barrier();  // throws where it is not the transport but a rank that failed
      refusals += (refusals.empty() ? "" : "; ") + factory.name + ": " + error.what();
      hint = error.hint();
      rank = error.rank();
    };
    std::unique_ptr<Transport> transport;
    try {
      together(communicator, [&] { transport = open_here(factory, state); });
    } catch (const CommunicatorError& error) {
      refuse(error);
      continue;
    }
    try {
      self_test(state, *transport, pool);
    } catch (const TransportRefused& error) {
      refuse(error);
      continue;
    }
    opened.name = factory.name;
    opened.reason = wanted != ExchangeKind::kAuto ? "as asked for" : refusals.empty() ? "first choice" : refusals;
    opened.transport = std::move(transport);
    return opened;
  }
  if (wanted != ExchangeKind::kAuto) {
    throw CommunicatorError("`exchange` " + std::string(name_of(wanted)) + " is not there for backend " +
                                std::string(name_of(backend)) + " over " + std::string(communicator.name()) +
                                (refusals.empty() ? "" : " (" + refusals + ")"),
                            rank, hint);
  }
  throw CommunicatorError("no way to move the state between ranks was left (" + refusals + ")", rank, hint);
}

GpuInfo pick_gpu(const GpuSurvey& survey, const Target& target, int place) {
  if (survey.devices.empty()) throw DeviceError("there is no GPU to run on: " + survey.reason);
  std::vector<GpuInfo> usable = target.gpu_ids.empty() ? survey.devices : std::vector<GpuInfo>();
  for (const int id : target.gpu_ids) {
    const auto found =
        std::find_if(survey.devices.begin(), survey.devices.end(), [id](const GpuInfo& gpu) { return gpu.id == id; });
    if (found == survey.devices.end()) {
      throw DeviceError("there is no GPU " + std::to_string(id) + " here: " + std::to_string(survey.devices.size()) +
                        " can be used, counted from 0");
    }
    usable.push_back(*found);
  }
  const auto number = static_cast<std::size_t>(place);
  if (number < usable.size()) return usable[number];
  // A launcher that shows every rank a GPU of its own shows it as the only one.
  const bool own = usable.size() == 1 && target.gpu_ids.empty() && shown_gpus() != nullptr;
  if (own || target.oversubscribe_gpus) return usable[number % usable.size()];
  throw DeviceError("rank " + std::to_string(place) + " of this host has no GPU: there are " +
                    std::to_string(usable.size()) + " for at least " + std::to_string(place + 1) +
                    " ranks; start fewer ranks, or share GPUs with `oversubscribe_gpus`");
}

int rank_threads(int wanted, std::uint32_t local_bits, int ranks_in_process) {
  if (wanted > 0) return wanted;
  if (local_bits <= kOneThreadBits) return 1;
  const int cores = usable_cores();
  int sharing = ranks_in_process;
  const LaunchEnvironment launch = launch_environment();
  // Ranks that the launcher has bound each see cores of their own.
  if (launch.local_size > 1 && cores >= static_cast<int>(std::thread::hardware_concurrency())) {
    sharing = std::max(sharing, launch.local_size);
  }
  return std::max(1, cores / sharing);
}

void check_kernel_cache(const std::string& wanted) {
  if (wanted.empty() || wanted == "off") return;
  const PrivateCache named(wanted, kMostCachedKernelBytes);
  if (named.trouble().empty()) return;
  throw FileError("`kernel_cache`: '" + wanted + "' cannot be used: " + named.trouble());
}

HostLimits host_limits() {
  const cpu::HostMemory memory = cpu::host_memory();
  return {memory.total_bytes, memory.available_bytes};
}

}  // namespace qsim
