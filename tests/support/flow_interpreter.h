// Runs a flow program branch by branch on the dense reference.
#pragma once

#include <functional>

#include "classical/flow.h"
#include "support/dense.h"

namespace qsim::test {

/// The end of one branch.
struct FlowBranch {
  double probability = 1;
  dense::State state;  // normalised
  std::vector<Scalar> variables;
  std::uint32_t step = 0;
};

/// Calls `visit` at the end of every branch of probability above `smallest`; returns the probability left out. A branch
/// that takes more than `most_steps` steps is left out, too.
double run_flow(const Flow& flow, const std::function<void(const FlowBranch&)>& visit, double smallest = 1e-14,
                std::uint64_t most_steps = 1'000'000);

/// Distribution of the registers: bit strings without spaces, the last declared left-most.
std::map<std::string, double> register_distribution(const Flow& flow, double* left_out = nullptr);

}  // namespace qsim::test
