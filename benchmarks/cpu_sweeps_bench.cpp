// Goal: a sweep at the rate of memory until it holds dozens of operations, and what each further operation costs: the
// figures of src/plan/costs/cpu.json. Run: qsim_cpu_sweeps_bench [--benchmark_filter=...]. Times are wall times of all
// threads; `ns_per_million` is what one operation adds, a million amplitudes (per operation, sweep without any taken
// off by hand).
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "base/philox.h"
#include "qsim/backend.h"

namespace {

using namespace qsim;

constexpr std::uint32_t kBits = 24;

enum Kind {
  kEmpty,
  kButterfly,
  kRotation,
  kRx,
  kGeneral,
  kControlled,
  kCx,
  kPhaseLayer,
  kDense2,
  kDense3,
  kDense4,
  kDense5,
  kDense6
};

std::vector<Complex> dense(PhiloxSequence& random, std::size_t order) {
  std::vector<Complex> m(order * order);
  for (std::size_t row = 0; row < order; ++row) {
    for (std::size_t c = 0; c < order; ++c) {
      const auto [re, im] = random.gaussian_pair();
      m[row * order + c] = Complex(re, im);
    }
    for (std::size_t other = 0; other < row; ++other) {
      Complex overlap = 0;
      for (std::size_t c = 0; c < order; ++c) overlap += std::conj(m[other * order + c]) * m[row * order + c];
      for (std::size_t c = 0; c < order; ++c) m[row * order + c] -= overlap * m[other * order + c];
    }
    double norm = 0;
    for (std::size_t c = 0; c < order; ++c) norm += std::norm(m[row * order + c]);
    for (std::size_t c = 0; c < order; ++c) m[row * order + c] /= std::sqrt(norm);
  }
  return m;
}

void add_matrix(Sweep& sweep, std::vector<Bit> targets, const std::vector<Complex>& matrix, Index controls) {
  PlanOp op;
  op.target_count = static_cast<std::uint8_t>(targets.size());
  std::copy(targets.begin(), targets.end(), op.targets.begin());
  op.control_mask = op.control_value = controls;
  op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
  op.data_count = static_cast<std::uint32_t>(matrix.size());
  sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
  sweep.ops.push_back(op);
}

/// A sweep with the lowest `low` bits and the highest others active, and `count` operations of one kind round the tile.
Sweep make_sweep(Kind kind, std::uint32_t k, std::uint32_t count, std::uint32_t low) {
  PhiloxSequence random(7);
  Sweep sweep;
  for (std::uint32_t j = 0; j < low; ++j) sweep.active.push_back(static_cast<Bit>(j));
  // Neighbouring bits above a gap, as a plan has them.
  for (std::uint32_t j = low; j < k; ++j) sweep.active.push_back(static_cast<Bit>(j + 4));
  sweep.store = sweep.active;
  const double r = std::sqrt(0.5);
  for (std::uint32_t j = 0; j < count; ++j) {
    const Bit a = sweep.active[j % k], b = sweep.active[(j + 1) % k];
    const double angle = random.uniform(0.1, 1.4), co = std::cos(angle), si = std::sin(angle);
    const Complex i(0, 1);
    switch (kind) {
      case kEmpty:
        break;
      case kButterfly:
        add_matrix(sweep, {a}, {r, r, r, -r}, 0);
        break;
      case kRotation:
        add_matrix(sweep, {a}, {co, -si, si, co}, 0);
        break;
      case kRx:
        add_matrix(sweep, {a}, {co, -i * si, -i * si, co}, 0);
        break;
      case kGeneral:
        add_matrix(sweep, {a}, dense(random, 2), 0);
        break;
      case kControlled:
        add_matrix(sweep, {a}, dense(random, 2), Index{1} << b);
        break;
      case kCx: {
        PlanOp op;
        op.form = Form::kFlip;
        op.target_count = 1;
        op.targets[0] = a;
        op.control_mask = op.control_value = Index{1} << b;
        sweep.ops.push_back(op);
        break;
      }
      case kPhaseLayer: {
        // A Hadamard between phases on all pairs with one bit: neither can be merged with its like.
        add_matrix(sweep, {a}, {r, r, r, -r}, 0);
        PlanOp op;
        op.form = Form::kPhases;
        op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
        op.data_count = k - 1;
        for (const Bit other : sweep.active) {
          if (other != a) sweep.phases.push_back({Index{1} << a | Index{1} << other, false, angle});
        }
        sweep.ops.push_back(op);
        break;
      }
      case kDense2:
      case kDense3:
      case kDense4:
      case kDense5:
      case kDense6: {
        std::vector<Bit> targets;
        for (std::uint32_t t = 0; t < 2U + (kind - kDense2); ++t) targets.push_back(sweep.active[(j + t) % k]);
        add_matrix(sweep, targets, dense(random, std::size_t{1} << targets.size()), 0);
        break;
      }
    }
  }
  return sweep;
}

void sweep_benchmark(benchmark::State& state, Precision precision, Kind kind, std::uint32_t k, std::uint32_t count,
                     std::uint32_t low) {
  BackendOptions options;
  options.precision = precision;
  const std::unique_ptr<Backend> backend = make_cpu_backend(options);
  PoolLayout layout;
  layout.state_bytes = amplitude_bytes(precision) << kBits;
  backend->reserve(layout, kBits);
  const Sweep sweep = make_sweep(kind, k, count, low);
  const std::uint32_t handle = backend->prepare(std::span(&sweep, 1));
  // The values do not matter for the time, as long as they are ordinary numbers.
  Sweep start;
  start.active = start.store = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  start.reads = false;
  for (Bit bit = 0; bit < kBits; ++bit) {
    start.unborn |= Index{1} << bit;
    start.births.push_back({bit, {Complex(std::sqrt(0.5)), Complex(0, std::sqrt(0.5))}});
  }
  backend->sweep(backend->prepare(std::span(&start, 1)), ChunkView{}, 0, false);
  for (auto _ : state) backend->sweep(handle, ChunkView{}, 0, false);
  const double bytes = 2.0 * static_cast<double>(layout.state_bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * static_cast<std::int64_t>(state.iterations()));
  state.counters["ops"] = count;
}

void register_all() {
  const struct {
    const char* name;
    Kind kind;
    std::uint32_t counts[2];
  } kinds[] = {
      {"empty", kEmpty, {0, 0}},    {"butterfly", kButterfly, {24, 96}},    {"rotation", kRotation, {24, 96}},
      {"rx", kRx, {24, 96}},        {"general", kGeneral, {24, 96}},        {"controlled", kControlled, {24, 96}},
      {"cx", kCx, {24, 96}},        {"phase_layer", kPhaseLayer, {12, 48}}, {"dense2", kDense2, {12, 48}},
      {"dense3", kDense3, {6, 24}}, {"dense4", kDense4, {3, 12}},           {"dense5", kDense5, {2, 6}},
      {"dense6", kDense6, {1, 3}}};
  for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
    const std::string prefix = precision == Precision::kSingle ? "single/" : "double/";
    for (const auto& kind : kinds) {
      for (const std::uint32_t k : {10u, 11u, 12u, 13u, 14u, 15u}) {
        for (const std::uint32_t count : kind.counts) {
          const std::string name =
              prefix + kind.name + "/k:" + std::to_string(k) + "/ops:" + std::to_string(count) + "/low:3";
          benchmark::RegisterBenchmark(name.c_str(), sweep_benchmark, precision, kind.kind, k, count, 3u)
              ->Unit(benchmark::kMillisecond)
              ->UseRealTime()
              ->MeasureProcessCPUTime();
          if (count == 0) break;
        }
      }
    }
    for (const std::uint32_t low : {0u, 1u, 2u, 3u, 4u, 5u}) {
      benchmark::RegisterBenchmark((prefix + "empty/k:12/ops:0/low:" + std::to_string(low)).c_str(), sweep_benchmark,
                                   precision, kEmpty, 12u, 0u, low)
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime()
          ->MeasureProcessCPUTime();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
