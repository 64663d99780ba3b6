#include "plan/cost/gpu_pace.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string>

#include "base/text.h"

namespace qsim {
namespace {

// An H200's: 6,144 bits at 3.2 GHz twice a cycle make 4.92 TB/s, of which sweeps reach less than other cards do of
// theirs: those of an H100, with 3.35 TB/s, take 1.35 to 1.4 times as long, not 1.47. 132 multiprocessors of 128 and 64
// units at 1.98 GHz.
constexpr GpuRates kH200{4.64e12, 3.345e13, 1.673e13, false};
constexpr double kSame = 0.06;

// An H200 is at the limit of its power in both: with memory 1.385 times as slow, an H100's, arithmetic takes 0.87 of
// the time (measured: docs/log/planner.md).
constexpr double kSlowMemory = 1.385, kArithmeticBesideIt = 0.87;

// By bus widths, memory clocks, multiprocessors and their clocks, as the drivers of these cards give them.
constexpr KnownGpu kH100{
    "h100", {2 * 2.619e9 * 5120 / 8, 132 * 1.98e9 * 128, 132 * 1.98e9 * 64, false}, 83'900'000'000};
constexpr KnownGpu kKnown[] = {
    kH100, {"a100", {2 * 1.593e9 * 5120 / 8, 108 * 1.41e9 * 64, 108 * 1.41e9 * 32, true}, 83'900'000'000}};

std::int64_t thousandths(double of_h200, double rate) {
  if (!(rate > 0)) return 1000;
  const double ratio = of_h200 / rate;
  return std::abs(ratio - 1) <= kSame ? 1000 : std::llround(1000 * std::clamp(ratio, 0.01, 1000.0));
}

void slow_down(CostTable& table, double memory, double arithmetic, double moves) {
  table.read_bytes_per_second /= memory;
  table.write_bytes_per_second /= memory;
  if (table.births) {  // they wait as long for slower memory, which is a smaller share of its time
    table.births->wait /= memory;
    for (double& apart : table.births->apart) apart /= memory;
  }
  const double slower = (std::clamp(memory, 1.0, kSlowMemory) - 1) / (kSlowMemory - 1);
  const double share = 1 - slower * (1 - kArithmeticBesideIt);
  table.scale(arithmetic * share, moves * share);
  table.norm *= arithmetic * share;
  if (table.lanes) table.lanes->scale(arithmetic * share, moves * share);
  if (table.permutation) {
    table.permutation->again *= memory;
    table.permutation->near_again *= memory;
    table.permutation->place *= moves;
    table.permutation->step *= moves;
    table.permutation->interpreted_step *= moves;
    table.permutation->product *= moves;
    table.permutation->lookup *= moves;
  }
}

}  // namespace

std::span<const KnownGpu> known_gpus() { return kKnown; }

std::optional<Machine> machine_of_model(std::string_view model) {
  const auto is_in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (auto begin = model.begin(); begin != model.end();) {
    const auto end = std::find_if_not(begin, model.end(), is_in_word);
    const std::string word = lower_case({begin, end});
    if (word == "h200" || std::ranges::find(kKnown, word, &KnownGpu::name) != std::end(kKnown)) {
      return find_machine(word);
    }
    begin = std::find_if(end, model.end(), is_in_word);
  }
  return std::nullopt;
}

GpuPace pace_of(const GpuRates& rates) {
  return {thousandths(kH200.memory_bytes, rates.memory_bytes),
          thousandths(kH200.single_operations, rates.single_operations),
          thousandths(kH200.double_operations, rates.double_operations), rates.without_lanes ? 1 : 0};
}

GpuPace GpuPace::slower_of(const GpuPace& other) const {
  return {std::max(memory, other.memory), std::max(in_single, other.in_single), std::max(in_double, other.in_double),
          std::max(without_lanes, other.without_lanes)};
}

Machine gpu_machine(const GpuPace& pace, const std::string& name) {
  Machine machine = find_machine("h200");
  if (pace == GpuPace{}) return machine;
  const auto factor = [](std::int64_t thousands) { return 1e-3 * static_cast<double>(thousands); };
  slow_down(machine.cost_single, factor(pace.memory), factor(pace.in_single), factor(pace.in_single));
  slow_down(machine.cost_double, factor(pace.memory), factor(pace.in_double), factor(pace.in_single));
  if (pace.without_lanes != 0 || 4 * pace.in_double > 5 * pace.in_single) {
    machine.cost_double.lanes = machine.cost_double.lanes_instructions = std::nullopt;
  }
  machine.name = pace == pace_of(kH100.rates) ? name : name + " (estimated)";
  return machine;
}

}  // namespace qsim
