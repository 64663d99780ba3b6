// Recognises cheap forms in matrices of order 2..64. Those that are unitary to the 1e-10 that circuits are checked for,
// but not to rounding, have none.
#include "plan/matrix_forms.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bits.h"
#include "base/numbers/bit_products.h"
#include "base/numbers/rounding.h"

namespace qsim {
namespace {

std::size_t order_of(std::span<const Complex> matrix) {
  return std::size_t{1} << (std::bit_width(matrix.size()) - 1) / 2;
}

}  // namespace

std::optional<std::vector<double>> diagonal_angles(std::span<const Complex> matrix) {
  const std::size_t order = order_of(matrix);
  std::vector<double> angles(order);
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t column = 0; column < order; ++column) {
      if (row != column && !is_tiny(matrix[row * order + column])) return std::nullopt;
    }
    const Complex entry = matrix[row * order + row];
    if (!is_phase(entry)) return std::nullopt;
    angles[row] = std::arg(entry);
  }
  return angles;
}

std::optional<Monomial> monomial_form(std::span<const Complex> matrix) {
  const std::size_t order = order_of(matrix);
  Monomial form{std::vector<Index>(order, order), std::vector<double>(order)};
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t column = 0; column < order; ++column) {
      const Complex entry = matrix[row * order + column];
      if (is_tiny(entry)) continue;
      if (form.row[column] != order || !is_phase(entry)) return std::nullopt;
      form.row[column] = row;
      form.angle[column] = std::arg(entry);
    }
  }
  for (const Index row : form.row) {
    if (row == order) return std::nullopt;
  }
  return form;
}

std::optional<FlipForm> flip_form(std::span<const Index> row) {
  Index moved_bits = 0, all_ones = row.size() - 1, all_zeros = row.size() - 1;
  std::size_t moved = 0;
  for (Index column = 0; column < row.size(); ++column) {
    if (row[column] == column) continue;
    moved_bits |= row[column] ^ column;
    all_ones &= column;
    all_zeros &= ~column;
    ++moved;
  }
  if (popcount(moved_bits) != 1) return std::nullopt;
  const FlipForm form{std::countr_zero(moved_bits), all_ones | all_zeros, all_ones};
  // The moved columns must be the whole cube that the control pattern names.
  const int free_bits = std::countr_zero(row.size()) - popcount(form.control_mask);
  if (moved != std::size_t{1} << free_bits) return std::nullopt;
  return form;
}

std::vector<PhaseTerm> phase_terms(std::vector<double> angles, std::span<const Bit> targets, Index controls) {
  // Moebius transform: the value on a subset of ones is the sum over the terms inside it.
  for (std::size_t j = 0; j < targets.size(); ++j) {
    for (std::size_t subset = 0; subset < angles.size(); ++subset) {
      if (subset >> j & 1) angles[subset] -= angles[subset ^ std::size_t{1} << j];
    }
  }
  std::vector<PhaseTerm> terms;
  for (std::size_t subset = 0; subset < angles.size(); ++subset) {
    const double angle = wrap_angle(angles[subset]);
    if (angle == 0) continue;
    PhaseTerm term{controls, false, angle};
    for (std::size_t j = 0; j < targets.size(); ++j) term.mask |= (subset >> j & Index{1}) << targets[j];
    terms.push_back(term);
  }
  return terms;
}

std::vector<PhaseTerm> expand_parity(Index mask, double angle, Index controls) {
  std::vector<PhaseTerm> terms;
  for_each_product_of_parity(mask, [&](Index ones, std::int64_t weight) {
    const double wrapped = wrap_angle(angle * static_cast<double>(weight));
    if (wrapped != 0) terms.push_back({controls | ones, false, wrapped});
  });
  return terms;
}

void drop_dust(std::span<Complex> matrix) {
  const auto kept = [](double part) { return std::abs(part) <= kRounding ? 0 : part; };
  for (Complex& entry : matrix) entry = {kept(entry.real()), kept(entry.imag())};
}

double real_entries(std::span<const Complex> matrix) {
  double count = 0;
  for (const Complex entry : matrix) count += (entry.real() != 0 ? 1 : 0) + (entry.imag() != 0 ? 1 : 0);
  return count;
}

namespace {

/// Rows of a matrix that keeps parity whose two numbers have neither the same phase nor ones a quarter turn apart.
double complex_tangents(std::span<const Complex> matrix) {
  double count = 0;
  for (std::size_t row = 0; row < 4; ++row) {
    const Complex ratio = matrix[4 * row + (row ^ 3)] * std::conj(matrix[4 * row + row]);
    if (std::abs(ratio.real()) > kRounding && std::abs(ratio.imag()) > kRounding) ++count;
  }
  return count;
}

}  // namespace

double pair_entries(std::span<const Complex> matrix) {
  double count = real_entries(matrix);
  for (std::size_t row = 0; row < 4; ++row) {
    if (std::ranges::find(matrix.subspan(4 * row, 4), Complex(1)) != matrix.subspan(4 * row, 4).end()) --count;
  }
  const bool turns = !is_tiny(matrix[3]) || !is_tiny(matrix[6]);
  if (count > kParityPairEntries && turns && parity_kind(matrix) != ParityKind::kNone) {
    return std::min(count, kParityPairEntries + kComplexTangent * complex_tangents(matrix));
  }
  return count;
}

ParityKind parity_kind(std::span<const Complex> matrix) {
  bool real = true, cross = true;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const std::size_t row = i / 4, column = i % 4;
    if (odd_parity(row ^ column)) {
      if (!is_tiny(matrix[i])) return ParityKind::kNone;
      continue;
    }
    real = real && is_tiny(matrix[i].imag());
    cross = cross && is_tiny(row == column ? matrix[i].imag() : matrix[i].real());
  }
  return real ? ParityKind::kReal : cross ? ParityKind::kCross : ParityKind::kGeneral;
}

double parity_entries(std::span<const Complex> matrix) {
  switch (parity_kind(matrix)) {
    case ParityKind::kNone:
      return 32;
    case ParityKind::kGeneral:
      return 16;
    case ParityKind::kReal:
    case ParityKind::kCross:
      return 8;
  }
  return 32;
}

}  // namespace qsim
