// A slow, obvious executor of plans on 2^rank_bits virtual shards: the oracle for planners. It follows the comments of
// plan/plan.h to the letter and shares no code with the planners or (unless asked to) with specialize().
#pragma once

#include <vector>

#include "plan/lower/lower.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim::test {

struct InterpreterOptions {
  bool specialize = false;     // run what specialize() makes of each sweep instead of the plan's own words
  bool chunked = true;         // overlapped sweeps and exchanges run chunk by chunk,
  unsigned scramble_seed = 1;  // each chunk's sweep, trade, sweep in an order drawn from this (tiles too)
};

/// Runs the plan and returns the state in logical order. `start` is the logical state for Start::kRandom and kState;
/// from zero, memory starts as NaN everywhere and stays so where it is unborn.
std::vector<Complex> interpret(const Plan& plan, const std::vector<Complex>& start = {},
                               const InterpreterOptions& options = {});

/// The operations, of `lowered`, one after the other, from `start`, which is over wires; returns the state in the order
/// of qubits.
std::vector<Complex> interpret_ops(const Lowered& lowered, const std::vector<LoweredOp>& ops,
                                   const std::vector<Complex>& start);

}  // namespace qsim::test
