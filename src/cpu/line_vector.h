// Vectors of reals as vector loads want them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace qsim::cpu {

/// Allocates at the boundary of a cache line, as vector loads want it.
template <typename T>
struct LineAllocator {
  using value_type = T;
  LineAllocator() = default;
  template <typename U>
  explicit LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* data, std::size_t) noexcept { ::operator delete(data, kAlignment); }
  friend bool operator==(LineAllocator, LineAllocator) { return true; }

 private:
  static constexpr std::align_val_t kAlignment{64};
};
template <typename T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace qsim::cpu
