// What tests of searches over sets of wires share: circuits as their games, and schedules played by the rules alone.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bits.h"
#include "plan/lower/known.h"
#include "plan/lower/lower_optimized.h"
#include "plan/search/set_search.h"
#include "plan/timeline/timeline.h"
#include "support/random_circuit.h"

namespace qsim::test {

/// The whole of `lowered` with every wire unborn.
inline Timeline unborn_timeline(const Lowered& lowered) {
  const KnownStart start = plain_start(lowered, 0);
  return build_timeline(lowered, {0, lowered.ops.size(), low_mask(lowered.qubits), start.factor});
}

inline Timeline random_timeline(std::uint32_t qubits, std::uint32_t operations, std::uint64_t seed) {
  RandomCircuitOptions shape;
  shape.qubits = qubits;
  shape.operations = operations;
  shape.max_unitary_targets = 2;
  shape.seed = seed;
  return unborn_timeline(lower_optimized(random_circuit(shape), {}));
}

/// One segment of all wires, for sets of `size` that share `low` wires.
inline SetRules rules_of_one_segment(std::uint32_t qubits, int size, int low, std::uint64_t seed) {
  SetRules rules;
  rules.segments.assign(1, low_mask(qubits));
  rules.born_before.assign(1, 0);
  rules.size = size;
  rules.low = low;
  rules.budget = 2000;
  rules.seed = seed;
  return rules;
}

/// By segment: wires that some segment before it had and the next one not.
inline std::vector<Index> that_left_before(const std::vector<Index>& segments) {
  std::vector<Index> left(segments.size(), 0);
  for (std::size_t s = 1; s < segments.size(); ++s) left[s] = left[s - 1] | (segments[s - 1] & ~segments[s]);
  return left;
}

/// Whether the sets do every turn, where a wire that has left unborn never starts.
inline bool plays_to_the_end(const SetProblem& problem, const SetRules& rules, const SetSchedule& schedule) {
  Positions at{};
  for (std::size_t i = 0; i < schedule.sets.size(); ++i) {
    Index set = schedule.sets[i];
    EXPECT_EQ(set & ~rules.segments[schedule.segment[i]], 0u);
    for_each_bit(set & rules.born_before[schedule.segment[i]], [&](unsigned wire) {
      if (at[wire] == 0) set &= ~bit_mask(wire);
    });
    problem.advance(at, set);
  }
  return problem.finished(at);
}

}  // namespace qsim::test
