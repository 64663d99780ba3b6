// The cost model: memory traffic, arithmetic by form, regroups and links.
#include "plan/cost/cost.h"

#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "base/numbers/matrix2.h"
#include "base/philox.h"
#include "plan/cost/pool_layout.h"
#include "plan/matrix_forms.h"
#include "plan/permuted_places.h"
#include "plan/product_lookups.h"

namespace qsim {
namespace {

std::uint64_t pow2(std::uint32_t exponent) { return std::uint64_t{1} << exponent; }

void count_matrix(const PlanOp& op, const Sweep& sweep, ArithmeticCounts& counts) {
  const auto matrix = std::span(sweep.matrices).subspan(op.data_begin, op.data_count);
  if (op.target_count > 1) {
    const double share = op.control_mask == 0 ? 1 : FormCosts::kControlledShare;
    counts.matrix_dense[op.target_count] += share;
    if (op.target_count == 2) {
      counts.pair_entries += share * pair_entries(matrix);
      counts.parity_entries += share * parity_entries(matrix);
    }
    return;
  }
  const TurnKind kind = kind_of(matrix);
  if (op.control_mask != 0) {
    ++(kind == TurnKind::kGeneral ? counts.controlled_general : counts.controlled_real);
    counts.controlled_entries += real_entries(matrix);
  } else {
    ++of_turn(counts, kind);
  }
}

double weighted(const ArithmeticCounts& counts, double terms, const FormCosts& costs) {
  double total = counts.matrix1_general * costs.matrix1_general + counts.matrix1_real * costs.matrix1_real +
                 counts.butterfly * costs.butterfly + counts.flip * costs.flip + counts.phases * costs.phases +
                 terms * costs.phase_term + counts.regroup * costs.regroup + counts.flips_outside * costs.flip_outside +
                 counts.flips_inside * costs.flip_inside + counts.phase_parts * costs.phase_part;
  total += costs.controlled(counts.controlled_entries, counts.controlled_general * costs.matrix1_general +
                                                           counts.controlled_real * costs.matrix1_real);
  if (const double pairs = counts.matrix_dense[2]; pairs != 0) {
    total += pairs * costs.pair((costs.by_parity ? counts.parity_entries : counts.pair_entries) / pairs);
  }
  for (int t = 3; t <= kMaxMatrixTargets; ++t) total += counts.matrix_dense[t] * costs.matrix_dense[t];
  return total;
}

// Terms of one operation beyond so many join those that are there.
constexpr std::uint32_t kTermsApart = 16;

double nanoseconds(const ArithmeticCounts& counts, const FormCosts& costs) {
  return weighted(counts, counts.phase_term, costs);
}

// Whether the blocks of a sweep are done on lanes.
bool takes_lanes(const ArithmeticCounts& counts, const CostTable& cost) {
  return cost.lanes && counts.matrix_dense[2] > 0 && nanoseconds(counts, *cost.lanes) < nanoseconds(counts, cost);
}

Arithmetic arithmetic_of(const ArithmeticCounts& counts, const CostTable& cost, bool lanes) {
  return {nanoseconds(counts, lanes ? *cost.lanes : cost),
          weighted(counts, counts.terms_apart, lanes ? *cost.lanes_instructions : cost.instructions)};
}

// Straight-line kernels that do not fit the instruction cache wait for instructions: measured, 3 % beyond it a sweep
// took no longer, 5 % 1.3 times as long, 6 % twice, 9 % 2.7 times and 17 % 3.6 times.
double with_instructions(const Arithmetic& arithmetic, const CostTable& cost) {
  if (cost.cached_instructions <= 0) return arithmetic.nanoseconds;
  const double all = arithmetic.instructions + cost.kernel_instructions;
  return arithmetic.nanoseconds * std::clamp(1 + 20 * (all / cost.cached_instructions - 1.04), 1.0, 3.5);
}

/// Counts operation after operation.
class Counter {
 public:
  Counter(const Sweep& sweep, std::uint32_t register_bits) : sweep_(sweep), register_bits_(register_bits) {
    for (const Bit bit : sweep.active) active_ |= pow2(bit);
  }

