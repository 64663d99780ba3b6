#include "support/flow_interpreter.h"

#include <cmath>
#include <stdexcept>

#include "qsim/circuit.h"

namespace qsim::test {
namespace {

double probability_of_one(const dense::State& state, Qubit qubit) {
  double sum = 0;
  for (std::size_t i = 0; i < state.size(); ++i) sum += (i >> qubit & 1) != 0 ? std::norm(state[i]) : 0;
  return sum;
}

// Keeps the part where `qubit` is `one`, normalised; a reset moves it to 0.
void collapse(dense::State& state, Qubit qubit, bool one, double probability, bool reset) {
  const double scale = 1 / std::sqrt(probability);
  const std::size_t mask = std::size_t{1} << qubit;
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] = ((i & mask) != 0) == one ? state[i] * scale : 0;
  }
  if (!reset || !one) return;
  for (std::size_t i = 0; i < state.size(); ++i) {
    if ((i & mask) != 0) std::swap(state[i], state[i ^ mask]);
  }
}

class Walk {
 public:
  Walk(const Flow& flow, const std::function<void(const FlowBranch&)>& visit, double smallest, std::uint64_t most)
      : flow_(flow), visit_(visit), smallest_(smallest), most_(most) {}

  double run() {
    FlowBranch root;
    root.state = dense::zero_state(flow_.circuit.qubits());
    for (const ScalarType type : flow_.variables) root.variables.push_back(make_zero(type));
    open_.push_back({std::move(root), 0});
    while (!open_.empty()) {
      auto [branch, steps] = std::move(open_.back());
      open_.pop_back();
      follow(std::move(branch), steps);
    }
    return lost_;
  }

 private:
  void follow(FlowBranch branch, std::uint64_t steps) {
    while (branch.step < flow_.steps.size()) {
      if (++steps > most_) {
        lost_ += branch.probability;
        return;
      }
      const FlowStep& step = flow_.steps[branch.step++];
      switch (step.kind) {
        case FlowStep::Kind::kRun:
          for (std::uint32_t i = step.a; i < step.b; ++i) {
            const Operation& op = flow_.circuit.operations()[i];
            if (op.kind != OpKind::kBarrier) dense::apply(branch.state, flow_.circuit, op);
          }
          break;
        case FlowStep::Kind::kMeasure:
        case FlowStep::Kind::kReset:
          if (!choose(branch, step, steps)) return;
          break;
        case FlowStep::Kind::kAssign:
          branch.variables[step.a] = evaluate(flow_, step.b, branch.variables);
          break;
        case FlowStep::Kind::kBranch:
          if (!truth(evaluate(flow_, step.a, branch.variables))) branch.step = step.b;
          break;
        case FlowStep::Kind::kJump:
          branch.step = step.b;
          break;
      }
    }
    visit_(branch);
  }

  bool choose(FlowBranch& branch, const FlowStep& step, std::uint64_t steps) {
    const bool reset = step.kind == FlowStep::Kind::kReset;
    const double one = probability_of_one(branch.state, step.a);
    const bool can_one = one > 1e-14 && branch.probability * one > smallest_;
    const bool can_zero = 1 - one > 1e-14 && branch.probability * (1 - one) > smallest_;
    if (!can_one) lost_ += branch.probability * one;
    if (!can_zero) lost_ += branch.probability * (1 - one);
    if (can_one && can_zero) {
      FlowBranch other = branch;
      take(other, step, true, one, reset);
      open_.emplace_back(std::move(other), steps);
    }
    if (!can_one && !can_zero) return false;
    take(branch, step, !can_zero, can_zero ? 1 - one : one, reset);
    return true;
  }

  static void take(FlowBranch& branch, const FlowStep& step, bool one, double share, bool reset) {
    collapse(branch.state, step.a, one, share, reset);
    branch.probability *= share;
    if (!reset) branch.variables[step.b] = make_bit(one);
  }

  const Flow& flow_;
  const std::function<void(const FlowBranch&)>& visit_;
  double smallest_, lost_ = 0;
  std::uint64_t most_;
  std::vector<std::pair<FlowBranch, std::uint64_t>> open_;
};

}  // namespace

double run_flow(const Flow& flow, const std::function<void(const FlowBranch&)>& visit, double smallest,
                std::uint64_t most_steps) {
  return Walk(flow, visit, smallest, most_steps).run();
}

std::map<std::string, double> register_distribution(const Flow& flow, double* left_out) {
  std::map<std::string, double> distribution;
  const double lost = run_flow(flow, [&](const FlowBranch& branch) {
    std::string bits;
    for (const FlowOutput& output : flow.outputs) {
      if (!output.is_register) continue;
      for (const Scalar& bit : output_values(output, branch.variables))
        bits.insert(bits.begin(), truth(bit) ? '1' : '0');
    }
    distribution[bits] += branch.probability;
  });
  if (left_out != nullptr) *left_out = lost;
  return distribution;
}

}  // namespace qsim::test
