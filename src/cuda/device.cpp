// Device choice with its reasons; streams, events and the pool's allocation.
#include "cuda/device.h"

#include <cstdlib>

#include "comm/gpu/driver.h"
#include "kernels/cuda/sweep.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

[[noreturn]] void fail_without_device(cudaError_t status) {
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaRuntimeGetVersion(&runtime);
  if (driver == 0) throw DeviceError("no CUDA driver is installed: install NVIDIA's driver, or use --backend cpu");
  if (status == cudaErrorInsufficientDriver) {
    throw DeviceError("the CUDA driver is too old: it serves CUDA " + version_text(driver) + ", this build needs " +
                      version_text(runtime) + "; update the driver, or use --backend cpu");
  }
  if (status == cudaErrorNoDevice)
    throw DeviceError("no CUDA device is visible (see CUDA_VISIBLE_DEVICES); use --backend cpu");
  throw DeviceError("CUDA", static_cast<int>(status), "cudaGetDeviceCount", cudaGetErrorString(status));
}

}  // namespace

void check(cudaError_t status, const char* call) { check_cuda(status, call); }

Stream::Stream() { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
Stream::~Stream() {
  if (handle_ != nullptr) (void)cudaStreamDestroy(handle_);
}

Event::Event() { check(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
Event::~Event() {
  if (handle_ != nullptr) (void)cudaEventDestroy(handle_);
}

std::byte* DevicePoolMemory::allocate(std::uint64_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();  // the failure is reported by the caller; later calls must not see it
    return nullptr;
  }
  check(status, "cudaMalloc of the memory pool");
  return static_cast<std::byte*>(data);
}

void DevicePoolMemory::release(std::byte* data, std::uint64_t) noexcept { (void)cudaFree(data); }

void use_device(int device) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);  // a hardware queue for every lane; a value that is set stays
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) fail_without_device(status == cudaSuccess ? cudaErrorNoDevice : status);
  if (device < 0 || device >= count) {
    throw DeviceError("there is no CUDA device " + std::to_string(device) + ": this machine shows " +
                      std::to_string(count));
  }
  check(cudaSetDevice(device), "cudaSetDevice");
  if (sweep_kernel_status() == cudaErrorNoKernelImageForDevice) {
    const DeviceFacts facts = device_facts(device);
    throw DeviceError("device " + std::to_string(device) + " (" + facts.name + ", compute capability " +
                      std::to_string(facts.major) + "." + std::to_string(facts.minor) +
                      ") has an architecture that this build has no code for: build with CMAKE_CUDA_ARCHITECTURES=" +
                      std::to_string(facts.major) + std::to_string(facts.minor) + ", or use --backend cpu");
  }
}

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.major = properties.major;
  facts.minor = properties.minor;
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  facts.free_bytes = free_bytes;
  facts.total_bytes = total_bytes;
  return facts;
}

}  // namespace qsim::cuda
