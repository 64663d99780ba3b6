// The variables of a branch: those that are zero take no room, so that branches are cheap to copy and to compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "classical/classical.h"

namespace qsim {

class Variables {
 public:
  Variables() = default;
  /// All zero; `types` must outlive them.
  explicit Variables(const std::vector<ScalarType>& types) : types_(&types) {}

  Scalar operator[](std::uint32_t variable) const;
  void set(std::uint32_t variable, const Scalar& value);
  /// Back to zero.
  void forget(std::uint32_t variable);

  /// Equal variables have equal fingerprints.
  std::uint64_t fingerprint() const { return fingerprint_; }
  /// Of all that is not zero.
  std::size_t bytes() const { return held_.size() * sizeof(held_.front()); }
  friend bool operator==(const Variables& a, const Variables& b) {
    return a.fingerprint_ == b.fingerprint_ && a.held_ == b.held_;
  }

 private:
  using Held = std::pair<std::uint32_t, Scalar>;
  std::vector<Held>::iterator find(std::uint32_t variable);

  const std::vector<ScalarType>* types_ = nullptr;
  std::vector<Held> held_;  // those that are not zero, by rising number
  std::uint64_t fingerprint_ = 0;
};

}  // namespace qsim
