// Which GPUs are here, without making a context on each (that costs a fifth of a second a device).
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/file/files.h"
#include "comm/launcher.h"
#include "comm/nccl/nccl_transport.h"
#include "cuda/device.h"
#include "cuda/read_out/cublas.h"
#include "cuda/run/nvrtc.h"
#include "device/gpu_parts.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// What the driver's context and the loaded kernels take; the pool's own allocation finds out exactly.
constexpr std::uint64_t kContextBytes = 1ull << 30;

std::string in_units(double value, double unit, const char* name) {
  const auto tenths = static_cast<std::uint64_t>(std::llround(10 * value / unit));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + name;
}

/// Bytes read plus written a second by a copy within the device: the best of a few. 0 where there is no room for one.
double copy_rate(const cuda::Stream& stream) {
  constexpr std::uint64_t kBytes = 512ull << 20;
  constexpr int kRepeats = 5;
  cuda::DevicePoolMemory memory;
  std::byte* const data = memory.allocate(2 * kBytes);
  if (data == nullptr) return 0;
  double best = 0;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaError_t status = cudaEventCreate(&begin);
  if (status == cudaSuccess) status = cudaEventCreate(&end);
  for (int repeat = 0; repeat <= kRepeats && status == cudaSuccess; ++repeat) {
    float milliseconds = 0;
    status = cudaEventRecord(begin, stream.get());
    if (status == cudaSuccess)
      status = cudaMemcpyAsync(data + kBytes, data, kBytes, cudaMemcpyDeviceToDevice, stream.get());
    if (status == cudaSuccess) status = cudaEventRecord(end, stream.get());
    if (status == cudaSuccess) status = cudaEventSynchronize(end);
    if (status == cudaSuccess) status = cudaEventElapsedTime(&milliseconds, begin, end);
    // The first one warms up.
    if (repeat > 0 && milliseconds > 0) best = std::max(best, 2e3 * static_cast<double>(kBytes) / milliseconds);
  }
  if (begin != nullptr) (void)cudaEventDestroy(begin);
  if (end != nullptr) (void)cudaEventDestroy(end);
  memory.release(data, 2 * kBytes);
  cuda::check(status, "copy within a device");
  return best;
}

/// Units of a multiprocessor that multiply and add in single precision.
int single_units(int major, int minor) {
  const bool half = major < 8 || (major == 8 && minor == 0);
  return half ? 64 : 128;
}

GpuRates rates_of(int id, const cudaDeviceProp& properties) {
  const auto attribute = [id](cudaDeviceAttr which) {
    int value = 0;
    return cudaDeviceGetAttribute(&value, which, id) == cudaSuccess ? static_cast<double>(value) : 0.0;
  };
  const double kilohertz = 1e3, bits_of_byte = 8;
  GpuRates rates;
  rates.memory_bytes =
      2 * kilohertz * attribute(cudaDevAttrMemoryClockRate) * attribute(cudaDevAttrGlobalMemoryBusWidth) / bits_of_byte;
  rates.single_operations = kilohertz * attribute(cudaDevAttrClockRate) * properties.multiProcessorCount *
                            single_units(properties.major, properties.minor);
  const double single_to_double = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  if (single_to_double > 0) rates.double_operations = rates.single_operations / single_to_double;
  rates.without_lanes = properties.major < cuda::kLaneBlocksMajor;
  return rates;
}

std::vector<GpuInfo> all_devices() {
  std::vector<GpuInfo> devices;
  int count = 0;
  cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  for (int id = 0; id < count; ++id) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, id), "cudaGetDeviceProperties");
    const std::uint64_t total = properties.totalGlobalMem;
    devices.push_back(
        {id, properties.name, total > kContextBytes ? total - kContextBytes : 0, rates_of(id, properties)});
  }
  return devices;
}

std::string runtime_compiler() {
  try {
    const cuda::RuntimeCompiler compiler = cuda::RuntimeCompiler::load();
    const int version = compiler.version();
    return std::to_string(version / 100) + "." + std::to_string(version % 100) + " (" + compiler.file() + ")";
  } catch (const DeviceError&) {
    return "none: sweeps are interpreted";
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> gpu_facts() {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const GpuInfo& gpu : survey_gpus(1).devices) {
    cuda::use_device(gpu.id);
    const cuda::DeviceFacts device = cuda::device_facts(gpu.id);
    const double rate = copy_rate(cuda::Stream());
    facts.emplace_back("GPU " + std::to_string(gpu.id),
                       device.name + ", compute capability " + std::to_string(device.major) + "." +
                           std::to_string(device.minor) + ", " +
                           in_units(static_cast<double>(device.total_bytes), 1ull << 30, "GiB") + ", " +
                           in_units(static_cast<double>(device.free_bytes), 1ull << 30, "GiB") + " free, copies at " +
                           (rate > 0 ? in_units(rate, 1e12, "TB/s") : "an unknown rate: no room to measure"));
  }
  facts.emplace_back("NVRTC", runtime_compiler());
  const std::string cublas = cuda::cublas_version(), nccl = nccl_version();
  facts.emplace_back("cuBLAS", cublas.empty() ? "none: gram matrices need it" : cublas);
  facts.emplace_back("NCCL", nccl.empty() ? "none" : nccl);
  return facts;
}

GpuSurvey survey_gpus(int ranks) {
  GpuSurvey survey;
  cuda::choose_queues(ranks);
  try {
    cuda::use_device(0);
  } catch (const DeviceError& error) {
    survey.reason = error.what();
    return survey;
  }
  static const std::vector<GpuInfo> devices = all_devices();  // the driver takes most of a millisecond for each
  survey.devices = devices;
  return survey;
}

std::vector<std::string> listed_gpu_models() {
  const std::string folder = "/proc/driver/nvidia/gpus/";
  const auto gpus = system_folder(folder);
  if (!gpus || cuda::visible_gpus(gpus->size(), shown_gpus()) == 0) return {};
  std::vector<std::string> models;
  for (const std::string& gpu : *gpus) models.push_back(system_value(folder + gpu + "/information", "Model"));
  return models;
}

std::string cuda_build_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

}  // namespace qsim
