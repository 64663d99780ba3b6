// Owners of device resources, and which device is usable.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <utility>

#include "device/pool.h"

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
  Event();
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

struct DeviceFacts {
  std::string name;
  int multiprocessors = 0, major = 0, minor = 0;
  std::uint64_t total_bytes = 0, free_bytes = 0;
};
DeviceFacts device_facts(int device);

}  // namespace qsim::cuda
