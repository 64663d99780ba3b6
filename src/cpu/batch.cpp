// Batches of small circuits on the CPU: kBatchLanes evaluations side by side, lane groups shared among threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <deque>
#include <exception>
#include <vector>

#include "base/threads/thread_team.h"
#include "cpu/cpu_info.h"
#include "cpu/line_vector.h"
#include "device/batch/batch_device.h"
#include "device/numbers/probability.h"
#include "kernels/cpu/batch_lanes.h"

namespace qsim {
namespace cpu {

namespace {

constexpr std::size_t kLookEvery = std::size_t{1} << 18;  // amplitudes that a thread writes between two looks

/// What the threads of a batch share: how much is done, and whether to go on.
class Watched {
 public:
  Watched(const BatchWatch& watch, const BatchProgram& program, std::size_t groups)
      : watch_(watch), all_((program.ops.size() + 1) * groups) {}

  void done(std::size_t ops) {
    if (watch_) done_.fetch_add(ops, std::memory_order_relaxed);
  }
  /// False when the batch ends: what the watch threw, which worker 0 alone calls, is kept for rethrow().
  bool go_on(int worker) {
    if (worker == 0 && watch_ && !stopped_) {
      try {
        watch_(static_cast<double>(done_) / static_cast<double>(all_));
      } catch (...) {
        failure_ = std::current_exception();
        stopped_ = true;
      }
    }
    return !stopped_;
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const BatchWatch& watch_;
  const std::size_t all_;
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> stopped_{false};
  std::exception_ptr failure_;
};

/// Lanes of one thread, from the values of their evaluations to their answers.
template <typename Real>
class LaneGroup {
 public:
  static constexpr std::size_t kLanes = kBatchLanes<Real>;
  static constexpr std::size_t kRow = 2 * kLanes;

  LaneGroup(const BatchProgram& program, const BatchLanes<Real>& lanes)
      : program_(program),
        lanes_(lanes),
        matrices_(2 * program.matrices.size()),
        factors_(program.factors.size()),
        values_(program.parameters * kLanes),
        angles_(program.sums.size()),
        circle_(program.sums.size() * kRow),
        phases_((1 + program.ops.size()) * kRow),
        matrix_(4 * kRow),
        state_(kRow << program.qubits),
        probabilities_(kLanes << program.qubits) {
    put_rounded(program.matrices, matrices_.data());
    for (std::size_t i = 0; i < factors_.size(); ++i) {
      const BatchFactor& factor = program.factors[i];
      factors_[i].step = factor.step;
      factors_[i].line = factor.line;
      if (factor.sum != 0) factors_[i].phase = phase_of(factor.sum);
      put_rounded(factor.fixed, factors_[i].fixed);
      put_rounded(factor.turned, factors_[i].turned);
    }
    put_same(program.start, phases_.data());
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
      put_same(program.ops[i].phase, phases_.data() + (1 + i) * kRow);
    }
  }
  LaneGroup(const LaneGroup&) = delete;
  LaneGroup& operator=(const LaneGroup&) = delete;

  /// Evaluations first .. first + count - 1, count <= kLanes; idle lanes repeat the last. Left where the batch ends.
  void run(std::span<const double> values, std::size_t first, std::size_t count, const BatchOutputs& outputs,
           Watched& watched, int worker) {
    put_circle(values, first, count);
    const Real* const start = program_.start_sum == 0 ? phases_.data() : phase_of(program_.start_sum);
    std::copy_n(start, kRow, state_.begin());
    const std::size_t ops_a_look = std::max<std::size_t>(1, (kLookEvery / kLanes) >> program_.qubits);
    std::size_t unseen = 0;
    for (std::size_t i = 0; i < program_.ops.size(); ++i) {
      apply(i);
      if (++unseen < ops_a_look) continue;
      watched.done(unseen);
      unseen = 0;
      if (!watched.go_on(worker)) return;
    }
    watched.done(unseen + 1);
    if (!outputs.states.empty()) write_states(first, count, outputs.states);
    if (outputs.marginals.empty() && outputs.outcomes.empty()) return;
    lanes_.probabilities(state_.data(), program_.qubits, probabilities_.data());
    if (!outputs.outcomes.empty()) draw(first, count, outputs);
    if (!outputs.marginals.empty()) write_marginals(first, count, outputs.marginals);
  }

 private:
  static void put_rounded(std::span<const Complex> from, Real* to) {
    for (const Complex value : from) {
      *to++ = static_cast<Real>(value.real());
      *to++ = static_cast<Real>(value.imag());
    }
  }
  static void put_same(Complex value, Real* to) {
    std::fill_n(to, kLanes, static_cast<Real>(value.real()));
    std::fill_n(to + kLanes, kLanes, static_cast<Real>(value.imag()));
  }
  Real* phase_of(std::uint32_t sum) { return circle_.data() + (sum - 1) * kRow; }

  /// Cosines and sines of all sums.
  void put_circle(std::span<const double> values, std::size_t first, std::size_t count) {
    const std::size_t each = program_.parameters;
    bool plain = true;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double* const from = values.data() + (first + std::min(lane, count - 1)) * each;
      for (std::size_t p = 0; p < each; ++p) {
        values_[p * kLanes + lane] = from[p];
        plain = plain && std::abs(from[p]) < program_.plain_values;
      }
    }
    if (plain) {
      lanes_.circle(program_.sums.data(), program_.sums.size(), program_.terms.data(), values_.data(), circle_.data());
      return;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      batch_angles(program_, values.subspan((first + std::min(lane, count - 1)) * each, each), angles_);
      for (std::size_t i = 0; i < angles_.size(); ++i) {
        circle_[i * kRow + lane] = static_cast<Real>(std::cos(angles_[i]));
        circle_[i * kRow + kLanes + lane] = static_cast<Real>(std::sin(angles_[i]));
      }
    }
  }

