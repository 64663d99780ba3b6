// Which GPUs are here, without making a context on each (that costs a fifth of a second a device).
#include <cuda_runtime.h>

#include <string>

#include "cuda/device.h"
#include "device/gpu_parts.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// What the driver's context and the loaded kernels take; the pool's own allocation finds out exactly.
constexpr std::uint64_t kContextBytes = 1ull << 30;

}  // namespace

GpuSurvey survey_gpus() {
  GpuSurvey survey;
  try {
    cuda::use_device(0);
  } catch (const DeviceError& error) {
    survey.reason = error.what();
    return survey;
  }
  int count = 0;
  cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  for (int id = 0; id < count; ++id) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, id), "cudaGetDeviceProperties");
    const std::uint64_t total = properties.totalGlobalMem;
    survey.devices.push_back({id, properties.name, total, total > kContextBytes ? total - kContextBytes : 0});
  }
  return survey;
}

std::string cuda_build_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

}  // namespace qsim
