// A plan as a timetable that fits one screen.
#include <bit>
#include <string>

#include "base/bits.h"
#include "base/text.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "plan/program/forecast.h"
#include "plan/program/layout.h"
#include "plan/show/show.h"
#include "plan/show/steps.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {
namespace {

constexpr std::size_t kMostLines = 28;  // of the timetable; the middle of a longer one is left out

// "0-2 5 7-9"
std::string bits_text(Index mask) {
  std::string text;
  while (mask != 0) {
    const int first = std::countr_zero(mask);
    const int length = std::countr_one(mask >> first);
    if (!text.empty()) text += ' ';
    text += std::to_string(first);
    if (length > 1) text += (length > 2 ? "-" : " ") + std::to_string(first + length - 1);
    mask &= ~(low_mask(static_cast<unsigned>(length)) << first);
  }
  return text.empty() ? "none" : text;
}

std::string pad(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string exchange_line(const Exchange& exchange) {
  std::string line = "      exchange   local <-> global bits";
  for (const auto& [local, global] : exchange.swaps) {
    line += " " + std::to_string(local) + "<->" + std::to_string(global);
  }
  line += ", chunk bits " + bits_text(exchange.chunk_mask);
  if (exchange.unborn != 0) line += ", " + std::to_string(popcount(exchange.unborn)) + " unborn";
  const auto sweeps = [](std::uint32_t count, const char* where) {
    return (count == 1 ? "the sweep " : std::to_string(count) + " sweeps ") + where;
  };
  if (exchange.overlap_before > 0) line += ", beside " + sweeps(exchange.overlap_before, "before");
  if (exchange.overlap_after > 0) {
    line += (exchange.overlap_before > 0 ? " and " : ", beside ") + sweeps(exchange.overlap_after, "after");
  }
  line += ", " + format_seconds(exchange.predicted_seconds);
  if (exchange.predicted_added_seconds == exchange.predicted_seconds) return line;
  return line + ", adds " + format_seconds(exchange.predicted_added_seconds);
}

std::string sweep_line(const Sweep& sweep, std::size_t stage, std::size_t index) {
  std::uint64_t gates = 0;
  for (const PlanOp& op : sweep.ops) gates += op.gates;
  Index active = 0, reached = 0;
  for (const Bit bit : sweep.active) active |= bit_mask(bit);
  for (const Index mask : sweep.reach) reached |= mask;
  std::string line = pad("  " + std::to_string(stage) + "." + std::to_string(index), 9);
  line += pad(sweep.permutes() ? "permute"
              : sweep.reads    ? "sweep"
                               : "write",
              8) +
          pad(std::to_string(sweep.ops.size()), 7);
  line += pad(std::to_string(gates), 8) + pad(format_seconds(sweep.predicted_seconds), 11) +
          (sweep.permutes() ? "none: any bit is flipped" : bits_text(active));
  if (sweep.store != sweep.active) line += ", moved at the store";
  if (!sweep.reach.empty()) line += ", reaching " + bits_text(reached & ~active);
  if (!sweep.births.empty()) line += ", " + std::to_string(sweep.births.size()) + " born";
  return line;
}

std::string head(const Plan& plan, const Machine& machine) {
  const PlanWork work = plan_work(plan);
  const std::uint64_t ranks = std::uint64_t{1} << plan.rank_bits;
  std::uint64_t operations = 0;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) operations += sweep.ops.size();
  }
  std::string text = "plan: " + std::to_string(plan.qubits) + " qubits, " + std::string(name_of(plan.precision)) +
                     ", " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks") + " of " +
                     escape_text(machine.name) + ", from " +
                     (plan.start == Start::kZero     ? "|0...0>"
                      : plan.start == Start::kRandom ? "a random state"
                                                     : "the state at hand") +
                     "\n";
  text += "gates: " + std::to_string(plan.gates) + " in " + std::to_string(operations) + " operations, " +
          std::to_string(plan.gates_removed) + " not needed";
  for (std::size_t i = 0; i < plan.merged.size(); ++i) {
    text +=
        (i == 0 ? "; merged or removed: " : ", ") + plan.merged[i].first + " " + std::to_string(plan.merged[i].second);
  }
  if (plan.rewrites_refused != 0) {
    text += "\nrewrites not made, since put together again they were not the same: " +
            std::to_string(plan.rewrites_refused);
  }
  text += "\nwork:  " + std::to_string(work.sweeps) + (work.sweeps == 1 ? " sweep, " : " sweeps, ") +
          std::to_string(work.exchanges) + (work.exchanges == 1 ? " exchange; " : " exchanges; ") +
          format_bytes(work.bytes_swept_per_rank) + " swept and " + format_bytes(work.bytes_exchanged_per_rank) +
          " sent by each rank\n";
  text += "time:  " + format_seconds(work.total_seconds) + " predicted: sweeps " + format_seconds(work.sweep_seconds) +
          ", exchanges " + format_seconds(work.exchange_seconds) + " (before overlap)\n";
  return text;
}

