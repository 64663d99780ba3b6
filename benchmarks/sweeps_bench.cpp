// Goal: a sweep at the rate of memory until it holds dozens of operations, and what each further operation costs: the
// figures of src/plan/cost/machines. Run: qsim_sweeps_bench [--backend cpu|cuda] [--jit off|only]
// [--benchmark_filter=...]. Wall times of all threads, of 2^24 amplitudes on a CPU and 2^28 on a GPU.
#include <benchmark/benchmark.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/philox.h"
#include "device/backend.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace {

using namespace qsim;

/// What all sweeps of a run share.
struct Device {
  bool cuda = false;
  Jit jit = Jit::kOnly;
  std::uint32_t bits() const { return cuda ? 28 : 24; }
};

struct Shape {
  Precision precision = Precision::kDouble;
  std::uint32_t k = 12, count = 0, low = 3;
};

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

std::unique_ptr<Backend> reserved_backend(const Device& device, Precision precision) {
  BackendOptions options;
  options.precision = precision;
  options.jit = device.jit;
  std::unique_ptr<Backend> backend = device.cuda ? make_cuda_backend(options) : make_cpu_backend(options);
  PoolLayout layout;
  layout.state_bytes = amplitude_bytes(precision) << device.bits();
  if (device.cuda) {
    layout.table_bytes = std::uint64_t{32} << 20;
    layout.scratch_bytes = std::uint64_t{64} << 20;
  }
  backend->reserve(layout, device.bits());
  // The values do not matter for the time, as long as they are ordinary numbers.
  backend->fill_random(Layout::identity(static_cast<int>(device.bits())), 0, 1, std::exp2(-0.5 * device.bits()));
  backend->synchronize();
  return backend;
}

void sweep_benchmark(benchmark::State& state, const Device& device, Kind kind, const Shape& shape) {
  try {
    const std::unique_ptr<Backend> backend = reserved_backend(device, shape.precision);
    const Sweep sweep = make_sweep(kind, shape.k, shape.count, shape.low);
    const std::uint32_t handle = backend->prepare(std::span(&sweep, 1), Summing::kNo);
    backend->sweep(handle, ChunkView{}, 0, false);
    backend->synchronize();
    for (auto _ : state) {
      backend->sweep(handle, ChunkView{}, 0, false);
      backend->synchronize();
    }
    const auto bytes = static_cast<std::int64_t>(2 * amplitude_bytes(shape.precision) << device.bits());
    state.SetBytesProcessed(bytes * static_cast<std::int64_t>(state.iterations()));
    state.counters["ops"] = shape.count;
  } catch (const Error& error) {
    state.SkipWithError(error.what());
  }
}

struct KindName {
  const char* name;
  Kind kind;
  std::uint32_t few, many;
};
constexpr std::array<KindName, 12> kKinds{{{"butterfly", kButterfly, 24, 96},
                                           {"rotation", kRotation, 24, 96},
                                           {"rx", kRx, 24, 96},
                                           {"general", kGeneral, 24, 96},
                                           {"controlled", kControlled, 24, 96},
                                           {"cx", kCx, 24, 96},
                                           {"phase_layer", kPhaseLayer, 12, 48},
                                           {"dense2", kDense2, 12, 48},
                                           {"dense3", kDense3, 6, 24},
                                           {"dense4", kDense4, 3, 12},
                                           {"dense5", kDense5, 2, 6},
                                           {"dense6", kDense6, 1, 3}}};

void add(const Device& device, const char* name, Kind kind, const Shape& shape) {
  const std::string text = std::string(shape.precision == Precision::kSingle ? "single/" : "double/") + name +
                           "/k:" + std::to_string(shape.k) + "/ops:" + std::to_string(shape.count) +
                           "/low:" + std::to_string(shape.low);
  auto* const added = benchmark::RegisterBenchmark(text.c_str(), sweep_benchmark, device, kind, shape);
  added->Unit(benchmark::kMillisecond)->UseRealTime();
  if (!device.cuda) added->MeasureProcessCPUTime();
}

/// Rate against tile size, against which bits are active, and against operations a sweep.
void register_all(const Device& device) {
  const std::vector<std::uint32_t> tiles =
      device.cuda ? std::vector<std::uint32_t>{9, 10, 11, 12, 13} : std::vector<std::uint32_t>{10, 11, 12, 13, 14, 15};
  for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
    for (const std::uint32_t k : tiles) add(device, "empty", kEmpty, {precision, k, 0, 3});
    for (const std::uint32_t low : {0U, 1U, 2U, 4U, 5U}) add(device, "empty", kEmpty, {precision, 12, 0, low});
    for (const KindName& kind : kKinds) {
      if (device.cuda) {
        for (const std::uint32_t count : {kind.few / 2, kind.few, 2 * kind.few, kind.many}) {
          if (count > 0) add(device, kind.name, kind.kind, {precision, 12, count, 3});
        }
        continue;
      }
      for (const std::uint32_t k : tiles) {
        for (const std::uint32_t count : {kind.few, kind.many}) {
          add(device, kind.name, kind.kind, {precision, k, count, 3});
        }
      }
    }
  }
}

/// Takes `--backend` and `--jit` out of the arguments; the others are Google Benchmark's.
Device take_device(int& argc, char** argv) {
  Device device;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const bool valued = i + 1 < argc;
    if (valued && std::strcmp(argv[i], "--backend") == 0) {
      device.cuda = std::strcmp(argv[++i], "cuda") == 0;
    } else if (valued && std::strcmp(argv[i], "--jit") == 0) {
      device.jit = choice_of<Jit>(argv[++i]);
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return device;
}

}  // namespace

int main(int argc, char** argv) {
  const Device device = take_device(argc, argv);
  register_all(device);
  benchmark::AddCustomContext("backend", device.cuda ? "cuda" : "cpu");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
