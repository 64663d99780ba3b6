// Owners of device resources, and which device is usable.
#pragma once

#include <cuda_runtime.h>

#include <optional>
#include <string>
#include <utility>

#include "device/pool.h"
#include "qsim/error.h"

namespace qsim::cuda {

/// Throws DeviceError naming `call` unless `status` is success.
void check(cudaError_t status, const char* call);

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(Stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  cudaStream_t get() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

class Event {
 public:
  enum class Use { kOrder, kTime };
  explicit Event(Use use = Use::kOrder);
  ~Event();
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  cudaEvent_t get() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// The pool's one device allocation.
class DevicePoolMemory : public PoolMemory {
 public:
  std::byte* allocate(std::uint64_t bytes) override;
  void release(std::byte* data, std::uint64_t bytes) noexcept override;
};

/// Makes `device` this thread's device. DeviceError naming the reason when it cannot be used: no driver, driver too
/// old, no such device, wrong architecture.
void use_device(int device);

/// Hardware queues of this process's contexts, once, before its first call to the driver; a number in the environment
/// (CUDA_DEVICE_MAX_CONNECTIONS) stays. `ranks` of a state that the process will hold a part of; 0: that is open.
void choose_queues(int ranks);
/// How many, where a launcher started `launched` ranks and the process sees `gpus`, if that is known.
int hardware_queues(int ranks, int launched, std::optional<std::size_t> gpus);
/// The GPUs of a machine that has `gpus` that a process sees which has `visible` (null: not set) for
/// CUDA_VISIBLE_DEVICES.
std::optional<std::size_t> visible_gpus(std::optional<std::size_t> gpus, const char* visible);

struct DeviceFacts {
  std::string name;
  int major = 0, minor = 0;
  std::uint64_t total_bytes = 0, free_bytes = 0;
};
DeviceFacts device_facts(int device);

/// Why no device can be used: what cudaGetDeviceCount said, the CUDA versions of the driver (0: none) and the build,
/// and whether the machine has a GPU that a driver would be for.
DeviceError no_device_error(cudaError_t status, int driver, int runtime, bool has_gpu);
/// NVIDIA's GPUs on the machine's buses; none where that cannot be seen.
std::optional<std::size_t> gpus_of_machine();
/// Why this one cannot be: the build has no code for its architecture.
DeviceError no_code_error(int device, const DeviceFacts& facts);

constexpr int kLaneBlocksMajor = 9;  // compute capability from which on tensor cores do blocks on lanes

constexpr double kUsableShare = 0.98;  // of free memory: the driver needs the rest
/// Bytes of a pool for a run of `needed` bytes: those, or `share` of what is free where that is more. CapacityError
/// with the arithmetic when they do not fit.
std::uint64_t pool_bytes(std::uint64_t needed, std::uint64_t free_bytes, double share, int device);

}  // namespace qsim::cuda
