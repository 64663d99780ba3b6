// Measurement and reset of one qubit: projections onto an outcome as prepared sweeps of the same backend verbs.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "runtime/executor.h"

namespace qsim {

/// How a projected state is scaled: by powers of sqrt(2) that are prepared, so that its total probability stays between
/// 1/2 and 1 without a sweep being made for every outcome.
class Collapse {
 public:
  Collapse(DistributedState& state, ExchangePipeline& exchanges, Executor& executor, std::uint32_t tile_bits);

  /// Prepares what a measurement of the qubit at `bit` (`reset`: and a reset) needs.
  void prepare(Bit bit, bool reset);
  /// The sweeps prepared so far, in the form in which the plan core sizes tables.
  std::size_t prepared() const { return handles_.size(); }

  /// Integer probabilities of outcomes 0 and 1 (units of 2^-62 of the state as it is scaled).
  std::pair<std::uint64_t, std::uint64_t> weigh(Qubit qubit);
  /// Keeps outcome `one` of `qubit` (`reset`: and sets it to 0). `norm` is the state's total probability and becomes
  /// that of the projected one; `share` is the outcome's share of it.
  void keep(Qubit qubit, bool one, bool reset, double share, double& norm);

 private:
  enum class Kind : std::uint8_t { kKeep, kReset, kScale };
  struct Key {
    Kind kind;
    Bit bit;
    bool one;
    int scale;                                     // factor sqrt(2)^scale
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): what it expands to
  };

  void prepare(const Key& key);
  void run(const Key& key);

  DistributedState& state_;
  ExchangePipeline& exchanges_;
  Executor& executor_;
  const std::uint32_t tile_bits_;
  std::map<Key, std::uint32_t> handles_;
};

}  // namespace qsim
