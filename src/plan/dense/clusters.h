// Clusters of a sweep's steps on few wires that are cheaper as one matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/element/sweep_elements.h"

namespace qsim {

using Members = std::vector<std::size_t>;

/// Steps that act on `wires` alone; nothing else between them acts on those.
struct Cluster {
  Members members;
  Index wires = 0;
  double cost = 0;
  double entries = 32;  // of the matrix, where there are two wires
};

/// Those on at most `size` wires. `across`: they may span register groups. `parted`: those on two wires are cut where
/// that is cheapest, and steps that no matrix takes begin other ones; else they are as long as they get.
std::vector<Cluster> find_clusters(const std::vector<Element>& elements, const FormCosts& cost, int size, bool across,
                                   bool parted = false);

}  // namespace qsim
