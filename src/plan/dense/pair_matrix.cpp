#include "plan/dense/pair_matrix.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "base/numbers/rounding.h"
#include "plan/matrix_forms.h"

namespace qsim {
namespace {

bool is_known(const Complex& entry) { return std::norm(entry) > kNoNoise; }

}  // namespace

void tidy_pair(std::span<Complex> matrix) {
  drop_dust(matrix);
  for (Complex& entry : matrix) {
    if (is_one(entry)) entry = 1;
  }
}

double paid_entries(std::span<const Complex> matrix, bool by_parity) {
  return by_parity ? parity_entries(matrix) : pair_entries(matrix);
}

double take_phase(std::vector<Complex>& matrix, bool by_parity) {
  const auto first = std::ranges::find_if(matrix, is_known);
  if (first == matrix.end() || first->real() == 0 || first->imag() == 0) return 0;
  // Long, so that each entry is rounded by itself: the modulus of a rounded phase would move the norm, always one way.
  using Long = std::complex<long double>;
  const Long phase = Long(*first) / std::sqrt(std::norm(Long(*first)));
  std::vector<Complex> turned(matrix.size()), again(matrix.size());
  const auto times = [](Complex entry, Long factor) { return Complex(Long(entry) * factor); };
  std::ranges::transform(matrix, turned.begin(), [&](Complex entry) { return times(entry, std::conj(phase)); });
  tidy_pair(turned);
  if (paid_entries(turned, by_parity) >= paid_entries(matrix, by_parity)) return 0;
  std::ranges::transform(turned, again.begin(), [&](Complex entry) { return times(entry, phase); });
  if (!recomposes(again, matrix)) return 0;
  matrix = std::move(turned);
  return static_cast<double>(std::arg(phase));
}

double entries_without_phase(std::array<Complex, 16> matrix, bool by_parity) {
  const auto entries = [&](std::array<Complex, 16>& of) {
    tidy_pair(of);
    return paid_entries(of, by_parity);
  };
  const double whole = entries(matrix);
  const auto first = std::ranges::find_if(matrix, is_known);
  if (first == matrix.end() || first->real() == 0 || first->imag() == 0) return whole;
  const double size = std::sqrt(std::norm(*first)), re = first->real() / size, im = -first->imag() / size;
  for (Complex& entry : matrix) entry = {entry.real() * re - entry.imag() * im, entry.real() * im + entry.imag() * re};
  return std::min(whole, entries(matrix));
}

}  // namespace qsim
