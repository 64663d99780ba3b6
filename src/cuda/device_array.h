// Device memory for an array of plain values, outside any pool: for batches, which have no pool of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/text.h"
#include "cuda/device.h"

namespace qsim::cuda {

/// Room for `count` values; empty for none. CapacityError where it does not fit. Copies are enqueued on a stream.
template <typename Value>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : bytes_(count * sizeof(Value)) {
    if (bytes_ == 0) return;
    data_ = memory_.allocate(bytes_);
    if (data_ != nullptr) return;
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    throw CapacityError("a batch needs " + format_bytes(bytes_) + " at once on the GPU, which has " +
                            format_bytes(free) + " free: ask for fewer circuits or answers a call",
                        bytes_, free);
  }
  ~DeviceArray() {
    if (data_ != nullptr) memory_.release(data_, bytes_);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  std::uint64_t bytes() const { return bytes_; }
  Value* get() const { return reinterpret_cast<Value*>(data_); }
  void upload(const void* host, std::size_t bytes, const Stream& stream) const {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(data_, host, bytes, cudaMemcpyHostToDevice, stream.get()), "cudaMemcpyAsync to the device");
  }
  void download(void* host, std::size_t bytes, const Stream& stream, std::size_t from = 0) const {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(host, data_ + from, bytes, cudaMemcpyDeviceToHost, stream.get()),
          "cudaMemcpyAsync to the host");
  }

 private:
  DevicePoolMemory memory_;
  std::uint64_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace qsim::cuda
