// The operators of measurements and resets as prepared sweeps of the same backend verbs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "plan/program/instrument.h"
#include "runtime/execute/executor.h"

namespace qsim {

/// How a projected state is scaled: by powers of sqrt(2) that are prepared, so that its total probability stays between
/// sqrt(1/2) and sqrt(2) without a sweep being made for every outcome. (A power of 2 lies in the middle of that range:
/// the usual probabilities are scaled alike whatever their rounding.)
class Collapse {
 public:
  Collapse(DistributedState& state, ExchangePipeline& exchanges, Executor& executor, std::uint32_t tile_bits);

  /// Prepares what these operators need on the qubit at `bit`.
  void prepare(Bit bit, std::span<const Transition> transitions);
  /// The sweeps prepared so far, in the form in which the plan core sizes tables.
  std::size_t prepared() const { return handles_.size(); }

  /// Probabilities that the qubit is 0 and 1, of the state as it is scaled, each to rounding of itself.
  std::array<double, 2> weigh(Qubit qubit);
  /// The same in integers (units of 2^-62, rounded for each amplitude), for draws: sums do not depend on their order.
  std::array<std::uint64_t, 2> weigh_in_units(Qubit qubit);
  /// Lets `transition` act on `qubit`, where what it keeps has been weighed as `expected` (`exact`: by weigh()).
  /// Returns the total probability of that, as it is scaled then: the one weighed where that was exact, else the one
  /// that the sweep has written. VerificationError where the two differ.
  double keep(Qubit qubit, Transition transition, double expected, bool exact);

 private:
  struct Key {
    std::optional<Transition> transition;  // none: nothing but the factor
    Bit bit;
    int scale;                                     // factor sqrt(2)^scale
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): what it expands to
  };

  /// What the sweep does: on a bit of the rank's number it keeps, and the ranks trade afterwards.
  Transition swept(Bit bit, Transition transition) const;
  void prepare(const Key& key);
  /// Total probability of the state afterwards.
  double run(const Key& key);
  void require_kept(double kept, double expected, Qubit qubit, bool value) const;
  template <typename Value>
  std::array<Value, 2> weigh_as(Qubit qubit);

  DistributedState& state_;
  ExchangePipeline& exchanges_;
  Executor& executor_;
  const std::uint32_t tile_bits_;
  std::map<Key, std::uint32_t> handles_;
};

}  // namespace qsim