  void add(const PlanOp& op) {
    const Index targets = op.target_mask();
    if (static_cast<std::uint32_t>(popcount(held_ | targets)) > register_bits_) {
      ++counts_.regroup;
      held_ = 0;
    }
    held_ |= targets;
    switch (op.form) {
      case Form::kMatrix:
        count_matrix(op, sweep_, counts_);
        break;
      case Form::kFlip:
        ++counts_.flip;
        count_controls(op.control_mask);
        break;
      case Form::kPhases:
        ++counts_.phases;
        counts_.phase_term += op.data_count;
        counts_.terms_apart += std::min(op.data_count, kTermsApart);
        counts_.phase_parts += static_cast<double>(parts_inside(op));
        break;
    }
  }
  const ArithmeticCounts& counts() const { return counts_; }

 private:
  /// Of a flip: under bits outside the tile alone, or under one bit of it, addresses change; else values do.
  void count_controls(Index controls) {
    if (popcount(controls) > 1 && (controls & active_) != 0) {
      ++counts_.flips_inside;
    } else if ((controls & ~active_) != 0) {
      ++counts_.flips_outside;
    }
  }

  /// Different sets of active bits in the terms that have others as well.
  std::size_t parts_inside(const PlanOp& op) {
    parts_.clear();
    for (const PhaseTerm& term : std::span(sweep_.phases).subspan(op.data_begin, op.data_count)) {
      const Index bits = term.mask | op.control_mask, inside = bits & active_;
      if (inside != 0 && inside != bits) parts_.push_back(inside);
    }
    std::ranges::sort(parts_);
    return static_cast<std::size_t>(std::ranges::unique(parts_).begin() - parts_.begin());
  }

