// Host memory that a GPU reads and writes by itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <utility>

namespace qsim {

/// Page-locked; none for no bytes. `check` throws for a call that failed, which it is told by name.
class PinnedBuffer {
 public:
  PinnedBuffer(std::size_t bytes, void (*check)(cudaError_t, const char*)) {
    if (bytes > 0) check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PinnedBuffer& operator=(PinnedBuffer&&) = delete;
  ~PinnedBuffer() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  void* data() const { return data_; }
  std::span<std::byte> first(std::size_t bytes) const { return {static_cast<std::byte*>(data_), bytes}; }

 private:
  void* data_ = nullptr;
};

}  // namespace qsim
