// A projection is a matrix with zeros; where the qubit is a bit of the rank's number, one half of the ranks is zeroed.
#include "runtime/execute/collapse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <type_traits>

#include "base/bits.h"
#include "base/text.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr int kLargestProjectionScale = 3;
constexpr std::array<int, 2> kScaleSteps = {24, 2};  // what further scaling is made of

Sweep matrix_sweep(Bit target, std::uint32_t local_bits, std::uint32_t tile_bits, const std::array<double, 4>& matrix) {
  Sweep sweep;
  const std::uint32_t width = std::min(local_bits, std::max(tile_bits, 1u));
  for (std::uint32_t bit = 0; bit + 1 < width; ++bit) sweep.active.push_back(static_cast<Bit>(bit));
  if (width > 0) sweep.active.push_back(static_cast<Bit>(std::max<std::uint32_t>(target, width - 1)));
  sweep.store = sweep.active;
  PlanOp op;
  op.form = Form::kMatrix;
  op.act_on(bit_mask(target));
  op.data_count = 4;
  sweep.ops = {op};
  for (const double entry : matrix) sweep.matrices.emplace_back(entry);
  return sweep;
}

}  // namespace

void Collapse::require_kept(double kept, double expected, Qubit qubit, bool value) const {
  // A sum and a product for each amplitude at most; where the outcome was weighed in units, half a unit for each.
  const double relative = state_.precision == Precision::kDouble ? 1e-12 : 1e-5;
  const double allowed = relative * expected + std::ldexp(1.0, static_cast<int>(state_.qubits) - 62);
  if (std::abs(kept - expected) <= allowed) return;
  throw VerificationError("outcome " + std::to_string(value ? 1 : 0) + " of qubit " + std::to_string(qubit) +
                          " was kept with probability " + format_number(kept) + " where " + format_number(expected) +
                          " had been weighed (rounding allows " + format_number(allowed) +
                          " between them): the result is wrong and is not shown");
}

Collapse::Collapse(DistributedState& state, ExchangePipeline& exchanges, Executor& executor, std::uint32_t tile_bits)
    : state_(state), exchanges_(exchanges), executor_(executor), tile_bits_(tile_bits) {}

Transition Collapse::swept(Bit bit, Transition transition) const {
  return bit < state_.local_bits() ? transition : Transition{transition.from, transition.from};
}

void Collapse::prepare(Bit bit, std::span<const Transition> transitions) {
  for (const Transition& each : transitions) {
    for (int scale = 0; scale <= kLargestProjectionScale; ++scale) prepare({swept(bit, each), bit, scale});
  }
  for (const int scale : kScaleSteps) prepare({std::nullopt, 0, scale});
}

void Collapse::prepare(const Key& key) {
  if (handles_.contains(key)) return;
  const double factor = std::exp2(0.5 * key.scale);
  std::array<double, 4> matrix{};
  Bit target = key.bit;
  if (!key.transition) {
    matrix = {factor, 0, 0, factor};
  } else if (key.bit >= state_.local_bits()) {
    const double kept = test_bit(state_.base(), key.bit) == key.transition->from ? factor : 0.0;
    matrix = {kept, 0, 0, kept};
    target = 0;
  } else {
    matrix[(key.transition->to ? 2 : 0) + (key.transition->from ? 1 : 0)] = factor;
  }
  handles_[key] = executor_.prepare_sweep(matrix_sweep(target, state_.local_bits(), tile_bits_, matrix));
}

double Collapse::run(const Key& key) {
  const auto found = handles_.find(key);
  if (found == handles_.end()) throw Error("a projection that was not prepared");
  executor_.run_sweep(found->second, 2 * state_.shard_bytes(), true);
  double total = state_.backend.take_norm();
  state_.communicator.sum({&total, 1});
  return total;
}

template <typename Value>
std::array<Value, 2> Collapse::weigh_as(Qubit qubit) {
  const Bit bit = state_.layout.bit_of[qubit];
  const auto histogram = [&](std::span<const Bit> bits, std::span<Value> out) {
    if constexpr (std::is_same_v<Value, double>) {
      state_.backend.reader().histogram(bits, out);
    } else {
      state_.backend.reader().unit_histogram({}, bits, out);
    }
  };
  std::array<Value, 2> weights{};
  if (bit < state_.local_bits()) {
    histogram({&bit, 1}, weights);
  } else {
    histogram({}, {&weights[test_bit(state_.base(), bit) ? 1 : 0], 1});
  }
  state_.communicator.sum(weights);
  if (!(weights[0] + weights[1] > 0)) throw VerificationError("the state that is measured has no probability left");
  return weights;
}

std::array<double, 2> Collapse::weigh(Qubit qubit) { return weigh_as<double>(qubit); }
std::array<std::uint64_t, 2> Collapse::weigh_in_units(Qubit qubit) { return weigh_as<std::uint64_t>(qubit); }

double Collapse::keep(Qubit qubit, Transition transition, double expected, bool exact) {
  const Bit bit = state_.layout.bit_of[qubit];
  const int scale = std::max(0, static_cast<int>(std::lround(-std::log2(expected))));
  // The steps that follow are even.
  const int first = scale <= kLargestProjectionScale ? scale : kLargestProjectionScale - (scale + 1) % 2;
  const Transition done = swept(bit, transition);
  double total = run({done, bit, first});
  require_kept(std::ldexp(total, -first), expected, qubit, transition.from);
  int left = scale - first;
  for (const int step : kScaleSteps) {
    for (; left >= step; left -= step) total = run({std::nullopt, 0, step});
  }
  if (done != transition)
    exchanges_.trade_view({}, {}, static_cast<int>(state_.rank() ^ (bit_mask(bit) >> state_.local_bits())));
  return exact ? std::ldexp(expected, scale) : total;
}

}  // namespace qsim
