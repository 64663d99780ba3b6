// The plan of a circuit with open angles, and its numbers for values of them.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "optimizer/open/open_angles.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/plan_options.h"
#include "qsim/circuit.h"

namespace qsim {

class OpenPlan {
 public:
  /// Nothing where there is none: the plan for one generic point, put to another, is not the plan for that one. (So a
  /// number that some rewrite would forget to follow is found before any result is made of it.)
  static std::optional<OpenPlan> make(const Circuit& circuit, const OpenAngles& angles, const Machine& machine,
                                      const PlanOptions& options);

  /// At a generic point.
  const std::shared_ptr<const Plan>& shape() const { return shape_; }
  double predicted_seconds() const { return predicted_seconds_; }
  /// How the shape's numbers follow the angles.
  const OpenNumbers& numbers() const { return numbers_; }
  /// The shape with the numbers of these angles.
  std::shared_ptr<const Plan> at(std::span<const double> angles) const;

 private:
  std::shared_ptr<const Plan> shape_;
  OpenNumbers numbers_;
  double predicted_seconds_ = 0;
};

/// The plans do the same, but for numbers, and those differ by no more than rounding may make them.
bool same_plans(const Plan& a, const Plan& b);

}  // namespace qsim
