// Sessions and states against the dense reference, whatever the order in which programs run and questions are asked.
#include "qsim/session.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "base/philox.h"
#include "support/campaign.h"
#include "support/dense.h"
#include "support/random_circuit.h"
#include "support/random_dynamic.h"
#include "support/test_backend.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

/// A session, some states of it, and what each of them should be.
class Pair {
 public:
  Pair(const Target& target, std::uint64_t seed) : target_(target), session_(target), random_(seed), seed_(seed) {}

  void act() {
    if (states_.empty() || (states_.size() < 5 && random_.below(6) == 0)) return create();
    const std::size_t which = random_.below(states_.size());
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return run(which);
      case 4:
        return set(which);
      case 5:
        return copy(which);
      case 6:
        states_.erase(states_.begin() + static_cast<std::ptrdiff_t>(which));
        wanted_.erase(wanted_.begin() + static_cast<std::ptrdiff_t>(which));
        depth_.erase(depth_.begin() + static_cast<std::ptrdiff_t>(which));
        return;
      case 7:
        return save_and_load(which);
      case 8:
        return product(which);
      default:
        return ask(which);
    }
  }

  void check_all() {
    for (std::size_t i = 0; i < states_.size(); ++i) check(i);
  }

 private:
  double tolerance(std::size_t which) const { return test::tolerance(target_.precision, depth_[which]); }

  void create() {
    const auto qubits = static_cast<std::uint32_t>(random_.below(3) == 0 ? 1 + random_.below(11) : 9);
    if (random_.below(2) == 0) {
      states_.push_back(session_.state(qubits));
      wanted_.push_back(dense::zero_state(qubits));
      depth_.push_back(1);
      return;
    }
    const Circuit circuit = any_circuit(qubits);
    states_.push_back(session_.run(circuit));
    wanted_.push_back(dense::run(circuit));
    depth_.push_back(circuit.depth() + 1);
  }

  Circuit any_circuit(std::uint32_t qubits) {
    test::RandomCircuitOptions options;
    options.qubits = qubits;
    options.operations = static_cast<unsigned>(random_.below(30));
    options.seed = seed_ * 1000 + ++circuits_;
    options.max_unitary_targets = 2;
    options.max_controls = 2;
    options.terminal_measurements = random_.below(4) == 0;
    return test::random_circuit(options);
  }

  void run(std::size_t which) {
    State& state = states_[which];
    // Some programs come again: their plans are there.
    const bool again = known_ && known_->qubits() == state.qubits() && random_.below(2) == 0;
    if (!again) known_.emplace(session_.compile(any_circuit(state.qubits())));
    try {
      state.run(*known_);
    } catch (const UsageError&) {  // a gate on more qubits than a rank holds
      EXPECT_GT(target_.ranks, 1);
      known_.reset();
      return;
    }
    wanted_[which] = dense::run(known_->circuit(), wanted_[which]);
    depth_[which] += known_->circuit().depth();
  }

  void set(std::size_t which) {
    State& state = states_[which];
    const std::uint32_t qubits = state.qubits();
    depth_[which] = 1;
    const std::uint64_t how = random_.below(4);
    if (how == 0) {
      const Index index = random_.below(Index{1} << qubits);
      state.set(index);
      wanted_[which] = dense::State(std::size_t{1} << qubits);
      wanted_[which][index] = 1;
    } else if (how == 1) {
      wanted_[which] = dense::random_state(qubits, random_.below(1000));
      state.set(wanted_[which]);
    } else if (how == 2) {
      std::vector<std::array<Complex, 2>> each;
      wanted_[which] = {1};
      for (std::uint32_t q = 0; q < qubits; ++q) {
        const double angle = random_.uniform(-3, 3), phase = random_.uniform(-3, 3);
        each.push_back({Complex(std::cos(angle)), std::polar(std::sin(angle), phase)});
        dense::State larger;
        for (const Complex& value : each.back()) {
          for (const Complex& inner : wanted_[which]) larger.push_back(value * inner);
        }
        wanted_[which] = larger;
      }
      state.set_product(each);
    } else {
      const std::uint64_t seed = random_.below(100);
      state.set_random(seed);
      Target other;
      other.backend = BackendKind::kCpu;
      Session reference(other);
      State same = reference.state(qubits);
      same.set_random(seed);
      wanted_[which] = same.amplitudes(0, Index{1} << qubits);
      EXPECT_NEAR(same.norm(), 1, 1e-12);
    }
  }

  void copy(std::size_t which) {
    if (states_.size() > 5) return;
    State other = states_[which].copy();
    states_.push_back(std::move(other));
    wanted_.push_back(dense::State(wanted_[which]));
    depth_.push_back(std::uint64_t{depth_[which]});
  }

  void save_and_load(std::size_t which) {
    const std::string file = (std::filesystem::temp_directory_path() /
                              ("qsim_session_" + std::to_string(getpid()) + "_" + std::to_string(seed_) + ".npy"))
                                 .string();
    states_[which].save(file);
    State other = session_.state(states_[which].qubits());
    other.load(file);
    std::filesystem::remove(file);
    const Index size = Index{1} << other.qubits();
    EXPECT_EQ(other.amplitudes(0, size), states_[which].amplitudes(0, size));
  }

  void product(std::size_t which) {
    for (std::size_t other = 0; other < states_.size(); ++other) {
      if (states_[other].qubits() != states_[which].qubits()) continue;
      Complex wanted = 0;
      for (std::size_t i = 0; i < wanted_[which].size(); ++i)
        wanted += std::conj(wanted_[other][i]) * wanted_[which][i];
      const Complex found = states_[which].inner_product(states_[other]);
      EXPECT_LT(std::abs(found - wanted), 4 * (tolerance(which) + tolerance(other))) << which << " with " << other;
    }
  }

  void ask(std::size_t which) {
    State& state = states_[which];
    const dense::State& wanted = wanted_[which];
    const std::uint32_t qubits = state.qubits();
    const double allowed = 8 * tolerance(which);
    switch (random_.below(6)) {
      case 0: {
        const std::vector<double> found = state.marginals();
        for (std::uint32_t q = 0; q < qubits; ++q) {
          double one = 0;
          for (std::size_t i = 0; i < wanted.size(); ++i) one += (i >> q & 1) != 0 ? std::norm(wanted[i]) : 0;
          EXPECT_NEAR(found[q], one, allowed);
        }
        return;
      }
      case 1: {
        const std::vector<Qubit> list{static_cast<Qubit>(random_.below(qubits))};
        const std::vector<double> found = state.probabilities(list);
        ASSERT_EQ(found.size(), 2u);
        EXPECT_NEAR(found[0] + found[1], 1, allowed);
        return;
      }
      case 2: {
        EXPECT_NEAR(state.norm(), 1, allowed);
        const std::vector<AmplitudeEntry> top = state.top(2);
        for (const AmplitudeEntry& entry : top) EXPECT_LT(std::abs(entry.value - wanted[entry.index]), allowed);
        return;
      }
      case 3: {
        std::uint64_t drawn = 0;
        for (const auto& [index, times] : state.sample(50, 3)) {
          drawn += times;
          EXPECT_GT(std::norm(wanted[index]), 0) << index;
        }
        EXPECT_EQ(drawn, 50u);
        return;
      }
      case 4: {
        const Index all = (Index{1} << qubits) - 1;
        const std::vector<PauliString> strings{{random_.below(all + 1), random_.below(all + 1)}, {0, all}};
        const std::vector<double> found = state.expectations(strings);
        for (std::size_t s = 0; s < strings.size(); ++s) {
          Complex value = 0;
          const auto [x, z] = strings[s];
          static const Complex kPowers[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
          for (Index i = 0; i < wanted.size(); ++i) {
            const double sign = __builtin_parityll(i & z) != 0 ? -1 : 1;
            value += std::conj(wanted[i ^ x]) * wanted[i] * sign;
          }
          value *= kPowers[__builtin_popcountll(x & z) % 4];
          EXPECT_NEAR(found[s], value.real(), allowed);
        }
        return;
      }
      default:
        return check(which);
    }
  }

  void check(std::size_t which) {
    const std::vector<Complex> found = states_[which].amplitudes(0, Index{1} << states_[which].qubits());
    EXPECT_LT(dense::max_difference(found, wanted_[which]), tolerance(which)) << "state " << which;
  }

  const Target target_;
  Session session_;
  PhiloxSequence random_;
  const std::uint64_t seed_;
  std::uint64_t circuits_ = 0;
  std::optional<Program> known_;
  std::vector<State> states_;
  std::vector<dense::State> wanted_;
  std::vector<std::uint64_t> depth_;
};

