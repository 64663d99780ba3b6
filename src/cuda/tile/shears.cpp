// Angles are at most a quarter turn, so that neither number is larger than 1.
#include "cuda/tile/shears.h"

#include <cmath>
#include <optional>

#include "base/numbers/rounding.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {
namespace {

bool on_axis(Complex entry) { return (entry.real() == 0) != (entry.imag() == 0); }

/// 1, -1, i or -i: the direction of a number on an axis.
Complex direction(Complex entry) {
  return entry.imag() == 0 ? Complex(std::copysign(1.0, entry.real()), 0)
                           : Complex(0, std::copysign(1.0, entry.imag()));
}

/// The shears of a 2x2 matrix whose entries are all on an axis.
std::optional<Shears> shears_of(const std::array<Complex, 4>& m) {
  Shears shears;
  shears.left[0] = direction(m[0]);
  // The first row is left (c, -s right): the angle's sign is in s, so that texts do not depend on it.
  const Complex beside = m[1] * std::conj(shears.left[0]);
  shears.right = beside.imag() == 0 ? Complex(1) : Complex(0, 1);
  const double cosine = std::abs(m[0]), sine = -(beside * std::conj(shears.right)).real();
  shears.left[1] = direction(m[2]) * std::copysign(1.0, sine);
  shears.half_tangent = std::tan(0.5 * std::atan2(sine, cosine));
  shears.sine = 2 * shears.half_tangent / (1 + shears.half_tangent * shears.half_tangent);
  const double c = 1 - shears.half_tangent * shears.sine;
  const std::array<Complex, 4> made{shears.left[0] * c, -shears.left[0] * shears.sine * shears.right,
                                    shears.left[1] * shears.sine, shears.left[1] * c * shears.right};
  if (!recomposes(made, m)) return std::nullopt;
  return shears;
}

}  // namespace

std::vector<Shears> shears_of(std::span<const Complex> matrix, std::size_t order) {
  constexpr double kShears = 3;
  std::vector<Shears> all;
  const auto columns_of = [&](std::size_t row) {
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < order; ++c) {
      if (matrix[row * order + c] != Complex(0)) columns.push_back(c);
    }
    return columns;
  };
  for (std::size_t r = 0; r < order; ++r) {
    const std::vector<std::size_t> columns = columns_of(r);
    if (columns.size() != 2) continue;
    std::vector<std::size_t> rows;  // that have any of these columns
    for (std::size_t q = 0; q < order; ++q) {
      if (matrix[q * order + columns[0]] != Complex(0) || matrix[q * order + columns[1]] != Complex(0))
        rows.push_back(q);
    }
    if (rows.size() != 2 || rows[0] != r || columns_of(rows[1]) != columns) continue;
    const std::array<Complex, 4> entries{matrix[rows[0] * order + columns[0]], matrix[rows[0] * order + columns[1]],
                                         matrix[rows[1] * order + columns[0]], matrix[rows[1] * order + columns[1]]};
    if (!on_axis(entries[0]) || !on_axis(entries[1]) || !on_axis(entries[2]) || !on_axis(entries[3])) continue;
    if (row_numbers(matrix.subspan(rows[0] * order, order)) + row_numbers(matrix.subspan(rows[1] * order, order)) <=
        kShears)
      continue;
    std::optional<Shears> shears = shears_of(entries);
    if (!shears) continue;
    shears->row = {rows[0], rows[1]};
    shears->column = {columns[0], columns[1]};
    all.push_back(*shears);
  }
  return all;
}

}  // namespace qsim::cuda
