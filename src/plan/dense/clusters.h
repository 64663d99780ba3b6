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

/// Where those on two wires are cut.
enum class Cuts : std::uint8_t {
  kNone,      // they are as long as they get
  kCheapest,  // where that is cheapest, and steps that no matrix takes begin other ones
  kForNext,   // the same; turns at their ends that the next one may take hardly count
};

/// Those on at most `size` wires. `across`: they may span register groups.
std::vector<Cluster> find_clusters(const std::vector<Element>& elements, const FormCosts& cost, int size, bool across,
                                   Cuts cuts = Cuts::kNone);

}  // namespace qsim
