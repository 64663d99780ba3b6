// 2x2 matrices of a batch as products of fixed ones and of phases at one entry of an identity.
#pragma once

#include <span>
#include <vector>

#include "base/numbers/matrix2.h"
#include "batch/angle_sums.h"
#include "device/batch/batch_program.h"
#include "plan/open_numbers.h"

namespace qsim {

class Factors {
 public:
  Factors() = default;
  explicit Factors(const Matrix2& fixed) { then(fixed); }
  Factors(std::span<const OpenFactor> factors, AngleSums& sums);

  /// Times this from the left.
  void then(const Matrix2& fixed);
  void then(const AngleSums::Phase& phase, int line);
  /// Leaves out what ends it with phases, fixed ones too.
  void drop_last_phases();

  bool empty() const { return parts_.empty(); }
  /// It is one matrix, which matrix() is.
  bool fixed() const { return parts_.size() == 1 && parts_.front().sum == 0; }
  const Matrix2& matrix() const { return parts_.front().fixed; }

  /// As steps, appended to the program's. `of_zero`: only the first column counts.
  void write(bool of_zero, AngleSums& sums, BatchProgram& program) const;

 private:
  struct Part {
    std::uint32_t sum = 0;  // 0: `fixed`, which no other fixed one stands beside
    int line = 0;           // of an identity, times the sum's phase
    Matrix2 fixed{};
  };
  std::vector<Part> parts_;  // the first one first
};

}  // namespace qsim
