// Sums of angles and products of matrices, put in again for other angles.
#include "plan/open_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/numbers/matrix2.h"
#include "base/numbers/rounding.h"
#include "plan/plan.h"

namespace qsim {

bool operator==(const OpenFactor& a, const OpenFactor& b) {
  return a.sum == b.sum && a.on_one == b.on_one && a.matrix == b.matrix;
}

std::span<const OpenNumbers::Term> OpenNumbers::terms(std::uint32_t sum) const {
  if (sum == 0) return {};
  const std::size_t begin = sum == 1 ? 0 : sums_[sum - 2].end;
  return {terms_.data() + begin, sums_[sum - 1].end - begin};
}

std::uint32_t OpenNumbers::close(double constant) {
  sums_.push_back({constant, static_cast<std::uint32_t>(terms_.size())});
  return static_cast<std::uint32_t>(sums_.size());
}

OpenAngle OpenNumbers::multiple(double value, std::uint32_t angle, double factor) {
  terms_.push_back({angle, factor});
  return {value, close(0)};
}

OpenAngle OpenNumbers::scaled(const OpenAngle& angle, double factor) {
  if (angle.sum == 0) return {factor * angle.value};
  const std::vector<Term> own(terms(angle.sum).begin(), terms(angle.sum).end());
  for (const Term& term : own) terms_.push_back({term.angle, factor * term.factor});
  return {factor * angle.value, close(factor * constant(angle))};
}

OpenAngle OpenNumbers::added(const OpenAngle& a, const OpenAngle& b) {
  if (a.sum == 0 && b.sum == 0) return wrap_angle(a.value + b.value);
  return total(std::array{a, b});
}

OpenAngle OpenNumbers::total(std::span<const OpenAngle> angles) {
  std::map<std::uint32_t, double> factors;  // by angle of the circuit
  double value = 0, fixed = 0;
  for (const OpenAngle& angle : angles) {
    value = wrap_angle(value + angle.value);
    fixed += constant(angle);
    for (const Term& term : terms(angle.sum)) factors[term.angle] += term.factor;
  }
  if (factors.empty()) return value;
  for (const auto& [angle, factor] : factors) terms_.push_back({angle, factor});
  return {value, close(fixed)};
}

void OpenNumbers::keep_used(Plan& plan) {
  OpenNumbers kept;
  std::map<std::uint32_t, std::uint32_t> sums, products;
  const auto keep_sum = [&](std::uint32_t sum) {
    const auto [found, is_new] = sums.try_emplace(sum, 0);
    if (is_new) {
      kept.terms_.insert(kept.terms_.end(), terms(sum).begin(), terms(sum).end());
      found->second = kept.close(sums_[sum - 1].constant);
    }
    return found->second;
  };
  const auto keep_product = [&](std::uint32_t product) {
    const auto [found, is_new] = products.try_emplace(product, 0);
    if (is_new) {
      std::vector<OpenFactor> own(factors(product).begin(), factors(product).end());
      for (OpenFactor& factor : own) factor.sum = factor.sum == 0 ? 0 : keep_sum(factor.sum);
      found->second = kept.product(own);
    }
    return found->second;
  };
  for (Stage& stage : plan.stages) {
    for (Sweep& sweep : stage.sweeps) {
      for (Birth& birth : sweep.births) birth.open = birth.open == 0 ? 0 : keep_product(birth.open);
      for (PhaseTerm& term : sweep.phases) term.open = term.open == 0 ? 0 : keep_sum(term.open);
      for (PlanOp& op : sweep.ops) op.open = op.open == 0 ? 0 : keep_product(op.open);
    }
  }
  *this = std::move(kept);
}

std::uint32_t OpenNumbers::product(std::span<const OpenFactor> factors) {
  factors_.insert(factors_.end(), factors.begin(), factors.end());
  product_end_.push_back(static_cast<std::uint32_t>(factors_.size()));
  return static_cast<std::uint32_t>(product_end_.size());
}

std::span<const OpenFactor> OpenNumbers::factors(std::uint32_t product) const {
  const std::size_t begin = product == 1 ? 0 : product_end_[product - 2];
  return {factors_.data() + begin, product_end_[product - 1] - begin};
}

std::vector<double> OpenNumbers::values(std::span<const double> angles) const {
  std::vector<double> values;
  values.reserve(sums_.size());
  std::size_t at = 0;
  for (const Sum& sum : sums_) {
    double value = sum.constant;
    for (; at < sum.end; ++at) value += terms_[at].factor * angles[terms_[at].angle];
    values.push_back(wrap_angle(value));
  }
  return values;
}

std::array<Complex, 4> OpenNumbers::matrix(std::uint32_t product, std::span<const double> values) const {
  constexpr std::size_t kDriftless = 8;  // products that leave a unitary to rounding
  std::size_t products = 0;
  Matrix2 matrix = kIdentity2;
  for (const OpenFactor& factor : factors(product)) {
    if (factor.sum == 0) {
      matrix =
          ++products % kDriftless == 0 ? unitary_product(factor.matrix, matrix) : qsim::product(factor.matrix, matrix);
      continue;
    }
    const double cosine = std::cos(values[factor.sum - 1]), sine = std::sin(values[factor.sum - 1]);
    for (std::size_t i = factor.on_one ? 2 : 0, end = i + 2; i < end; ++i) {
      const Complex entry = matrix[i];
      matrix[i] = {cosine * entry.real() - sine * entry.imag(), cosine * entry.imag() + sine * entry.real()};
    }
  }
  return nearest_unitary(matrix);
}

void put_angles(Plan& plan, const OpenNumbers& open, std::span<const double> angles) {
  const std::vector<double> values = open.values(angles);
  for (Stage& stage : plan.stages) {
    for (Sweep& sweep : stage.sweeps) {
      for (Birth& birth : sweep.births) {
        if (birth.open == 0) continue;
        const Matrix2 matrix = open.matrix(birth.open, values);
        birth.factor = {matrix[0], matrix[2]};
      }
      for (PhaseTerm& term : sweep.phases) {
        if (term.open != 0) term.angle = values[term.open - 1];
      }
      for (const PlanOp& op : sweep.ops) {
        if (op.open == 0) continue;
        const Matrix2 matrix = open.matrix(op.open, values);
        std::ranges::copy(matrix, sweep.matrices.begin() + op.data_begin);
      }
    }
  }
}

}  // namespace qsim
