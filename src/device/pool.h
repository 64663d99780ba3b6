// One aligned allocation, handed out as a stack: frames are given back in the reverse order of their making.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace qsim {

/// Has the system back these bytes of the host's memory now instead of when they are first written. They keep their
/// values.
void touch_pages(std::span<std::byte> memory);

/// Where a pool's bytes come from: host memory here, a device library elsewhere.
class PoolMemory {
 public:
  virtual ~PoolMemory() = default;
  /// `bytes` at an address that is a multiple of 256, or nullptr when there are not that many.
  virtual std::byte* allocate(std::uint64_t bytes) = 0;
  virtual void release(std::byte* data, std::uint64_t bytes) noexcept = 0;
};

/// Host memory in pages; large blocks ask for huge pages, which a sweep's scattered accesses need.
class HostPoolMemory : public PoolMemory {
 public:
  std::byte* allocate(std::uint64_t bytes) override;
  void release(std::byte* data, std::uint64_t bytes) noexcept override;
};

/// Stack allocator over one block. Not thread-safe.
class Pool {
 public:
  explicit Pool(PoolMemory& memory) : memory_(memory) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { release(); }

  /// Gives back the block (every frame must be gone) and takes one of `bytes`. CapacityError when memory has not that
  /// many.
  void reserve(std::uint64_t bytes);
  void release() noexcept;

  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t used() const { return used_; }
  std::uint64_t peak() const { return peak_; }

  static constexpr std::uint64_t kAlignment = 256;
  static constexpr std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  friend class PoolFrame;
  std::byte* push(std::uint64_t bytes, const std::string& what);
  void pop(std::uint64_t bytes) noexcept { used_ -= bytes; }

  PoolMemory& memory_;
  std::byte* data_ = nullptr;
  std::uint64_t capacity_ = 0, used_ = 0, peak_ = 0;
};

/// A piece of a pool, given back when it goes out of scope; frames must die in the reverse order of their birth.
class PoolFrame {
 public:
  PoolFrame() = default;
  /// CapacityError, naming `what`, when the pool has no `bytes` left.
  PoolFrame(Pool& pool, std::uint64_t bytes, const std::string& what);
  PoolFrame(PoolFrame&& other) noexcept { swap(other); }
  PoolFrame& operator=(PoolFrame&& other) noexcept {
    PoolFrame taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~PoolFrame();

  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void swap(PoolFrame& other) noexcept;

  Pool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace qsim
