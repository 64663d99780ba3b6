// Turns that give their phases to the diagonals beside them, and what steps cost with and without that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/element/sweep_elements.h"

namespace qsim {

/// A turn between merged diagonals gives its phases to them and stays a real rotation, where that is cheaper. Returns
/// how many stayed because the parts were not the turn when put together again.
std::uint64_t split_steps(std::vector<Element>& elements, const FormCosts& cost);

/// What the steps cost one after the other, by the table, on lanes where that is less: nanoseconds a million
/// amplitudes, regroups included.
double steps_cost(const std::vector<Element>& elements, const CostTable& cost, int register_bits);

/// The parts of single turns, by their place, taken once for all forms of a sweep that have the same turns there.
class TurnParts {
 public:
  explicit TurnParts(std::size_t elements) : parts_(elements) {}
  const std::optional<RotationAngles>& of(std::size_t place, const Matrix2& matrix) {
    if (!parts_[place]) parts_[place] = rotation_angles(matrix);
    return *parts_[place];
  }

 private:
  std::vector<std::optional<std::optional<RotationAngles>>> parts_;
};

/// steps_cost() of what split_steps() would make of the steps.
double cost_when_split(const std::vector<Element>& elements, const FormCosts& cost, int register_bits,
                       TurnParts& parts);

}  // namespace qsim
