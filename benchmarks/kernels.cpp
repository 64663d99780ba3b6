// Times sweeps on one GPU: whole circuits as planned, and the entries of the planner's cost table. JSON on stdout.
//   qsim_kernels circuits FILE.qasm... [--single] [--jit off|only|auto] [--zero] [--repeat N] [--device NAME]
//                [--strategy greedy|search]
//   qsim_kernels lengths FILE.qasm... [--single] [--zero] [--device NAME]     instructions of kernels; needs no GPU
//   qsim_kernels costs [--single] [--qubits N] [--jit off|only]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "benchmarks/code_length.h"
#include "benchmarks/medians.h"
#include "cuda/generate/generate.h"
#include "cuda/program/lower.h"
#include "cuda/run/nvrtc.h"
#include "device/backend.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"

namespace {

using namespace qsim;

struct Arguments {
  std::string mode;
  std::vector<std::string> files;
  Precision precision = Precision::kDouble;
  Jit jit = Jit::kOff;
  std::string strategy = "search";
  std::string device = "h200";
  bool zero = false;
  int repeat = 5;
  std::uint32_t qubits = 28;
};

Arguments read_arguments(std::span<char*> words) {
  Arguments arguments;
  if (words.size() > 1) arguments.mode = words[1];
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string word = words[i];
    const auto value = [&] { return i + 1 < words.size() ? std::string(words[++i]) : std::string(); };
    if (word == "--single")
      arguments.precision = Precision::kSingle;
    else if (word == "--jit")
      arguments.jit = choice_of<Jit>(value());
    else if (word == "--device")
      arguments.device = value();
    else if (word == "--strategy")
      arguments.strategy = value();
    else if (word == "--zero")
      arguments.zero = true;
    else if (word == "--repeat")
      arguments.repeat = std::stoi(value());
    else if (word == "--qubits")
      arguments.qubits = static_cast<std::uint32_t>(std::stoul(value()));
    else
      arguments.files.push_back(word);
  }
  return arguments;
}

std::unique_ptr<Backend> make_backend(const Arguments& arguments) {
  BackendOptions options;
  options.precision = arguments.precision;
  options.jit = arguments.jit;
  return make_cuda_backend(options);
}

PoolLayout layout_of(const Arguments& arguments, std::uint32_t bits) {
  PoolLayout layout;
  layout.state_bytes = amplitude_bytes(arguments.precision) << bits;
  layout.table_bytes = 32ull << 20;
  layout.scratch_bytes = 64ull << 20;
  return layout;
}

// -- whole circuits

/// What a sweep is made of, for fit_costs.py, behind what was `measured` of it.
std::string sweep_row(const Sweep& sweep, bool last, const Plan& plan, const Machine& machine,
                      const std::string& measured) {
  const SweepTraffic traffic = sweep_traffic(sweep, plan.local_bits());
  const ArithmeticCounts counts = arithmetic_counts(sweep, machine.register_bits);
  const SweepBounds bounds = sweep_bounds(sweep, plan.local_bits(), plan.precision, machine);
  char text[128];
  std::snprintf(text, sizeof text, ", \"predicted_ms\": %.3f, \"memory_ms\": %.3f, \"arithmetic_ms\": %.3f",
                sweep.predicted_seconds * 1e3, bounds.memory_seconds * 1e3, bounds.arithmetic_seconds * 1e3);
  std::string row = "{" + measured + text + (sweep.permutes() ? ", \"permutes\": true" : "");
  row += ", \"bytes\": " + std::to_string(swept_bytes(sweep, plan.local_bits(), plan.precision));
  row += ", \"bytes_written\": " + std::to_string(traffic.amplitudes_written * amplitude_bytes(plan.precision));
  const auto add = [&](const std::string& name, double count) {
    if (count == 0) return;
    std::snprintf(text, sizeof text, "%g", count);
    row += ", \"" + name + "\": " + text;
  };
  add("births", static_cast<double>(sweep.births.size()));
  add("norm", last && !sweep.permutes() ? 1 : 0);
  add("matrix1_general", counts.matrix1_general);
  add("matrix1_real", counts.matrix1_real);
  add("controlled_general", counts.controlled_general);
  add("controlled_real", counts.controlled_real);
  add("controlled_entry", counts.controlled_entries);
  add("pair_entry", counts.pair_entries);
  add("butterfly", counts.butterfly);
  add("flip", counts.flip);
  add("phases", counts.phases);
  add("phase_term", counts.phase_term);
  add("terms_apart", counts.terms_apart);
  add("flip_outside", counts.flips_outside);
  add("flip_inside", counts.flips_inside);
  add("phase_part", counts.phase_parts);
  add("regroup", counts.regroup);
  for (int t = 2; t <= kMaxMatrixTargets; ++t) add("matrix_dense" + std::to_string(t), counts.matrix_dense[t]);
  return row + "}";
}