  void apply(std::size_t number) {
    const BatchOp& op = program_.ops[number];
    const BatchControls where{program_.qubits, op.mask, op.value};
    const std::uint32_t target = op.targets[0];
    switch (op.form) {
      case BatchForm::kBirth:
        lanes_.product(factors_.data() + op.begin, factors_.data() + op.end, matrix_.data());
        lanes_.birth(state_.data(), target, matrix_.data());
        return;
      case BatchForm::kTurn:
        lanes_.product(factors_.data() + op.begin, factors_.data() + op.end, matrix_.data());
        lanes_.turn(state_.data(), where, target, matrix_.data());
        return;
      case BatchForm::kMatrix:
        lanes_.dense(state_.data(), where, op.targets.data(), op.target_count,
                     matrices_.data() + 2 * std::size_t{op.begin});
        return;
      case BatchForm::kFlip:
        lanes_.flip(state_.data(), where, target);
        return;
      case BatchForm::kPhase:
        lanes_.phase(state_.data(), where, op.parity,
                     op.sum == 0 ? phases_.data() + (1 + number) * kRow : phase_of(op.sum));
        return;
    }
  }

  void write_states(std::size_t first, std::size_t count, std::span<Complex> states) const {
    const std::size_t size = std::size_t{1} << program_.qubits;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t lane = 0; lane < count; ++lane) {
        const Real* const row = state_.data() + 2 * i * kLanes;
        states[(first + lane) * size + i] = {row[lane], row[kLanes + lane]};
      }
    }
  }

  /// Folds the highest qubit away again and again: its upper half's sum is its marginal. Spoils the probabilities.
  void write_marginals(std::size_t first, std::size_t count, std::span<double> marginals) {
    for (std::uint32_t qubit = program_.qubits; qubit-- > 0;) {
      std::array<double, kLanes> ones{};
      const std::size_t half = (std::size_t{1} << qubit) * kLanes;
      for (std::size_t i = 0; i < half; i += kLanes) {
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
          ones[lane] += probabilities_[half + i + lane];
          probabilities_[i + lane] += probabilities_[half + i + lane];
        }
      }
      for (std::size_t lane = 0; lane < count; ++lane) marginals[(first + lane) * program_.qubits + qubit] = ones[lane];
    }
  }

  void draw(std::size_t first, std::size_t count, const BatchOutputs& outputs) {
    const std::size_t size = std::size_t{1} << program_.qubits;
    ends_.resize(size);
    for (std::size_t lane = 0; lane < count; ++lane) {
      std::uint64_t total = 0;
      for (std::size_t i = 0; i < size; ++i) ends_[i] = total += probability_units(probabilities_[i * kLanes + lane]);
      for (std::uint32_t shot = 0; shot < outputs.shots; ++shot) {
        const std::uint64_t place = batch_draw(outputs.seed, first + lane, shot, total);
        const auto found = std::upper_bound(ends_.begin(), ends_.end(), place);
        outputs.outcomes[(first + lane) * outputs.shots + shot] = static_cast<std::uint32_t>(found - ends_.begin());
      }
    }
  }

  const BatchProgram& program_;
  const BatchLanes<Real>& lanes_;
  LineVector<Real> matrices_;  // of the program: re, im pairs
  std::vector<BatchLaneFactor<Real>> factors_;
  LineVector<double> values_;  // kLanes of each parameter
  std::vector<double> angles_;
  LineVector<Real> circle_;  // by sum
  LineVector<Real> phases_;  // that are fixed: of the start, then by operation
  LineVector<Real> matrix_;  // a 2 x 2 matrix a lane
  LineVector<Real> state_;
  LineVector<double> probabilities_;
  std::vector<std::uint64_t> ends_;
};

template <typename Real>
void run_lanes(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
               const BatchOutputs& outputs, const BackendOptions& options, const BatchWatch& watch) {
  constexpr std::size_t kLanes = LaneGroup<Real>::kLanes;
  const std::size_t groups = (evaluations + kLanes - 1) / kLanes;
  const auto wanted = static_cast<std::size_t>(threads_or_all(options.threads));
  Watched watched(watch, program, groups);
  ThreadTeam team(static_cast<int>(std::max<std::size_t>(1, std::min(wanted, groups))));
  const auto lanes_here = for_instruction_set(choose_instruction_set(options.instruction_set), batch_lanes_scalar<Real>,
                                              batch_lanes_avx2<Real>, batch_lanes_avx512<Real>);
  const BatchLanes<Real> lanes = lanes_here();
  std::deque<LaneGroup<Real>> workers;
  for (int worker = 0; worker < team.size(); ++worker) workers.emplace_back(program, lanes);
  team.run(groups, [&](std::uint64_t group, int worker) {
    if (!watched.go_on(worker)) return;
    const std::size_t first = group * kLanes;
    workers[static_cast<std::size_t>(worker)].run(values, first, std::min(kLanes, evaluations - first), outputs,
                                                  watched, worker);
  });
  watched.rethrow();
}

}  // namespace
}  // namespace cpu

void run_batch_on_cpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const BackendOptions& options, const BatchWatch& watch) {
  const auto run = options.precision == Precision::kDouble ? cpu::run_lanes<double> : cpu::run_lanes<float>;
  run(program, values, evaluations, outputs, options, watch);
}

}  // namespace qsim
