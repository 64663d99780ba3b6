// What a build with CUDA adds to the registry; src/absent stands in for it where there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file/cache.h"
#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "device/transport.h"
#include "plan/cost/gpu_pace.h"
#include "qsim/target.h"

namespace qsim {

/// A way for the state to travel between ranks. `open` is collective and throws CommunicatorError on every rank alike
/// where this way is not there.
struct TransportFactory {
  std::string name;  // "host", "p2p", "nccl", "mpi", "staged"
  ExchangeKind kind = ExchangeKind::kAuto;
  std::unique_ptr<Transport> (*open)(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                     Precision precision) = nullptr;
};

/// Transports between GPUs, best first.
std::vector<TransportFactory> gpu_transports();

struct GpuInfo {
  int id = 0;
  std::string name;
  std::uint64_t free_bytes = 0;
  GpuRates rates = {};
};
/// GPUs that can be used. `reason` says why there are none.
struct GpuSurvey {
  std::vector<GpuInfo> devices;
  std::string reason;
};
/// Starts the driver; faster for one rank. `ranks` will share a state, 0: that is open.
GpuSurvey survey_gpus(int ranks);
/// What the makers call the GPUs that the system lists, without starting the driver; none where that is not known, or
/// where the process is shown none of them.
std::vector<std::string> listed_gpu_models();

constexpr std::uint64_t kMostCachedKernelBytes = std::uint64_t{256} << 20;
/// The folder that RunOptions::kernel_cache means: empty where it is "off" or the user has none.
inline std::string kernel_cache_folder(const std::string& wanted) {
  if (wanted.empty()) return user_cache_folder("kernels");
  return wanted == "off" ? std::string() : wanted;
}

/// Kernels that sessions of this process asked for and that are not compiled yet: of one architecture (90 is compute
/// capability 9.0), for one folder of compiled kernels.
struct LateKernels {
  int architecture = 0;
  std::string folder;  // empty: they are kept nowhere
  std::vector<std::string> sources;
};
/// From here on the end of a session does not wait for its compiler. late_kernels() are what is then still to do;
/// end_compilers() must come before the process ends by itself, and waits for the kernels that are in work.
void keep_compilers();
std::vector<LateKernels> late_kernels();
void end_compilers();
/// Compiles into the folder on all cores, unless another process does so for this folder.
void compile_kernels(const LateKernels& kernels);

/// Versions that this build was made with, without starting the driver; empty without CUDA.
std::string cuda_build_version();

}  // namespace qsim
