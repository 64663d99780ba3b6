// How alike states are, whatever their scale and phase.
#include "device/numbers/likeness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <vector>

namespace qsim {
namespace {

using State = std::vector<std::complex<double>>;

std::span<const std::byte> bytes(const State& state) { return std::as_bytes(std::span(state)); }
double apart(const State& a, const State& b) { return distance(bytes(a), bytes(b), Precision::kDouble); }
double value(const State& state) { return likeness(bytes(state), probe(state.size()), Precision::kDouble); }

State some_state() { return {{0.5, 0.1}, {-0.3, 0.2}, {0, 0.4}, {0.6, -0.2}}; }

TEST(Likeness, ScaleAndPhaseDoNotShow) {
  const State state = some_state();
  for (const double angle : {0.0, 1.0, std::numbers::pi, 4.5}) {
    State turned = state;
    for (auto& entry : turned) entry *= 1.3 * std::polar(1.0, angle);
    EXPECT_LT(apart(state, turned), 1e-15) << angle;
    EXPECT_NEAR(value(state), value(turned), 1e-15) << angle;
  }
}

TEST(Likeness, SmallDifferencesShowInFull) {
  const State state = some_state();
  double norm = 0;
  for (const auto& entry : state) norm += std::norm(entry);
  for (const double by : {1e-3, 1e-6, 1e-9, 1e-12, 1e-14}) {
    // To a direction at a right angle to the state.
    State moved = state;
    moved[0] += by * std::conj(state[1]);
    moved[1] -= by * std::conj(state[0]);
    const double expected = by * std::sqrt((std::norm(state[0]) + std::norm(state[1])) / norm);
    EXPECT_NEAR(apart(state, moved), expected, 0.05 * expected + 3e-16) << by;
    EXPECT_LE(std::abs(value(state) - value(moved)), 2 * expected + 1e-15) << by;
  }
}

TEST(Likeness, EqualMagnitudesAreNotEqualStates) {
  const double h = std::sqrt(0.5);
  const std::vector<State> states{{h, h}, {h, -h}, {h, {0, h}}, {h, {0, -h}}, {1, 0}, {0, 1}};
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GT(apart(states[i], states[j]), 0.7) << i << ' ' << j;
      EXPECT_GT(std::abs(value(states[i]) - value(states[j])), 1e-3) << i << ' ' << j;
    }
  }
}

TEST(Likeness, ReadsSinglePrecision) {
  const std::vector<std::complex<float>> a{{0.5f, 0}, {0, 0.5f}}, b{{0, 0.25f}, {-0.25f, 0}}, c{{0.5f, 0}, {0.5f, 0}};
  const auto of = [](const auto& state) { return std::as_bytes(std::span(state)); };
  EXPECT_LT(distance(of(a), of(b), Precision::kSingle), 1e-7);
  EXPECT_GT(distance(of(a), of(c), Precision::kSingle), 0.5);
  EXPECT_NEAR(likeness(of(a), probe(2), Precision::kSingle), likeness(of(b), probe(2), Precision::kSingle), 1e-7);
}

}  // namespace
}  // namespace qsim