  const Sweep& sweep_;
  Index active_ = 0;
  std::vector<Index> parts_;  // of one operation: kept, so that memory is asked for once
  const std::uint32_t register_bits_;
  ArithmeticCounts counts_;
  Index held_ = 0;  // bits in registers since the last regroup
};

// What a sweep's time is made of.
struct SweepParts {
  double memory = 0, arithmetic = 0, overhead = 0;
};

struct LinesRead {
  double near = 1, window = 1;
};

// How many lines of `line` amplitudes are read for each of them that `sweep`, which permutes, gathers, where those that
// go together, within 2^near_bits and 2^window_bits, are read once. From a sample of places.
LinesRead lines_read(const Sweep& sweep, std::uint32_t local_bits, std::uint32_t line, const PermutationCosts& costs) {
  constexpr std::uint32_t kSample = 48;
  const Index born = (pow2(local_bits) - 1) & ~sweep.unborn;
  double near = 0, window = 0;
  PhiloxSequence random(1);
  for (std::uint32_t i = 0; i < kSample; ++i) {
    const Index from = random.bits() & born;
    const Index to = target_of(sweep, from);
    for (std::uint32_t other = 1; other < line; ++other) {
      const Index apart = target_of(sweep, from ^ other) ^ to;
      near += apart >> costs.near_bits == 0 ? 1 : 0;
      window += apart >> costs.window_bits == 0 ? 1 : 0;
    }
  }
  return {line / (1 + near / kSample), line / (1 + window / kSample)};
}

// Gathered beside the state and, bundle by bundle, put back.
SweepParts permuting_parts(const Sweep& sweep, std::uint32_t local_bits, Precision precision, const CostTable& cost) {
  constexpr double kLaunches = 3;                                               // its steps are uploaded
  constexpr PermutationCosts kDear{512, 10'000'000, 10'000, 0, 10'000'000, 0};  // of a machine that does not say
  const PermutationCosts costs = cost.permutation.value_or(kDear);
  const auto bytes = static_cast<double>(amplitude_bytes(precision));
  const auto written = static_cast<double>(sweep_traffic(sweep, local_bits).amplitudes_written);
  const auto line = static_cast<std::uint32_t>(std::max(1.0, costs.line_bytes / bytes));
  double steps = 0;
  for (const PlanOp& op : sweep.ops) steps += static_cast<double>(permutation_steps(op, terms_of(sweep, op)));
  const bool interpreted = costs.interpreted_step > 0 && steps > static_cast<double>(kMostCompiledSteps);
  steps *= interpreted ? costs.interpreted_step : costs.step;
  if (!sweep.reads) {
    const ProductLookups lookups = product_lookups(sweep);
    const double each = costs.product + steps + costs.lookup * (lookups.tables + lookups.left);
    return {written * bytes / cost.write_bytes_per_second, each * 1e-15 * written, kLaunches * cost.sweep_overhead};
  }
  const double read = written * bytes / cost.read_bytes_per_second;
  const double trip = read + written * bytes / cost.write_bytes_per_second;
  const bool affine = costs.affine > 0 && is_affine(sweep);
  const auto read_again = [&] {
    const LinesRead lines = lines_read(sweep, local_bits, line, costs);
    const double far = costs.again > 0 ? costs.again * 1e-15 * written : read;
    return (lines.window - 1) * far + (lines.near - 1) * costs.near_again * 1e-15 * written;
  };
  const double again = affine ? (costs.affine - 1) * trip : read_again();
  const double places = affine ? 0 : costs.place + steps;
  SweepParts parts{trip + again, places * 1e-15 * written, kLaunches * cost.sweep_overhead};
  if (!is_one_bundle(sweep, local_bits)) parts.overhead += trip;
  return parts;
}

std::uint32_t born_in_tile(const Sweep& sweep) {
  const auto in_tile = [&](const Birth& birth) {
    return std::ranges::find(sweep.active, birth.bit) != sweep.active.end();
  };
  return static_cast<std::uint32_t>(std::ranges::count_if(sweep.births, in_tile));
}

// Beside `memory`, of it `write`, where `run` lowest bits are active.
double births_add(const BirthCosts& costs, const Sweep& sweep, const SweepTraffic& traffic, std::size_t run,
                  double memory, double write) {
  const double share =
      1 - static_cast<double>(traffic.amplitudes_read) / static_cast<double>(traffic.amplitudes_written);
  const bool waits = traffic.amplitudes_read != 0 && (costs.ahead == 0 || born_in_tile(sweep) < costs.ahead);
  const double wait = waits ? costs.wait * memory : 0;
  const bool is_apart = run >= 3 && run < costs.whole_lines();
  return share * (wait + (is_apart ? costs.apart[run - 3] * write : 0));
}

SweepParts sweep_parts(const Sweep& sweep, const Arithmetic& arithmetic, std::uint32_t local_bits, Precision precision,
                       const Machine& machine) {
  const CostTable& cost = machine.cost(precision);
  if (sweep.permutes()) return permuting_parts(sweep, local_bits, precision, cost);
  const SweepTraffic traffic = sweep_traffic(sweep, local_bits);
  const auto bytes = static_cast<double>(amplitude_bytes(precision));
  std::size_t run = 0;  // lowest bits that are active
  while (run < sweep.active.size() && sweep.active[run] == run) ++run;
  const double write = static_cast<double>(traffic.amplitudes_written) * bytes / cost.write_bytes_per_second;
  double memory = write + static_cast<double>(traffic.amplitudes_read) * bytes / cost.read_bytes_per_second;
  if (local_bits >= 3) memory *= cost.narrow_run_factor[std::min<std::size_t>(run, 3)];
  if (cost.births) memory += births_add(*cost.births, sweep, traffic, run, memory, write);
  const double work = with_instructions(arithmetic, cost) * 1e-15 * static_cast<double>(traffic.amplitudes_written);
  return {memory, work, cost.sweep_overhead};
}

SweepParts sweep_parts(const Sweep& sweep, std::uint32_t local_bits, Precision precision, const Machine& machine) {
  const ArithmeticCounts counts = arithmetic_counts(sweep, machine.register_bits);
  const CostTable& cost = machine.cost(precision);
  return sweep_parts(sweep, arithmetic_of(counts, cost, takes_lanes(counts, cost)), local_bits, precision, machine);
}

double seconds_of(const SweepParts& parts, const CostTable& cost) {
  return parts.overhead + overlapped(parts.memory, parts.arithmetic, cost.overlap_power);
}

// Of the plan's `last` one with the norm, which it adds up beside.
double sweep_seconds(const Sweep& sweep, const Sweep* last, const Plan& plan, const Machine& machine) {
  const CostTable& cost = machine.cost(plan.precision);
  SweepParts parts = sweep_parts(sweep, plan.local_bits(), plan.precision, machine);
  if (&sweep == last && !sweep.permutes()) {
    const auto written = static_cast<double>(sweep_traffic(sweep, plan.local_bits()).amplitudes_written);
    parts.arithmetic += cost.norm * 1e-15 * written;
  }
  return seconds_of(parts, cost);
}

// What the exchange adds to `sweeps`, the time of the sweeps beside it. A chunk is read by the peer and written to the
// ring, from where the next sweep loads it; without one beside the exchange it is read again and put in place. Sweeps
// that wait for memory feel these trips; and the sweeps of the first and the last chunk, or the trade of one chunk,
// have nothing beside them.
double added_seconds(const Exchange& exchange, const Plan& plan, const SweepParts& beside, double sweeps,
                     const Machine& machine) {
  // Host-driven transports are complete when they return.
  if (sweeps <= 0 || machine.kind == BackendKind::kCpu) return exchange.predicted_seconds;
  const CostTable& cost = machine.cost(plan.precision);
  const auto bytes =
      static_cast<double>(exchanged_amplitudes(exchange, plan.local_bits()) * amplitude_bytes(plan.precision));
  SweepParts both = beside;
  const double times = exchange.overlap_after > 0 ? 1 : 2;
  both.memory += times * (bytes / cost.read_bytes_per_second + bytes / cost.write_bytes_per_second);
  const double slowed = sweeps + seconds_of(both, cost) - seconds_of(beside, cost);
  const auto chunks = static_cast<double>(pow2(static_cast<std::uint32_t>(popcount(exchange.chunk_mask))));
  const double by_link = exchange.predicted_seconds + sweeps / chunks;
  const double by_sweeps = slowed + exchange.predicted_seconds / chunks;
  return std::min(std::max(by_link, by_sweeps) - sweeps, exchange.predicted_seconds);
}

void predict_overlaps(Plan& plan, const Machine& machine) {
  const Stage* previous = nullptr;
  std::size_t taken = 0;  // of the previous stage's sweeps: a sweep runs beside one exchange at most
  for (Stage& stage : plan.stages) {
    if (stage.exchange) {
      Exchange& exchange = *stage.exchange;
      SweepParts beside;
      double sweeps = 0;
      const auto add = [&](const Sweep& sweep) {
        const SweepParts parts = sweep_parts(sweep, plan.local_bits(), plan.precision, machine);
        beside.memory += parts.memory;
        beside.arithmetic += parts.arithmetic;
        sweeps += sweep.predicted_seconds;
      };
      const std::size_t before = previous == nullptr ? 0 : previous->sweeps.size();
      const std::size_t first = before - std::min<std::size_t>(exchange.overlap_before, before - taken);
      for (std::size_t i = first; i < before; ++i) add(previous->sweeps[i]);
      taken = std::min<std::size_t>(exchange.overlap_after, stage.sweeps.size());
      for (std::size_t i = 0; i < taken; ++i) add(stage.sweeps[i]);
      exchange.predicted_added_seconds = added_seconds(exchange, plan, beside, sweeps, machine);
    }
    previous = &stage;
  }
}

}  // namespace

SweepTraffic sweep_traffic(const Sweep& sweep, std::uint32_t local_bits) {
  Index births = 0;
  for (const Birth& birth : sweep.births) births |= birth.bit < local_bits ? pow2(birth.bit) : 0;
  const auto before = local_bits - static_cast<std::uint32_t>(popcount(sweep.unborn));
  const auto after = before + static_cast<std::uint32_t>(popcount(births));
  return {sweep.reads ? pow2(before) : 0, pow2(after)};
}

std::uint64_t swept_bytes(const Sweep& sweep, std::uint32_t local_bits, Precision precision) {
  const SweepTraffic traffic = sweep_traffic(sweep, local_bits);
  std::uint64_t amplitudes = traffic.amplitudes_read + traffic.amplitudes_written;
  if (sweep.permutes() && !is_one_bundle(sweep, local_bits)) amplitudes += 2 * traffic.amplitudes_written;
  return saturating_multiply(amplitude_bytes(precision), amplitudes);
}

std::uint64_t exchanged_amplitudes(const Exchange& exchange, std::uint32_t local_bits) {
  const std::uint32_t born = local_bits - static_cast<std::uint32_t>(popcount(exchange.unborn));
  return pow2(born) - pow2(born - static_cast<std::uint32_t>(exchange.swaps.size()));
}

ArithmeticCounts arithmetic_counts(const Sweep& sweep, std::uint32_t register_bits) {
  Counter counter(sweep, register_bits);
  for (const PlanOp& op : sweep.ops) counter.add(op);
  return counter.counts();
}

std::vector<Arithmetic> operation_arithmetic(const Sweep& sweep, Precision precision, const Machine& machine) {
  std::vector<Arithmetic> each;
  const CostTable& cost = machine.cost(precision);
  const bool lanes = takes_lanes(arithmetic_counts(sweep, machine.register_bits), cost);
  Counter counter(sweep, machine.register_bits);
  Arithmetic before;
  for (const PlanOp& op : sweep.ops) {
    counter.add(op);
    const Arithmetic after = arithmetic_of(counter.counts(), cost, lanes);
    each.push_back({after.nanoseconds - before.nanoseconds, after.instructions - before.instructions});
    before = after;
  }
  return each;
}

SweepBounds sweep_bounds(const Sweep& sweep, std::uint32_t local_bits, Precision precision, const Machine& machine) {
  const SweepParts parts = sweep_parts(sweep, local_bits, precision, machine);
  return {parts.memory, parts.arithmetic};
}

double overlapped(double memory, double arithmetic, double power) {
  if (memory <= 0 || arithmetic <= 0 || std::isinf(power)) return std::max(memory, arithmetic);
  if (power == 1) return memory + arithmetic;
  if (power == 3) return std::cbrt(memory * memory * memory + arithmetic * arithmetic * arithmetic);
  return std::pow(std::pow(memory, power) + std::pow(arithmetic, power), 1 / power);
}

double sweep_seconds(const Sweep& sweep, std::uint32_t local_bits, Precision precision, const Machine& machine) {
  return seconds_of(sweep_parts(sweep, local_bits, precision, machine), machine.cost(precision));
}

double sweep_seconds(const Sweep& sweep, const Arithmetic& arithmetic, std::uint32_t local_bits, Precision precision,
                     const Machine& machine) {
  return seconds_of(sweep_parts(sweep, arithmetic, local_bits, precision, machine), machine.cost(precision));
}

double exchange_seconds(const Exchange& exchange, std::uint32_t local_bits, Precision precision,
                        const Machine& machine) {
  const CostTable& cost = machine.cost(precision);
  const auto bytes = static_cast<double>(exchanged_amplitudes(exchange, local_bits) * amplitude_bytes(precision));
  const auto partners = static_cast<double>(pow2(static_cast<std::uint32_t>(exchange.swaps.size())) - 1);
  return cost.exchange_overhead * (1 + partners) + bytes / cost.link_bytes_per_second;
}

void predict(Plan& plan, const Machine& machine) {
  const Sweep* last = nullptr;
  for (const Stage& stage : plan.stages) last = stage.sweeps.empty() ? last : &stage.sweeps.back();
  for (Stage& stage : plan.stages) {
    if (stage.exchange) {
      Exchange& exchange = *stage.exchange;
      exchange.predicted_seconds = exchange_seconds(exchange, plan.local_bits(), plan.precision, machine);
    }
    for (Sweep& sweep : stage.sweeps) sweep.predicted_seconds = sweep_seconds(sweep, last, plan, machine);
  }
  predict_overlaps(plan, machine);
}

double seconds_on(const Machine& machine, Plan plan) {
  predict(plan, machine);
  return plan_work(plan).total_seconds;
}

}  // namespace qsim