TEST(SessionProperty, StatesAreWhatWasDoneToThem) {
  const std::uint64_t rounds = test::number_from("QSIM_SESSIONS", 4);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const int ranks : {1, 2, 4}) {
      for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
        for (const std::uint32_t places : {1u, 2u, 4u}) {
          Target target = test::run_options();
          target.ranks = ranks;
          target.precision = precision;
          target.states = places;
          SCOPED_TRACE("round " + std::to_string(round) + ", " + std::to_string(ranks) + " ranks, " +
                       std::string(name_of(precision)) + ", " + std::to_string(places) + " places");
          Pair pair(target, 1 + round * 100 + static_cast<std::uint64_t>(ranks) * 10 + places);
          for (int action = 0; action < 40 && !testing::Test::HasFailure(); ++action) {
            SCOPED_TRACE("action " + std::to_string(action));
            pair.act();
            pair.check_all();
          }
          pair.check_all();
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(SessionProperty, ProgramsThatMeasureOnTheirWayAreAnswered) {
  const std::uint64_t rounds = test::number_from("QSIM_SESSIONS", 4) * 8;
  for (const int ranks : {1, 2, 4}) {
    Target target = test::run_options();
    target.ranks = ranks;
    Session session(target);
    State other = session.run(std::move(Circuit(8).h(0).cx(0, 7)));
    for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
      const Circuit circuit = test::random_dynamic({.seed = seed});
      SCOPED_TRACE(std::to_string(ranks) + " ranks, seed " + std::to_string(seed));
      const Program program = session.compile(circuit);
      Questions questions;
      questions.shots = circuit.measures() ? 400 : 0;
      questions.seed = seed;
      questions.distribution = circuit.clbits() > 0;
      questions.marginals = true;
      questions.probabilities = {{0}};
      questions.expectations = {{"Z0", {{2.0, {0, 1}}}}};
      ProgramAnswers answers;
      try {
        answers = session.answer(program, questions);
      } catch (const UnsupportedError&) {  // too many branches
        continue;
      }
      const std::map<std::uint64_t, double> wanted = dense::distribution(circuit);
      double total = 0;
      for (const auto& [words, probability] : answers.distribution) {
        ASSERT_EQ(words.size(), (circuit.clbits() + 63) / 64);
        const auto found = wanted.find(words[0]);
        EXPECT_NEAR(probability, found == wanted.end() ? 0 : found->second, 1e-10) << words[0];
        total += probability;
      }
      if (circuit.clbits() > 0) {
        EXPECT_NEAR(total, 1, 1e-9);
      }
      std::uint64_t drawn = 0;
      for (const auto& [words, times] : answers.counts) {
        EXPECT_TRUE(wanted.contains(words[0])) << words[0];
        drawn += times;
      }
      EXPECT_EQ(drawn, questions.shots);
      EXPECT_NEAR(answers.probabilities[0][1], answers.marginals[0], 1e-10);
      EXPECT_NEAR(answers.expectations[0], 2 * (1 - 2 * answers.marginals[0]), 1e-9);
    }
    EXPECT_NEAR(other.marginals()[7], 0.5, 1e-12);
    other.run(session.compile(std::move(Circuit(8).cx(0, 7).h(0))));
    EXPECT_NEAR(std::abs(other.amplitudes(0, 1)[0]), 1, 1e-12);
  }
}

}  // namespace
}  // namespace qsim
