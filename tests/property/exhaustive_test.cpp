// Every gate on every ordered choice of targets and controls, n = 1..7, on 1, 2, 4, 8 ranks in both precisions, against
// the dense reference: each case is one gate on a random state, through planner, specialisation and CPU backend. The
// ranks are backends in one thread; exchanges are done here, straight from the plan's definition of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "circuit/gate_table.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"
#include "support/dense.h"
#include "support/tolerance.h"
#include "support/virtual_ranks.h"

namespace qsim {
namespace {

constexpr unsigned kLargest = 7;
constexpr std::uint64_t kLeastCases = 50'000;  // of each of the 8 settings: 400,000 in all
constexpr std::array<unsigned, 4> kRankBits = {0, 1, 2, 3};

// Controls on top of what every choice of targets costs: more on the small gates, which have more forms.
unsigned max_controls(const GateInfo& info) { return info.targets == 1 ? 3 : info.targets == 2 ? 2 : 1; }

std::vector<double> angles(const GateInfo& info) {
  std::vector<double> values;
  for (int i = 0; i < info.params; ++i) values.push_back(0.7 - 1.3 * i);
  return values;
}

// Calls visit(ordered choice) for every ordered choice of `count` out of `qubits` qubits.
template <typename Visitor>
void for_each_choice(unsigned qubits, unsigned count, std::vector<Qubit>& chosen, const Visitor& visit) {
  if (chosen.size() == count) return visit(chosen);
  for (Qubit q = 0; q < qubits; ++q) {
    if (std::find(chosen.begin(), chosen.end(), q) != chosen.end()) continue;
    chosen.push_back(q);
    for_each_choice(qubits, count, chosen, visit);
    chosen.pop_back();
  }
}

// Calls visit(info, controls, operands) for every gate and choice on `qubits` qubits; operands: controls, then targets.
template <typename Visitor>
void for_each_gate(unsigned qubits, const Visitor& visit) {
  for (const GateInfo& info : gate_table()) {
    for (unsigned controls = 0; controls <= max_controls(info); ++controls) {
      const unsigned operands = controls + static_cast<unsigned>(info.targets);
      if (operands > qubits) break;
      std::vector<Qubit> chosen;
      for_each_choice(qubits, operands, chosen,
                      [&](const std::vector<Qubit>& choice) { visit(info, controls, choice); });
    }
  }
}

std::string describe(const GateInfo& info, unsigned qubits, unsigned controls, const std::vector<Qubit>& operands) {
  std::ostringstream text;
  text << "row " << static_cast<int>(info.gate) << " '" << info.name << "' on " << qubits << " qubits, " << controls
       << " controls, operands";
  for (const Qubit q : operands) text << ' ' << q;
  return text.str();
}

struct Setting {
  unsigned rank_bits;
  Precision precision;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << (1u << setting.rank_bits) << " ranks, " << amplitude_bytes(setting.precision) << " bytes";
}

class Exhaustive : public testing::TestWithParam<Setting> {};

// One setting and number of qubits.
class Checker {
 public:
  Checker(const Setting& setting, unsigned qubits, const Machine& machine)
      : qubits_(qubits),
        local_bits_(qubits - setting.rank_bits),
        tolerance_(test::tolerance(setting.precision)),
        machine_(machine),
        ranks_(setting.precision, qubits, setting.rank_bits) {
    for (std::size_t i = 0; i < starts_.size(); ++i) starts_[i] = dense::random_state(qubits, 100 * qubits + i);
    for (const GateInfo& info : gate_table()) matrices_.push_back(dense::gate_matrix(info.gate, angles(info)));
    options_.rank_bits = setting.rank_bits;
    options_.precision = setting.precision;
    options_.start = Start::kState;
    options_.initial_layout = Layout::identity(static_cast<int>(qubits));
  }

  void check(const GateInfo& info, unsigned controls, const std::vector<Qubit>& operands) {
    const std::span<const Qubit> all(operands), control_span = all.first(controls), targets = all.subspan(controls);
    Circuit circuit(qubits_);
    circuit.add_gate(info.gate, control_span, targets, angles(info));
    const dense::State& start = starts_[(cases_ + refused_) % starts_.size()];
    // Every second case in tiles that leave bits inactive, and the planners take turns.
    const std::uint64_t turn = cases_ + refused_;
    options_.tile_bits = turn % 2 == 0 ? std::optional<std::uint32_t>() : kSmallTile;
    options_.strategy = turn / 2 % 2 == 0 ? Strategy::kNaive : Strategy::kSearch;
    Plan plan;
    try {
      plan = make_plan(circuit, machine_, options_);
    } catch (const Error& error) {
      // A matrix on more qubits than a rank holds cannot be brought together; nothing else may be refused.
      if (targets.size() <= local_bits_) fail(info, controls, operands, error.what());
      ++refused_;
      return;
    }
    ++cases_;
    dense::State wanted = start;
    dense::apply_matrix(wanted, matrices_[static_cast<std::size_t>(info.gate)], control_span, targets);
    const double difference = dense::max_difference(ranks_.run(plan, start), wanted);
    if (plan.gates != 1) fail(info, controls, operands, "the plan stands for " + std::to_string(plan.gates) + " gates");
    if (!(difference <= tolerance_)) fail(info, controls, operands, "off by " + std::to_string(difference));
  }

  std::uint64_t cases() const { return cases_; }
  std::uint64_t failures() const { return failures_; }

 private:
  static constexpr std::uint32_t kSmallTile = 4;

  void fail(const GateInfo& info, unsigned controls, const std::vector<Qubit>& operands, const std::string& what) {
    if (++failures_ <= 5) ADD_FAILURE() << describe(info, qubits_, controls, operands) << ": " << what;
  }

  unsigned qubits_, local_bits_;
  double tolerance_;
  const Machine& machine_;
  test::VirtualRanks ranks_;
  PlanOptions options_;
  std::array<dense::State, 3> starts_;
  std::vector<std::vector<Complex>> matrices_;
  std::uint64_t cases_ = 0, refused_ = 0, failures_ = 0;
};

TEST_P(Exhaustive, EveryGateOnEveryChoiceOfQubitsEqualsTheDenseReference) {
  const Machine machine = find_machine("cpu");
  std::uint64_t cases = 0;
  for (unsigned qubits = std::max(1u, GetParam().rank_bits); qubits <= kLargest; ++qubits) {
    Checker checker(GetParam(), qubits, machine);
    for_each_gate(qubits, [&](const GateInfo& info, unsigned controls, const std::vector<Qubit>& operands) {
      checker.check(info, controls, operands);
    });
    EXPECT_EQ(checker.failures(), 0u) << "with " << qubits << " qubits";
    cases += checker.cases();
  }
  RecordProperty("cases", std::to_string(cases));
  EXPECT_GE(cases, kLeastCases);
}

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const unsigned rank_bits : kRankBits) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) all.push_back({rank_bits, precision});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ranks, Exhaustive, testing::ValuesIn(settings()),
                         [](const testing::TestParamInfo<Setting>& setting) {
                           return std::to_string(1u << setting.param.rank_bits) +
                                  (setting.param.precision == Precision::kDouble ? "Double" : "Single");
                         });

}  // namespace
}  // namespace qsim
