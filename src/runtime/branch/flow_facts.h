// What the steps of a program say of branches that may meet: where they can, and what no longer matters there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"

namespace qsim {

/// A place is a step or the end of the program.
struct FlowFacts {
  /// By place: 0 where branches cannot have come from different ways, else the number of such a place, from 1.
  std::vector<std::uint32_t> meeting;
  std::vector<bool> loops;  // by place: something jumps back to it
  /// By place, the variables (without control: the classical bits) that nothing reads from there on before it writes
  /// them, and that may have been written. Dead ones may be missing where a program is very large.
  std::span<const std::uint32_t> dead(std::size_t place) const {
    return std::span(dead_variables).subspan(dead_begin[place], dead_begin[place + 1] - dead_begin[place]);
  }
  std::vector<std::uint32_t> dead_begin, dead_variables;
};

FlowFacts find_facts(const PlannedCircuit& program, const Circuit& circuit);

}  // namespace qsim