// "ranks: 1 in 117.54 ms, 2 in 64.12 ms"
std::string forecast_line(std::span<const RanksForecast> forecasts) {
  std::string text;
  for (const RanksForecast& forecast : forecasts) {
    text += (text.empty() ? "ranks: " : ", ") + std::to_string(std::uint64_t{1} << forecast.rank_bits);
    text += forecast.fits ? " in " + format_seconds(forecast.seconds) : " does not fit";
  }
  return text.empty() ? "" : text + " (predicted)\n";
}

std::string memory_lines(const Plan& plan, const Machine& machine) {
  const PoolLayout pool = pool_layout(plan, machine);
  std::string text = "memory of each rank: " + format_bytes(pool.total_bytes()) + " = state " +
                     format_bytes(pool.state_bytes) + ", chunks " + format_bytes(pool.chunk_bytes * pool.chunk_slots) +
                     ", tables " + format_bytes(pool.table_bytes) + ", scratch " + format_bytes(pool.scratch_bytes);
  if (pool.spare_bytes > 0) text += ", permuting " + format_bytes(pool.spare_bytes + pool.step_bytes);
  if (machine.memory_bytes_per_rank > 0) {
    const bool fits = pool.total_bytes() <= machine.memory_bytes_per_rank;
    text += fits ? "; fits in " : "; DOES NOT FIT in ";
    text += format_bytes(machine.memory_bytes_per_rank) +
            "; largest: " + std::to_string(largest_qubits(machine, plan.precision, plan.rank_bits)) + " qubits";
  }
  return text + "\n";
}

std::string trace_lines(const Plan& plan) {
  std::string text;
  for (const TraceEntry& entry : plan.trace) {
    text += "  gate " + pad(std::to_string(entry.operation), 8);
    if (entry.stage < 0) {
      text += "removed";
    } else {
      text += "stage " + std::to_string(entry.stage) + ", sweep " + std::to_string(entry.sweep) + ", operation " +
              std::to_string(entry.op);
    }
    text += entry.note.empty() ? "\n" : ": " + entry.note + "\n";
  }
  return text.empty() ? "" : "trace (gates count from 0 in the order of the circuit):\n" + text;
}

// The first and the last of `lines`, with the number of those between.
std::string shown_lines(const std::vector<std::string>& lines) {
  std::string text;
  const std::size_t shown = lines.size() > kMostLines ? kMostLines / 2 : lines.size();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool left_out = i >= shown && i + shown < lines.size();
    if (!left_out) text += lines[i] + "\n";
    if (left_out && i == shown) text += "  ... " + std::to_string(lines.size() - 2 * shown) + " more ...\n";
  }
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan, const Machine& machine, std::span<const RanksForecast> forecasts) {
  std::string text = head(plan, machine) + forecast_line(forecasts) + memory_lines(plan, machine);
  std::vector<std::string> lines;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    if (stage.exchange) lines.push_back(exchange_line(*stage.exchange));
    for (std::size_t i = 0; i < stage.sweeps.size(); ++i) lines.push_back(sweep_line(stage.sweeps[i], s, i));
  }
  text += "  stage  what    ops    gates   time       active bits\n";
  return text + shown_lines(lines) + trace_lines(plan);
}

std::string program_text(const PlannedCircuit& program, const Circuit& circuit, const Machine& machine) {
  const Plan& first = program.plans.front();
  const PlanWork work = program_work(program);
  std::uint64_t gates = 0;
  for (const Plan& plan : program.plans) gates += plan.gates;
  std::string text = "program: " + counted(first.qubits, "qubit") + ", " + std::string(name_of(first.precision)) +
                     ", " + counted(std::uint64_t{1} << first.rank_bits, "rank") + " of " + escape_text(machine.name) +
                     ", " + counted(program.steps.size(), "step") + ", " + counted(program.plans.size(), "plan") +
                     " of " + counted(gates, "gate") + "\n";
  text += "time:  " + format_seconds(work.total_seconds) + " predicted where each plan runs once\n";
  const PoolLayout pool = program_layout(program, machine, first.rank_bits);
  text += "memory of each rank: " + format_bytes(pool.total_bytes()) + " = state " + format_bytes(pool.state_bytes) +
          ", the rest tables and scratch; " + format_bytes(pool.state_bytes) +
          " more for each branch whose state is kept while another one runs\n";
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const StepText said = step_text(program, circuit, step);
    std::string line = pad("  " + std::to_string(i), 8) + (said.condition.empty() ? "" : "if " + said.condition + ": ");
    line += said.text;
    if (step.kind == Step::Kind::kPlan) {
      const Plan& plan = program.plans[step.plan];
      const PlanWork of = plan_work(plan);
      line += ": " + counted(plan.gates, "gate") + " in " + counted(of.sweeps, "sweep") + ", " +
              format_seconds(of.total_seconds);
    }
    lines.push_back(line);
  }
  for (const auto& [qubit, clbit] : program.terminal_measures) {
    const Step last{Step::Kind::kInstrument, -1, 0, PlannedCircuit::kMeasurement, qubit, clbit};
    lines.push_back("  end   " + step_text(program, circuit, last).text);
  }
  return text + shown_lines(lines);
}

}  // namespace qsim
