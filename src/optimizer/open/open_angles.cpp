// Distinct open angles of a circuit.
#include "optimizer/open/open_angles.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "base/numbers/rounding.h"
#include "base/philox.h"
#include "qsim/error.h"

namespace qsim {

OpenAngles::OpenAngles(const Circuit& circuit) {
  using Key = std::pair<double, std::vector<std::pair<std::uint32_t, double>>>;
  std::map<Key, std::uint32_t> known;
  for (const Operation& op : circuit.operations()) {
    if (op.kind == OpKind::kUnitary) continue;
    const std::span<const double> params = circuit.params(op);
    for (std::size_t i = 0; i < params.size(); ++i) {
      const std::span<const Circuit::OpenTerm> terms = circuit.open_terms(op.param_begin + i);
      if (terms.empty()) continue;
      Key key{params[i], {}};
      for (const Circuit::OpenTerm& term : terms) key.second.emplace_back(term.parameter, term.factor);
      const auto [found, is_new] = known.try_emplace(std::move(key), static_cast<std::uint32_t>(angles_.size()));
      if (is_new) angles_.push_back({params[i], terms});
      number_.emplace(op.param_begin + i, found->second);
    }
  }
}

std::vector<double> OpenAngles::bound(std::span<const double> values) const {
  std::vector<double> angles;
  angles.reserve(angles_.size());
  for (const Open& open : angles_) {
    angles.push_back(bound_angle(open.constant, open.terms, values));
    if (!std::isfinite(angles.back())) throw UsageError("an angle is not finite with these values");
  }
  return angles;
}

std::vector<double> OpenAngles::generic(std::uint64_t seed) const {
  PhiloxSequence random(seed);
  std::vector<double> angles(angles_.size());
  for (double& angle : angles) {
    const double part = random.uniform(0.1, 0.9) * std::numbers::pi / 2;
    angle = random.below(2) == 0 ? part : -part;
  }
  return angles;
}

}  // namespace qsim