struct Planned {
  Plan plan;
  Machine machine;
  double seconds = 0;
  std::vector<Sweep> sweeps;
  std::size_t ops = 0;
};

Planned planned(const Arguments& arguments, const std::string& file) {
  const Circuit circuit = parse_qasm_file(file).circuit;
  PlanOptions options;
  options.precision = arguments.precision;
  options.start = arguments.zero ? Start::kZero : Start::kRandom;
  options.strategy = arguments.strategy == "greedy" ? Strategy::kGreedy : Strategy::kSearch;
  Planned result;
  const auto start = Clock::now();
  result.machine = find_machine(arguments.device);
  result.plan = make_plan(circuit, result.machine, options);
  result.seconds = seconds_since(start);
  for (const Stage& stage : result.plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      result.sweeps.push_back(specialize(sweep, result.plan, 0));
      result.ops += sweep.ops.size();
    }
  }
  return result;
}

std::string beginning_of_row(const Arguments& arguments, const std::string& file) {
  return "{\"circuit\": \"" + file.substr(file.rfind('/') + 1) + "\", \"precision\": \"" +
         (arguments.precision == Precision::kDouble ? "double" : "single") + "\", \"start\": \"" +
         (arguments.zero ? "zero" : "random") + "\"";
}

void time_circuit(const Arguments& arguments, Backend& backend, const std::string& file) {
  const Planned of = planned(arguments, file);
  const Plan& plan = of.plan;
  const std::vector<Sweep>& sweeps = of.sweeps;
  PoolLayout layout = layout_of(arguments, plan.local_bits());
  const PoolLayout wanted = pool_layout(plan, of.machine);
  layout.spare_bytes = wanted.spare_bytes;
  layout.step_bytes = wanted.step_bytes;
  backend.reserve(layout, plan.local_bits());
  backend.fill_random(plan.initial_layout, 0, 1, std::pow(2.0, -0.5 * (plan.local_bits() + 1)));
  backend.synchronize();
  const auto prepare_start = Clock::now();
  const std::uint32_t first = backend.prepare(sweeps, Summing::kNo);
  backend.synchronize();
  const double prepare_seconds = seconds_since(prepare_start);
  std::vector<double> totals;
  std::vector<double> each(sweeps.size(), 1e9);
  for (int r = 0; r <= arguments.repeat; ++r) {
    const auto start = Clock::now();
    for (std::uint32_t s = 0; s < sweeps.size(); ++s) backend.sweep(first + s, {}, 0, s + 1 == sweeps.size());
    backend.synchronize();
    if (r > 0) totals.push_back(seconds_since(start));
  }
  for (int r = 0; r < 3; ++r) {
    for (std::uint32_t s = 0; s < sweeps.size(); ++s) {
      const auto start = Clock::now();
      backend.sweep(first + s, {}, 0, s + 1 == sweeps.size());
      backend.synchronize();
      each[s] = std::min(each[s], seconds_since(start));
    }
  }
  const PlanWork work = plan_work(plan);
  const double total = median(totals);
  std::printf(
      "%s, \"jit\": \"%s\", \"sweeps\": %zu, \"ops\": %zu, \"seconds\": %.6f, \"predicted\": %.6f, \"gbps\": %.1f, "
      "\"plan_seconds\": %.4f, \"prepare_seconds\": %.4f, \"each\": [",
      beginning_of_row(arguments, file).c_str(), std::string(name_of(arguments.jit)).c_str(), sweeps.size(), of.ops,
      total, work.total_seconds, static_cast<double>(work.bytes_swept_per_rank) / total / 1e9, of.seconds,
      prepare_seconds);
  for (std::size_t s = 0; s < each.size(); ++s) {
    char text[32];
    std::snprintf(text, sizeof text, "\"ms\": %.3f", each[s] * 1e3);
    std::printf("%s%s", s == 0 ? "" : ", ", sweep_row(sweeps[s], s + 1 == each.size(), plan, of.machine, text).c_str());
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

/// How long the kernels are that the sweeps of a plan become.
void show_lengths(const Arguments& arguments, const cuda::RuntimeCompiler& compiler, const std::string& file) {
  const Planned of = planned(arguments, file);
  std::string rows;
  for (const Sweep& sweep : of.sweeps) {
    if (sweep.permutes()) continue;
    cuda::TileProgram program = lower_sweep(sweep, cuda::kernel_options(of.plan.local_bits(), arguments.precision));
    if (arguments.precision == Precision::kSingle) round_tangents(program);
    const cuda::CompiledKernel kernel = compiler.compile(cuda::generate(program).source, 90);
    const std::string length = "\"instructions\": " + std::to_string(instructions_of(kernel.cubin));
    rows += (rows.empty() ? "" : ", ") + sweep_row(sweep, false, of.plan, of.machine, length);
  }
  std::printf("%s, \"each\": [%s]}\n", beginning_of_row(arguments, file).c_str(), rows.c_str());
}

// -- the cost table

class CostMeter {
 public:
  CostMeter(const Arguments& arguments, Backend& backend) : backend_(backend) {
    bits_ = arguments.qubits;
    PoolLayout layout = layout_of(arguments, bits_);
    layout.snapshot_bytes = layout.state_bytes;
    backend.reserve(layout, bits_);
    backend.fill_random(Layout::identity(static_cast<int>(bits_)), 0, 1, std::pow(2.0, -0.5 * (bits_ + 1)));
  }

  /// Seconds of one sweep.
  double time(const Sweep& sweep) {
    backend_.clear_sweeps();
    const std::uint32_t handle = backend_.prepare(std::span(&sweep, 1), Summing::kNo);
    std::vector<double> runs;
    for (int r = 0; r < 6; ++r) {
      backend_.synchronize();
      const auto start = Clock::now();
      backend_.sweep(handle, {}, 0, false);
      backend_.synchronize();
      if (r > 0) runs.push_back(seconds_since(start));
    }
    return median(runs);
  }

  double copy_seconds() {
    std::vector<double> runs;
    for (int r = 0; r < 6; ++r) {
      backend_.synchronize();
      const auto start = Clock::now();
      backend_.save_state(0);
      backend_.synchronize();
      if (r > 0) runs.push_back(seconds_since(start));
    }
    return median(runs);
  }

  /// `low` lowest bits active and 12 - low high ones.
  Sweep empty(unsigned low) const {
    Sweep sweep;
    for (unsigned b = 0; b < low; ++b) sweep.active.push_back(static_cast<Bit>(b));
    for (unsigned b = bits_ - (12 - low); b < bits_; ++b) sweep.active.push_back(static_cast<Bit>(b));
    sweep.store = sweep.active;
    return sweep;
  }

  void add_matrix(Sweep& sweep, std::span<const Bit> targets, const std::vector<Complex>& matrix) const {
    PlanOp op;
    op.target_count = static_cast<std::uint8_t>(targets.size());
    std::copy(targets.begin(), targets.end(), op.targets.begin());
    op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    op.data_count = static_cast<std::uint32_t>(matrix.size());
    sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
    sweep.ops.push_back(op);
  }

  /// Random unitary by Gram-Schmidt.
  std::vector<Complex> unitary(unsigned targets) {
    const std::size_t order = std::size_t{1} << targets;
    std::normal_distribution<double> normal;
    std::vector<std::vector<Complex>> columns(order, std::vector<Complex>(order));
    for (std::size_t c = 0; c < order; ++c) {
      for (Complex& entry : columns[c]) entry = {normal(random_), normal(random_)};
      for (std::size_t k = 0; k < c; ++k) {
        Complex dot = 0;
        for (std::size_t r = 0; r < order; ++r) dot += std::conj(columns[k][r]) * columns[c][r];
        for (std::size_t r = 0; r < order; ++r) columns[c][r] -= dot * columns[k][r];
      }
      double norm = 0;
      for (const Complex entry : columns[c]) norm += std::norm(entry);
      for (Complex& entry : columns[c]) entry /= std::sqrt(norm);
    }
    std::vector<Complex> matrix(order * order);
    for (std::size_t r = 0; r < order; ++r) {
      for (std::size_t c = 0; c < order; ++c) matrix[r * order + c] = columns[c][r];
    }
    return matrix;
  }

  /// Nanoseconds a million amplitudes of what `more` has beyond `less`, an op.
  double slope(const Sweep& less, const Sweep& more, double ops) {
    const double difference = time(more) - time(less);
    return difference / ops * 1e9 / (static_cast<double>(Index{1} << bits_) / 1e6);
  }

  /// Slope of gates made by `matrix` on four bits that stay in registers.
  template <class Make>
  double gate_slope(unsigned targets, int few, int many, Make matrix) {
    Sweep less = empty(3), more = empty(3);
    const auto fill = [&](Sweep& sweep, int layers) {
      for (int l = 0; l < layers; ++l) {
        for (unsigned g = 0; g + targets <= 4 || (g == 0 && targets > 4); g += targets) {
          std::vector<Bit> bits;
          for (unsigned t = 0; t < targets; ++t) {
            bits.push_back(static_cast<Bit>(
                bits_ - 1 - (g + t + (targets == 2 ? static_cast<unsigned>(l) : 0)) % std::max(4u, targets)));
          }
          add_matrix(sweep, bits, matrix());
        }
      }
    };
    fill(less, few);
    fill(more, many);
    return slope(less, more, static_cast<double>(more.ops.size() - less.ops.size()));
  }

  /// Layers of H over all 12 bits: what remains beyond the gates is the regroups.
  double regroup_slope(double gate) {
    const double r = std::sqrt(0.5);
    Sweep less = empty(3), more = empty(3);
    const auto fill = [&](Sweep& sweep, int layers) {
      for (int l = 0; l < layers; ++l) {
        for (const Bit bit : sweep.active) add_matrix(sweep, std::span(&bit, 1), {r, r, r, -r});
        // A phase between layers keeps the gates from cancelling and the groups from merging.
        PlanOp op;
        op.form = Form::kPhases;
        op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
        for (std::size_t b = 0; b < sweep.active.size(); ++b) {
          sweep.phases.push_back({bit_of(sweep.active[b]) | bit_of(sweep.active[(b + 5) % 12]), false, 0.1});
        }
        op.data_count = 12;
        sweep.ops.push_back(op);
      }
    };
    fill(less, 3);
    fill(more, 6);
    return slope(less, more, 9) - 4 * gate;
  }

  double phases_slope() {
    const double r = std::sqrt(0.5);
    Sweep less = empty(3), more = empty(3);
    const auto fill = [&](Sweep& sweep, int layers, bool phases) {
      for (int l = 0; l < layers; ++l) {
        for (unsigned b = 0; b < 4; ++b) {
          const Bit bit = static_cast<Bit>(bits_ - 1 - b);
          add_matrix(sweep, std::span(&bit, 1), {r, r, r, -r});
        }
        if (!phases) continue;
        PlanOp op;
        op.form = Form::kPhases;
        op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
        op.data_count = 4;
        for (unsigned b = 0; b < 4; ++b)
          sweep.phases.push_back({bit_of(static_cast<Bit>(bits_ - 1 - b)) | 1, false, 0.3});
        sweep.ops.push_back(op);
      }
    };
    fill(less, 12, false);
    fill(more, 12, true);
    return slope(less, more, 12);
  }

  std::uint32_t bits() const { return bits_; }

 private:
  static Index bit_of(Bit bit) { return Index{1} << bit; }
  Backend& backend_;
  std::uint32_t bits_ = 0;
  std::mt19937_64 random_{1};
};

void time_costs(const Arguments& arguments, Backend& backend) {
  CostMeter meter(arguments, backend);
  const double bytes =
      2.0 * static_cast<double>(amplitude_bytes(arguments.precision)) * static_cast<double>(Index{1} << meter.bits());
  const double copy = meter.copy_seconds();
  double empty[5];
  for (unsigned low = 0; low <= 4; ++low) empty[low] = meter.time(meter.empty(low));
  const double r = std::sqrt(0.5);
  const double butterfly = meter.gate_slope(1, 16, 40, [&] { return std::vector<Complex>{r, r, r, -r}; });
  const double real = meter.gate_slope(1, 16, 40, [&] { return std::vector<Complex>{0.8, -0.6, 0.6, 0.8}; });
  const double general = meter.gate_slope(1, 12, 30, [&] { return meter.unitary(1); });
  double dense[7] = {};
  dense[1] = general;
  for (unsigned t = 2; t <= 6; ++t)
    dense[t] = meter.gate_slope(t, t < 4 ? 6 : 2, t < 4 ? 14 : 4, [&] { return meter.unitary(t); });
  const double phases = meter.phases_slope();
  const double regroup = meter.regroup_slope(butterfly);
  std::printf("{\"costs\": \"%s\", \"jit\": \"%s\", \"qubits\": %u, \"copy_gbps\": %.1f, \"sweep_gbps\": [",
              arguments.precision == Precision::kDouble ? "double" : "single",
              std::string(name_of(arguments.jit)).c_str(), meter.bits(), bytes / copy / 1e9);
  for (unsigned low = 0; low <= 4; ++low) std::printf("%s%.1f", low == 0 ? "" : ", ", bytes / empty[low] / 1e9);
  std::printf(
      "], \"matrix1_general\": %.1f, \"matrix1_real\": %.1f, \"butterfly\": %.1f, \"phases\": %.1f, "
      "\"regroup\": %.1f, \"matrix_dense\": [0",
      general, real, butterfly, phases, regroup);
  for (unsigned t = 1; t <= 6; ++t) std::printf(", %.1f", dense[t]);
  std::printf("]}\n");
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = read_arguments(std::span(argv, static_cast<std::size_t>(argc)));
  try {
    if (arguments.mode == "lengths") {
      const auto compiler = cuda::RuntimeCompiler::load();
      for (const std::string& file : arguments.files) show_lengths(arguments, compiler, file);
      return 0;
    }
    const auto backend = make_backend(arguments);
    if (arguments.mode == "circuits") {
      for (const std::string& file : arguments.files) time_circuit(arguments, *backend, file);
    } else if (arguments.mode == "costs") {
      time_costs(arguments, *backend);
    } else {
      std::cerr << "usage: qsim_kernels circuits FILE... | lengths FILE... | costs  [--single] [--jit off|only|auto] "
                   "[--zero]\n";
      return 2;
    }
  } catch (const Error& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(error.code());
  }
  return 0;
}
