// Sums of doubles whose error does not grow with their length.
#pragma once

#include <cmath>

namespace qsim {

/// Neumaier's compensated sum.
class CompensatedSum {
 public:
  void add(double value) {
    const double next = sum_ + value;
    carry_ += std::abs(sum_) >= std::abs(value) ? (sum_ - next) + value : (value - next) + sum_;
    sum_ = next;
  }
  void add(const CompensatedSum& other) {
    add(other.sum_);
    carry_ += other.carry_;
  }
  double value() const { return sum_ + carry_; }

 private:
  double sum_ = 0, carry_ = 0;
};

}  // namespace qsim
