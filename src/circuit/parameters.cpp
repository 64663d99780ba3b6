// Angles that are open: sums of multiples of parameters, and circuits with values put in for them.
#include <cmath>
#include <string>

#include "base/numbers/rounding.h"
#include "base/text.h"
#include "circuit/gate_table.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {

Angle operator+(Angle a, const Angle& b) {
  a.constant += b.constant;
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  return a;
}
Angle operator-(const Angle& a) { return -1.0 * a; }
Angle operator-(const Angle& a, const Angle& b) { return a + -b; }
Angle operator*(double factor, Angle angle) {
  angle.constant *= factor;
  for (auto& [name, of_name] : angle.terms) of_name *= factor;
  return angle;
}

std::uint32_t Circuit::parameter_index(const std::string& name) {
  if (name.empty()) throw CircuitError("a parameter needs a name");
  const auto [found, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(parameters_.size()));
  if (is_new) parameters_.push_back(name);
  return found->second;
}

void Circuit::name_parameters(std::span<const std::string> names) {
  for (const std::string& name : names) parameter_index(name);
}

void Circuit::open_last(const Angle& angle, std::size_t back) {
  for (const auto& [name, factor] : angle.terms) {
    if (!std::isfinite(factor)) throw CircuitError("the factor of parameter " + escape_text(name) + " is not finite");
    open_[params_.size() - 1 - back].push_back({parameter_index(name), factor});
  }
}

void Circuit::open_inverse(const Circuit& of, const Operation& op) {
  const std::size_t count = of.params(op).size();
  // The inverse's angles are an affine function of the gate's: column i of its linear part.
  const auto column = [&](std::size_t i) {
    if (op.kind == OpKind::kPauliRotation) return std::vector<double>{-1};
    std::vector<double> zero(count), unit(count);
    unit[i] = 1;
    const std::vector<double> base = gate_info(op.gate).inverse(zero).params;
    std::vector<double> slope = gate_info(op.gate).inverse(unit).params;
    for (std::size_t j = 0; j < slope.size(); ++j) slope[j] -= base[j];
    return slope;
  };
  const std::uint64_t own = operations_.back().param_begin;
  for (std::size_t i = 0; i < count; ++i) {
    const std::span<const OpenTerm> terms = of.open_terms(op.param_begin + i);
    if (terms.empty()) continue;
    const std::vector<double> slope = column(i);
    for (std::size_t j = 0; j < slope.size(); ++j) {
      if (slope[j] == 0) continue;
      for (const OpenTerm& term : terms) {
        open_[own + j].push_back({parameter_index(of.parameters_[term.parameter]), slope[j] * term.factor});
      }
    }
  }
}

std::span<const Circuit::OpenTerm> Circuit::open_terms(std::uint64_t param) const {
  const auto found = open_.find(param);
  return found == open_.end() ? std::span<const OpenTerm>() : found->second;
}

void Circuit::require_values(std::span<const double> values) const {
  if (values.size() != parameters_.size()) {
    throw UsageError(std::to_string(values.size()) + " values for a circuit of " + std::to_string(parameters_.size()) +
                     " parameters");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw UsageError("the value of parameter " + escape_text(parameters_[i]) + " is " + format_number(values[i]));
  }
}

Circuit Circuit::bind(std::span<const double> values) const {
  require_values(values);
  Circuit bound = *this;
  for (const auto& [param, terms] : open_) {
    const double angle = bound_angle(params_[param], terms, values);
    if (!std::isfinite(angle)) throw UsageError("an angle is not finite with these values");
    bound.params_[param] = angle;
  }
  bound.open_.clear();
  bound.parameters_.clear();
  bound.numbers_.clear();
  return bound;
}

}  // namespace qsim
