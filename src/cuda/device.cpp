// Device choice with its reasons; streams, events and the pool's allocation.
#include "cuda/device.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/file/files.h"
#include "comm/gpu/driver.h"
#include "comm/launcher.h"
#include "device/library_error.h"
#include "kernels/cuda/sweep.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

// A context takes 17 ms to make and 10 to end for each of its queues (H200). Work of different lanes that shares one
// goes in its order: exchanges want one for each lane, a rank alone has batches' slices side by side.
constexpr int kQueuesOfExchanges = 32, kQueuesOfOne = 4;

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::optional<std::size_t> gpus_of_machine() {
  const std::string folder = "/sys/bus/pci/devices/";
  const auto devices = system_folder(folder);
  // Without a list nothing is known; /dev/dxg is the GPU of a Windows host.
  if (!devices || ::access("/dev/dxg", F_OK) == 0) return std::nullopt;
  const auto count = std::ranges::count_if(*devices, [&](const std::string& device) {
    // Display controllers have class 0x03....
    return read_system_file(folder + device + "/vendor").starts_with("0x10de") &&
           read_system_file(folder + device + "/class").starts_with("0x03");
  });
  return static_cast<std::size_t>(count);
}

std::optional<std::size_t> visible_gpus(std::optional<std::size_t> gpus, const char* visible) {
  if (visible == nullptr) return gpus;
  const std::string_view list = visible;
  const auto named = list.empty() ? 0 : 1 + static_cast<std::size_t>(std::ranges::count(list, ','));
  return gpus ? std::min(*gpus, named) : named;
}

int hardware_queues(int ranks, int launched, std::optional<std::size_t> gpus) {
  const bool alone = launched == 1 && (ranks == 1 || gpus.value_or(2) <= 1);
  return alone ? kQueuesOfOne : kQueuesOfExchanges;
}

void choose_queues(int ranks) {
  constexpr const char* kName = "CUDA_DEVICE_MAX_CONNECTIONS";
  if (std::getenv(kName) != nullptr) return;  // by the user, or by a call before
  const auto gpus = visible_gpus(gpus_of_machine(), shown_gpus());
  const int queues = hardware_queues(ranks, launch_environment().size, gpus);
  setenv(kName, std::to_string(queues).c_str(), 0);
}

DeviceError no_device_error(cudaError_t status, int driver, int runtime, bool has_gpu) {
  if (driver == 0 && !has_gpu) return DeviceError("no CUDA device: this machine has no NVIDIA GPU; use `backend` cpu");
  if (driver == 0) return DeviceError("no CUDA driver is installed: install NVIDIA's driver, or use `backend` cpu");
  if (status == cudaErrorInsufficientDriver) {
    return DeviceError("the CUDA driver is too old: it serves CUDA " + version_text(driver) + ", this build needs " +
                       version_text(runtime) + "; update the driver, or use `backend` cpu");
  }
  if (status == cudaErrorNoDevice)
    return DeviceError("no CUDA device is visible (see CUDA_VISIBLE_DEVICES); use `backend` cpu");
  return library_error("CUDA", static_cast<int>(status), "cudaGetDeviceCount", cudaGetErrorString(status));
}

DeviceError no_code_error(int device, const DeviceFacts& facts) {
  const std::string major = std::to_string(facts.major), minor = std::to_string(facts.minor);
  return DeviceError("device " + std::to_string(device) + " (" + facts.name + ", compute capability " + major + "." +
                     minor + ") has an architecture that this build has no code for: build with " +
                     "CMAKE_CUDA_ARCHITECTURES=" + major + minor + ", or use `backend` cpu");
}

std::uint64_t pool_bytes(std::uint64_t needed, std::uint64_t free_bytes, double share, int device) {
  const auto usable = static_cast<std::uint64_t>(kUsableShare * static_cast<double>(free_bytes));
  if (needed > usable) {
    throw CapacityError("GPU " + std::to_string(device) + " has " + std::to_string(usable) +
                            " usable bytes free (98 % of " + std::to_string(free_bytes) + "); this run needs " +
                            std::to_string(needed) + ": use more GPUs, single precision or fewer qubits",
                        needed, usable);
  }
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(free_bytes));
  return std::min(std::max(needed, wanted), usable);
}

void check(cudaError_t status, const char* call) { check_cuda(status, call); }

Stream::Stream() { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
Stream::~Stream() {
  if (handle_ != nullptr) (void)cudaStreamDestroy(handle_);
}

Event::Event(Use use) {
  const unsigned flags = use == Use::kTime ? cudaEventDefault : cudaEventDisableTiming;
  check(cudaEventCreateWithFlags(&handle_, flags), "cudaEventCreateWithFlags");
}
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
  choose_queues(0);
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    int driver = 0, runtime = 0;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    throw no_device_error(status == cudaSuccess ? cudaErrorNoDevice : status, driver, runtime,
                          gpus_of_machine().value_or(1) > 0);
  }
  if (device < 0 || device >= count) {
    throw DeviceError("there is no CUDA device " + std::to_string(device) + ": this machine shows " +
                      std::to_string(count));
  }
  check(cudaSetDevice(device), "cudaSetDevice");
  if (sweep_kernel_status() == cudaErrorNoKernelImageForDevice) {
    throw no_code_error(device, device_facts(device));
  }
}

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.major = properties.major;
  facts.minor = properties.minor;
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  facts.free_bytes = free_bytes;
  facts.total_bytes = total_bytes;
  return facts;
}

}  // namespace qsim::cuda
