// A projection is a matrix with zeros; where the qubit is a bit of the rank's number, one half of the ranks is zeroed.
#include "runtime/read_out/collapse.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/bits.h"
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
  op.target_count = 1;
  op.targets[0] = target;
  op.data_count = 4;
  sweep.ops = {op};
  for (const double entry : matrix) sweep.matrices.emplace_back(entry);
  return sweep;
}

}  // namespace

Collapse::Collapse(DistributedState& state, ExchangePipeline& exchanges, Executor& executor, std::uint32_t tile_bits)
    : state_(state), exchanges_(exchanges), executor_(executor), tile_bits_(tile_bits) {}

void Collapse::prepare(Bit bit, bool reset) {
  for (const bool one : {false, true}) {
    for (int scale = 0; scale <= kLargestProjectionScale; ++scale) {
      prepare({reset && one && bit < state_.local_bits() ? Kind::kReset : Kind::kKeep, bit, one, scale});
    }
  }
  for (const int scale : kScaleSteps) prepare({Kind::kScale, 0, false, scale});
}

void Collapse::prepare(const Key& key) {
  if (handles_.contains(key)) return;
  const double factor = std::exp2(0.5 * key.scale);
  std::array<double, 4> matrix{};
  Bit target = key.bit;
  if (key.kind == Kind::kScale) {
    matrix = {factor, 0, 0, factor};
  } else if (key.bit >= state_.local_bits()) {
    const double kept = test_bit(state_.base(), key.bit) == key.one ? factor : 0.0;
    matrix = {kept, 0, 0, kept};
    target = 0;
  } else if (key.kind == Kind::kReset) {
    matrix = {0, factor, 0, 0};
  } else {
    matrix[key.one ? 3 : 0] = factor;
  }
  handles_[key] = executor_.prepare_sweep(matrix_sweep(target, state_.local_bits(), tile_bits_, matrix));
}

void Collapse::run(const Key& key) {
  const auto found = handles_.find(key);
  if (found == handles_.end()) throw Error("a projection that was not prepared");
  executor_.run_sweep(found->second, 2 * state_.shard_bytes());
}

std::pair<std::uint64_t, std::uint64_t> Collapse::weigh(Qubit qubit) {
  const Bit bit = state_.layout.bit_of[qubit];
  std::array<std::uint64_t, 2> units{};
  if (bit < state_.local_bits()) {
    state_.backend.unit_histogram({}, {&bit, 1}, units);
  } else {
    std::uint64_t total = 0;
    state_.backend.unit_histogram({}, {}, {&total, 1});
    units[test_bit(state_.base(), bit) ? 1 : 0] = total;
  }
  state_.communicator.sum(units);
  if (units[0] + units[1] == 0) throw VerificationError("the state that is measured has no probability left");
  return {units[0], units[1]};
}

void Collapse::keep(Qubit qubit, bool one, bool reset, double share, double& norm) {
  const Bit bit = state_.layout.bit_of[qubit];
  const bool local = bit < state_.local_bits();
  norm *= share;
  int wanted = std::max(0, static_cast<int>(std::floor(-std::log2(norm))));
  const int first = std::min(wanted, kLargestProjectionScale);
  run({reset && one && local ? Kind::kReset : Kind::kKeep, bit, one, first});
  norm = std::ldexp(norm, first);
  wanted -= first;
  for (const int step : kScaleSteps) {
    for (; wanted >= step; wanted -= step) {
      run({Kind::kScale, 0, false, step});
      norm = std::ldexp(norm, step);
    }
  }
  if (reset && one && !local)
    exchanges_.trade_view({}, {}, static_cast<int>(state_.rank() ^ (bit_mask(bit) >> state_.local_bits())));
}

}  // namespace qsim
