// The largest entry of each row is tried as what is divided out of all, and its phase as the row's.
#include "cuda/factor/row_phases.h"

#include <algorithm>
#include <cmath>

#include "base/numbers/rounding.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {
namespace {

constexpr double kRowPhase = 2;      // a complex product in a quarter of the amplitudes
constexpr double kLeastShare = 0.5;  // of the largest entry: what is divided out must not make others large

using Row = std::array<Complex, 4>;

Complex cleaned(Complex entry) { return {cleaned_part(entry.real()), cleaned_part(entry.imag())}; }

Row divided(std::span<const Complex> row, Complex divisor) {
  const Complex inverse = std::conj(divisor) / std::norm(divisor);
  Row result;
  std::ranges::transform(row, result.begin(), [&](Complex entry) { return cleaned(entry * inverse); });
  return result;
}

Complex largest_of(std::span<const Complex> row) {
  return *std::ranges::max_element(row, {}, [](Complex entry) { return std::norm(entry); });
}

RowPhases with_divisor(std::span<const Complex> matrix, Complex divisor) {
  RowPhases parts;
  parts.scale = divisor;
  parts.matrix.reserve(matrix.size());
  for (std::size_t r = 0; r < 4; ++r) {
    const std::span<const Complex> row = matrix.subspan(4 * r, 4);
    Row best = divided(row, divisor);
    double numbers = row_numbers(best);
    if (const Complex entry = largest_of(row); entry != Complex(0) && numbers > kRowPhase) {
      const Complex phase = entry / std::abs(entry) * (std::abs(divisor) / divisor);
      const Row turned = divided(row, divisor * phase);
      if (const double others = kRowPhase + row_numbers(turned); others < numbers) {
        numbers = others;
        best = turned;
        parts.rows[r] = phase;
      }
    }
    parts.numbers += numbers;
    parts.matrix.insert(parts.matrix.end(), best.begin(), best.end());
  }
  return parts;
}

}  // namespace

double cleaned_part(double part) {
  if (std::abs(part) <= kRounding) return 0;
  return std::abs(std::abs(part) - 1) <= kRounding ? std::copysign(1, part) : part;
}

std::array<Complex, 16> product_of(const RowPhases& parts) {
  std::array<Complex, 16> product;
  for (std::size_t e = 0; e < product.size(); ++e) product[e] = parts.scale * parts.rows[e / 4] * parts.matrix[e];
  return product;
}

std::optional<RowPhases> row_phases(std::span<const Complex> matrix) {
  const double size = std::abs(largest_of(matrix));
  double least = matrix_numbers(matrix, 4);
  std::optional<RowPhases> best;
  for (std::size_t r = 0; r < 4; ++r) {
    const Complex divisor = largest_of(matrix.subspan(4 * r, 4));
    if (!(std::abs(divisor) >= kLeastShare * size) || divisor == Complex(0)) continue;
    RowPhases parts = with_divisor(matrix, divisor);
    if (parts.numbers >= least) continue;
    least = parts.numbers;
    best = std::move(parts);
  }
  if (best && !recomposes(product_of(*best), matrix, size)) return std::nullopt;
  return best;
}

}  // namespace qsim::cuda
