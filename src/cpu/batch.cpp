// Batches of small circuits on the CPU: kBatchLanes evaluations side by side, lane groups shared among threads.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <complex>
#include <cstring>
#include <exception>
#include <vector>

#include "base/threads/thread_team.h"
#include "cpu/cpu_info.h"
#include "device/batch_program.h"
#include "device/numbers/probability.h"
#include "kernels/cpu/batch_lanes.h"

namespace qsim {
namespace cpu {

namespace {

template <typename Real>
BatchLanes<Real> lanes_of(const std::string& wanted_set) {
  const std::string set = choose_instruction_set(wanted_set);
  if (set == "avx512") return batch_lanes_avx512<Real>();
  return set == "avx2" ? batch_lanes_avx2<Real>() : batch_lanes_scalar<Real>();
}

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

  LaneGroup(const BatchProgram& program, const BatchLanes<Real>& lanes)
      : program_(program),
        lanes_(lanes),
        matrices_(2 * program.matrices.size()),
        state_((std::size_t{2} << program.qubits) * kLanes),
        probabilities_((std::size_t{1} << program.qubits) * kLanes) {
    const auto* const parts = reinterpret_cast<const double*>(program.matrices.data());
    std::transform(parts, parts + matrices_.size(), matrices_.begin(),
                   [](double part) { return static_cast<Real>(part); });
  }

  /// Evaluations first .. first + count - 1, count <= kLanes; idle lanes repeat the last. Left where the batch ends.
  void run(std::span<const double> values, std::size_t first, std::size_t count, const BatchOutputs& outputs,
           Watched& watched, int worker) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::size_t evaluation = first + std::min(lane, count - 1);
      values_[lane] = values.subspan(evaluation * program_.parameters, program_.parameters);
    }
    std::fill(state_.begin(), state_.end(), Real{0});
    std::fill_n(state_.begin(), kLanes, Real{1});
    const std::size_t ops_a_look = std::max<std::size_t>(1, (kLookEvery / kLanes) >> program_.qubits);
    std::size_t unseen = 0;
    for (const BatchOp& op : program_.ops) {
      apply(op);
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
  double angle(const BatchOp& op, std::uint32_t number, std::size_t lane) const {
    const BatchAngle& angle = program_.angles[op.angle_begin + number];
    return angle.scale == 0 ? angle.offset : angle.scale * values_[lane][angle.parameter] + angle.offset;
  }

  void apply(const BatchOp& op) {
    const std::uint32_t n = program_.qubits, target = op.targets[0];
    switch (op.form) {
      case BatchForm::kFlip:
        lanes_.flip(state_.data(), n, target, op.controls);
        return;
      case BatchForm::kMatrix:
        lanes_.dense(state_.data(), n, op.targets, op.target_count, op.controls,
                     matrices_.data() + 2 * std::size_t{op.matrix_begin});
        return;
      case BatchForm::kRx:
      case BatchForm::kRy:
      case BatchForm::kU:
        make_matrices(op);
        lanes_.one_target(state_.data(), n, target, op.controls, matrix_.data());
        return;
      case BatchForm::kRz:
      case BatchForm::kPhase:
        make_matrices(op);
        lanes_.diagonal(state_.data(), n, target, op.controls, matrix_.data());
        return;
    }
  }

  void make_matrices(const BatchOp& op) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double theta = angle(op, 0, lane), c = std::cos(theta / 2), s = std::sin(theta / 2);
      std::array<Complex, 4> m{};
      if (op.form == BatchForm::kRx) m = {Complex(c), Complex(0, -s), Complex(0, -s), Complex(c)};
      if (op.form == BatchForm::kRy) m = {Complex(c), Complex(-s), Complex(s), Complex(c)};
      if (op.form == BatchForm::kRz) m = {Complex(c, -s), Complex(0), Complex(0), Complex(c, s)};
      if (op.form == BatchForm::kPhase)
        m = {Complex(1), Complex(0), Complex(0), Complex(std::cos(theta), std::sin(theta))};
      if (op.form == BatchForm::kU) {
        const double phi = angle(op, 1, lane), lambda = angle(op, 2, lane);
        const Complex left = std::polar(1.0, phi), right = std::polar(1.0, lambda);
        m = {Complex(c), -right * s, left * s, left * right * c};
      }
      for (std::size_t entry = 0; entry < 4; ++entry) {
        matrix_[2 * entry * kLanes + lane] = static_cast<Real>(m[entry].real());
        matrix_[(2 * entry + 1) * kLanes + lane] = static_cast<Real>(m[entry].imag());
      }
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
  std::vector<Real> matrices_;  // of the program: re, im pairs
  std::vector<Real> state_;
  std::vector<double> probabilities_;
  std::vector<std::uint64_t> ends_;
  std::array<std::span<const double>, kLanes> values_;
  std::array<Real, 8 * kLanes> matrix_{};  // a 2 x 2 matrix a lane, laid out as BatchLanes wants it
};

template <typename Real>
void run_lanes(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
               const BatchOutputs& outputs, const Target& target, const BatchWatch& watch) {
  constexpr std::size_t kLanes = LaneGroup<Real>::kLanes;
  const std::size_t groups = (evaluations + kLanes - 1) / kLanes;
  const auto wanted = static_cast<std::size_t>(target.threads > 0 ? target.threads : affinity_threads());
  Watched watched(watch, program, groups);
  ThreadTeam team(static_cast<int>(std::max<std::size_t>(1, std::min(wanted, groups))));
  const BatchLanes<Real> lanes = lanes_of<Real>(target.instruction_set);
  std::vector<LaneGroup<Real>> workers(static_cast<std::size_t>(team.size()), LaneGroup<Real>(program, lanes));
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
                      const BatchOutputs& outputs, const Target& target, const BatchWatch& watch) {
  const auto run = target.precision == Precision::kDouble ? cpu::run_lanes<double> : cpu::run_lanes<float>;
  run(program, values, evaluations, outputs, target, watch);
}

}  // namespace qsim
