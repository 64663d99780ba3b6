// What a wire has collected since its last turn: one matrix, and what it is the product of where that is open.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/numbers/matrix2.h"
#include "base/numbers/phase.h"
#include "plan/open_numbers.h"

namespace qsim {

/// Makes `factors`, of which `matrix` is the product, those of `left` times it; none where all are fixed.
inline void multiply_factors(std::vector<OpenFactor>& factors, const Matrix2& matrix, const OpenFactor& left) {
  if (factors.empty() && left.sum == 0) return;
  if (factors.empty() && matrix != kIdentity2) factors.push_back({0, true, matrix});
  if (left.sum == 0 && !factors.empty() && factors.back().sum == 0) {
    factors.back().matrix = unitary_product(left.matrix, factors.back().matrix);
  } else {
    factors.push_back(left);
  }
}

struct Pending {
  Matrix2 matrix = kIdentity2;
  bool birth = false;
  std::uint32_t gates = 0;
  std::vector<std::uint32_t> sources;
  std::vector<OpenFactor> open;  // the factors of the matrix, where one is open

  void multiply(const Matrix2& left) { multiply(left, {0, true, left}); }
  void multiply_phase(const OpenAngle& angle, bool on_one) {
    const Complex phase = phase_by(angle.value);
    const Matrix2 left = on_one ? Matrix2{1, 0, 0, phase} : Matrix2{phase, 0, 0, 1};
    multiply(left, {angle.sum, on_one, left});
  }
  /// Multiplies from the right: before all that is pending.
  void put_phase_before(const OpenAngle& angle) {
    // Not exact: matrices that are real for it are kept apart by sweeps, and a quantum walk takes 4 % longer.
    const Matrix2 right{1, 0, 0, std::polar(1.0, angle.value)};
    if (!open.empty() || angle.sum != 0) {
      if (open.empty() && matrix != kIdentity2) open.push_back({0, true, matrix});
      open.insert(open.begin(), {angle.sum, true, right});
    }
    matrix = unitary_product(matrix, right);
  }

  /// Phases alone, whatever the open angles are.
  bool is_phases() const {
    for (const OpenFactor& factor : open) {
      if (factor.sum == 0 && !is_diagonal(factor.matrix)) return false;
    }
    return is_diagonal(matrix);
  }
  /// The angle at 0 or at 1 of phases alone.
  OpenAngle phase(bool at_one, OpenNumbers& numbers) const {
    if (open.empty()) return std::arg(matrix[at_one ? 3 : 0]);
    OpenAngle total = 0;
    for (const OpenFactor& factor : open) {
      if (factor.sum != 0 && factor.on_one != at_one) continue;
      total = numbers.added(total, {std::arg(factor.matrix[at_one ? 3 : 0]), factor.sum});
    }
    return total;
  }
  /// A flip, its phases fixed.
  bool is_fixed_flip() const { return open.empty() && is_flip(matrix); }

 private:
  void multiply(const Matrix2& left, const OpenFactor& factor) {
    multiply_factors(open, matrix, factor);
    matrix = unitary_product(left, matrix);
  }
};

}  // namespace qsim
