// A list of at most N elements that lies in its owner: no allocation, cheap to copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace qsim {

/// Of small trivial elements. Adding to a full list is an error of the caller, and throws.
template <typename T, std::size_t N>
class InlineList {
 public:
  InlineList() = default;
  InlineList(std::initializer_list<T> values) { assign(values.begin(), values.end()); }

  template <typename Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    for (; first != last; ++first) push_back(*first);
  }
  void push_back(T value) { values_.at(size_++) = value; }
  void clear() { size_ = 0; }

  std::size_t size() const { return size_; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + size_; }

 private:
  std::array<T, N> values_{};
  std::uint32_t size_ = 0;
};

}  // namespace qsim
