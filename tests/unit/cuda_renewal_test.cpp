// Sweeps of open plans with one set of numbers after the other: one text of a kernel, and what it does with each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/bits.h"
#include "cuda/generate/generate.h"
#include "cuda/program/lower.h"
#include "cuda_host_kernel.h"
#include "optimizer/open/open_angles.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/program/open_plan.h"
#include "qsim/circuit.h"
#include "support/dense.h"
#include "support/sweep_reference.h"

namespace qsim {
namespace {

using namespace qsim::cuda;

Parameter next(const Circuit& circuit, std::size_t ahead = 0) {
  return {std::to_string(circuit.parameters().size() + ahead)};
}

Circuit hardware_efficient(std::uint32_t qubits, std::size_t layers) {
  Circuit circuit(qubits);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (Qubit q = 0; q < qubits; ++q) circuit.ry(next(circuit), q);
    for (Qubit q = 0; q < qubits; ++q) circuit.rz(next(circuit), q);
    for (Qubit q = 0; q + 1 < qubits; ++q) circuit.cx(q, q + 1);
  }
  return circuit;
}

Circuit alternating(std::uint32_t qubits, std::size_t layers) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q) circuit.h(q);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const Parameter cost = next(circuit), mixer = next(circuit, 1);
    for (const Qubit away : {1u, 2u}) {
      for (Qubit q = 0; q < qubits; ++q) circuit.rzz(cost, q, (q + away) % qubits);
    }
    for (Qubit q = 0; q < qubits; ++q) circuit.rx(2 * Angle(mixer), q);
  }
  return circuit;
}

Circuit coupled_pairs(std::uint32_t qubits, std::size_t layers) {
  Circuit circuit(qubits);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (Qubit q = layer % 2 != 0 ? 1 : 0; q + 1 < qubits; q += 2) {
      circuit.rxx(next(circuit), q, q + 1).rzz(next(circuit), q, q + 1).cry(next(circuit), q, q + 1);
      circuit.u(next(circuit), next(circuit, 1), 0.25, q);
    }
  }
  return circuit;
}

struct Ansatz {
  const char* name;
  std::function<Circuit(std::uint32_t, std::size_t)> make;
};
const Ansatz kAnsaetze[] = {
    {"hardware-efficient", hardware_efficient}, {"alternating", alternating}, {"coupled pairs", coupled_pairs}};

/// An open plan's sweeps, lowered as a runner does: tried once, then as was chosen.
class Renewed {
 public:
  Renewed(const Circuit& circuit, Precision precision) : circuit_(circuit), angles_(circuit), precision_(precision) {
    PlanOptions options;
    options.precision = precision;
    open_ = OpenPlan::make(circuit, angles_, find_machine("h200"), options);
  }
  bool exists() const { return open_.has_value(); }

  std::vector<TileProgram> programs(std::span<const double> values) {
    const std::shared_ptr<const Plan> plan = open_->at(angles_.bound(values));
    std::vector<TileProgram> made;
    sweeps_.clear();
    for (const Stage& stage : plan->stages) {
      for (const Sweep& words : stage.sweeps) {
        sweeps_.push_back(specialize(words, *plan, 0));
        LowerOptions lower = kernel_options(plan->local_bits(), precision_);
        lower.trials = 8;
        if (made.size() < choices_.size()) lower.choice = choices_[made.size()];
        made.push_back(lower_sweep(sweeps_.back(), lower));
        if (precision_ == Precision::kSingle) round_tangents(made.back());
      }
    }
    if (choices_.empty()) {
      for (const TileProgram& program : made) choices_.push_back(program.choice);
    }
    return made;
  }
  const std::vector<Sweep>& sweeps() const { return sweeps_; }

 private:
  const Circuit& circuit_;
  const OpenAngles angles_;
  const Precision precision_;
  std::optional<OpenPlan> open_;
  std::vector<LowerChoice> choices_;
  std::vector<Sweep> sweeps_;
};

std::vector<double> random_values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> turn(-6, 6);
  std::vector<double> values(count);
  for (double& value : values) value = turn(random);
  return values;
}

std::string first_difference(const std::string& a, const std::string& b) {
  const auto [here, there] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (here == a.end() && there == b.end()) return "";
  const auto line = [](const std::string& text, std::size_t at) {
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  };
  return line(a, static_cast<std::size_t>(here - a.begin())) + " | " +
         line(b, static_cast<std::size_t>(there - b.begin()));
}

// On either side of every form: of angles up to two turns and both signs.
TEST(CudaRenewal, NewNumbersLeaveTheTextAsItIs) {
  for (const Ansatz& ansatz : kAnsaetze) {
    for (const std::uint32_t qubits : {10u, 17u, 30u}) {
      for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
        const Circuit circuit = ansatz.make(qubits, 3);
        Renewed renewed(circuit, precision);
        ASSERT_TRUE(renewed.exists()) << ansatz.name;
        std::vector<std::string> texts;
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
          const std::vector<TileProgram> programs = renewed.programs(random_values(circuit.parameters().size(), seed));
          texts.resize(programs.size());
          for (std::size_t i = 0; i < programs.size(); ++i) {
            const std::string text = generate(programs[i]).source;
            if (seed == 1) texts[i] = text;
            EXPECT_EQ(first_difference(text, texts[i]), "")
                << ansatz.name << " on " << qubits << ", " << name_of(precision) << ", sweep " << i << ", values "
                << seed;
          }
        }
      }
    }
  }
}

TEST(CudaRenewal, TextsDoOnTheHostWhatSweepsMean) {
  if (!test::host_compiler_exists()) GTEST_SKIP() << "no C++ compiler";
  constexpr std::uint32_t kQubits = 9;
  for (const Ansatz& ansatz : kAnsaetze) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
      const Circuit circuit = ansatz.make(kQubits, 2);
      Renewed renewed(circuit, precision);
      ASSERT_TRUE(renewed.exists()) << ansatz.name;
      for (const std::uint64_t seed : {1u, 2u}) {
        const std::vector<TileProgram> programs = renewed.programs(random_values(circuit.parameters().size(), seed));
        const double nan = std::numeric_limits<double>::quiet_NaN();
        std::vector<Complex> state(std::size_t{1} << kQubits, Complex(nan, nan));
        for (std::size_t i = 0; i < programs.size(); ++i) {
          if (renewed.sweeps()[i].permutes()) return;  // not a tile program
          const std::vector<Complex> expected = test::reference_sweep(renewed.sweeps()[i], {}, kQubits, state);
          test::run_generated(programs[i], state);
          const Index unborn = test::unborn_after(renewed.sweeps()[i]);
          for (Index index = 0; index < state.size(); ++index) {
            if ((index & unborn) != 0) continue;
            ASSERT_LE(std::abs(state[index] - expected[index]), precision == Precision::kDouble ? 1e-13 : 1e-5)
                << ansatz.name << ", sweep " << i << ", values " << seed;
          }
          state = expected;
        }
      }
    }
  }
}

}  // namespace
}  // namespace qsim
