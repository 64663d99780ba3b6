// Boolean polynomials as flips: X gates with controls, one after the other.
#pragma once

#include <optional>
#include <vector>

#include "optimizer/sums/path_sum.h"

namespace qsim {

struct Flip {
  Qubit target = 0;
  Index controls = 0;
};

/// Flips that together take qubit q to values[q], where each qubit can change at once for good, and the qubits `zeros`
/// are 0 before. Nothing where that goes in no order, or where it takes many.
std::optional<std::vector<Flip>> flips_of(const std::vector<Boolean<Index>>& values, Index zeros);

/// In circuit_cost().
double weight_of(const std::vector<Flip>& flips);
/// Of the Hadamard gates behind it and their phases.
double weight_of_turns(const PhasedPermutation& permutation);
/// Of what a permutation is made of but its flips, those gates among it; to `least_flips` is added what those are at
/// least.
double weight_of(const PhasedPermutation& permutation, double& least_flips);

}  // namespace qsim
