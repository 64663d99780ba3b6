// What passes of the optimizer make of circuits, held against the circuits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/tolerance.h"

namespace qsim::test {

using Texts = std::vector<std::string>;
using PassFunction = bool (*)(const Circuit&, Rewritten&);

/// The state of the rewritten circuit, with its qubits under their old numbers.
inline dense::State run_rewritten(const Rewritten& rewritten, const dense::State& start) {
  dense::State state = dense::run(rewritten.circuit, start);
  if (rewritten.wire_of.empty()) return state;
  dense::State result(state.size());
  for (Index index = 0; index < state.size(); ++index) {
    Index from = 0;
    for (std::size_t q = 0; q < rewritten.wire_of.size(); ++q) from |= (index >> q & 1) << rewritten.wire_of[q];
    result[index] = state[from];
  }
  return result;
}

/// The lightest of what sums over paths make of the circuit; false where that is nothing.
inline bool recognise_lightest(const Circuit& circuit, Rewritten& rewritten) {
  std::vector<Rewritten> found = recognise_permutations(circuit, false);
  if (found.empty()) return false;
  const auto cost = [](const Rewritten& of) { return cost_in_pieces(of.circuit); };
  rewritten = std::move(*std::ranges::min_element(found, {}, cost));
  return true;
}

/// Every operation is counted once, and the state is the same.
inline void expect_same(const Circuit& circuit, const Rewritten& rewritten, std::uint64_t seed = 7) {
  ASSERT_EQ(rewritten.place.size(), circuit.operations().size());
  std::vector<int> counted(circuit.operations().size(), 0);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    if (rewritten.place[i] == kNoPlace) continue;
    ASSERT_LT(rewritten.place[i], rewritten.circuit.operations().size());
    ++counted[i];
  }
  for (const auto& [source, reason] : rewritten.removed) {
    ++counted[source];
    ASSERT_NE(reason, nullptr);
  }
  EXPECT_TRUE(std::ranges::all_of(counted, [](int times) { return times == 1; })) << "seed " << seed;
  const dense::State start = dense::random_state(circuit.qubits(), seed);
  EXPECT_LE(dense::max_difference(dense::run(circuit, start), run_rewritten(rewritten, start)),
            rounding_tolerance(Precision::kDouble, circuit.operations().size()))
      << "seed " << seed;
}

/// Spellings of what is left, without phases of everything; matrices are "u".
inline Texts made(PassFunction pass, const Circuit& circuit) {
  Rewritten rewritten;
  if (!pass(circuit, rewritten)) return {"as it was"};
  expect_same(circuit, rewritten);
  EXPECT_TRUE(rewritten.wire_of.empty());
  EXPECT_EQ(rewritten.refused, 0U);
  Texts all;
  for (const Operation& op : rewritten.circuit.operations()) {
    if (op.controls + op.targets == 0) continue;
    const std::string controls(op.controls, 'c');
    if (op.kind == OpKind::kUnitary) {
      all.emplace_back(controls + "u");
    } else if (op.kind == OpKind::kPauliRotation) {
      all.emplace_back(controls + "z" + std::to_string(op.targets));
    } else {
      const std::string_view spelling = gate_spelling(op.gate, static_cast<int>(op.controls));
      all.push_back(spelling.empty() ? controls + std::string(gate_spelling(op.gate, 0)) : std::string(spelling));
    }
  }
  return all;
}

}  // namespace qsim::test
