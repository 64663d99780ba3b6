// Device memory for an array of plain values, outside any pool: for batches, which have no pool of their own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/device.h"

namespace qsim::cuda {

/// Room for `count` values; empty for none. Copies are enqueued on a stream.
template <typename Value>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : bytes_(count * sizeof(Value)) {
    if (bytes_ > 0) data_ = memory_.allocate(bytes_);
  }
  ~DeviceArray() {
    if (data_ != nullptr) memory_.release(data_, bytes_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  Value* get() const { return reinterpret_cast<Value*>(data_); }
  void upload(const void* host, std::size_t bytes, const Stream& stream) const {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(data_, host, bytes, cudaMemcpyHostToDevice, stream.get()), "cudaMemcpyAsync to the device");
  }
  void download(void* host, std::size_t bytes, const Stream& stream) const {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(host, data_, bytes, cudaMemcpyDeviceToHost, stream.get()), "cudaMemcpyAsync to the host");
  }

 private:
  DevicePoolMemory memory_;
  std::uint64_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace qsim::cuda
