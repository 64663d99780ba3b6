// A plan as a timetable: a row for each rank, boxes as long as sweeps and exchanges are predicted to take.
#include <algorithm>
#include <string>

#include "base/bits.h"
#include "base/text.h"
#include "picture/charts.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/show/show.h"
#include "plan/show/steps.h"

namespace qsim {
namespace {

constexpr std::size_t kMostRows = 8;        // ranks do the same: more rows would say nothing more
constexpr std::size_t kMostBoxes = 20'000;  // of all rows

enum Kind : std::size_t { kSweep, kWrite, kExchange };

std::string exchange_tip(const Exchange& exchange) {
  std::string tip = "exchange of local with global bits";
  for (const auto& [local, global] : exchange.swaps) {
    tip += " " + std::to_string(local) + "<->" + std::to_string(global);
  }
  tip += ": " + format_seconds(exchange.predicted_seconds) + " alone";
  if (exchange.predicted_added_seconds == exchange.predicted_seconds) return tip;
  return tip + ", " + format_seconds(exchange.predicted_added_seconds) + " beside sweeps";
}

std::string sweep_tip(const Sweep& sweep, const std::string& name, std::uint64_t bytes) {
  std::uint64_t gates = 0;
  for (const PlanOp& op : sweep.ops) gates += op.gates;
  return (sweep.permutes() ? "permutation "
          : sweep.reads    ? "sweep "
                           : "first write ") +
         name + ": " + counted(gates, "gate") + " in " + counted(sweep.ops.size(), "operation") + ", " +
         format_bytes(bytes) + ", " + format_seconds(sweep.predicted_seconds);
}

/// The boxes of one rank.
class Row {
 public:
  void add(const Plan& plan, const std::string& prefix) {
    for (std::size_t s = 0; s < plan.stages.size(); ++s) {
      const Stage& stage = plan.stages[s];
      if (stage.exchange) {
        box(stage.exchange->predicted_added_seconds, kExchange, "exchange", exchange_tip(*stage.exchange));
      }
      for (std::size_t i = 0; i < stage.sweeps.size(); ++i) {
        const Sweep& sweep = stage.sweeps[i];
        const std::string name = prefix + std::to_string(s) + "." + std::to_string(i);
        const std::uint64_t bytes = swept_bytes(sweep, plan.local_bits(), plan.precision);
        box(sweep.predicted_seconds, sweep.reads ? kSweep : kWrite, name, sweep_tip(sweep, name, bytes));
      }
    }
  }

  /// The picture of `ranks` such rows.
  std::string draw(std::uint64_t ranks, picture::Timetable table, std::size_t width) && {
    const std::size_t most = std::max<std::size_t>(1, kMostBoxes / std::max<std::size_t>(1, boxes_.size()));
    const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(ranks, std::min(kMostRows, most)));
    if (rows < ranks) {
      table.notes.push_back("all " + std::to_string(ranks) + " ranks do the same; " + std::to_string(rows) +
                            (rows == 1 ? " is shown" : " are shown"));
    }
    table.kinds = {"sweep", "first write", "exchange"};
    for (std::size_t rank = 0; rank < rows; ++rank) {
      table.rows.push_back("rank " + std::to_string(rank));
      for (picture::TimeBox box : boxes_) {
        box.row = rank;
        table.boxes.push_back(std::move(box));
      }
    }
    return picture::draw_timetable(table, width);
  }

 private:
  void box(double seconds, Kind kind, const std::string& label, const std::string& tip) {
    boxes_.push_back({0, now_, now_ + seconds, kind, label, tip});
    now_ += seconds;
  }

  std::vector<picture::TimeBox> boxes_;
  double now_ = 0;
};

std::string where(const Plan& plan, const Machine& machine) {
  return counted(plan.qubits, "qubit") + (plan.precision == Precision::kDouble ? " in double on " : " in single on ") +
         counted(std::uint64_t{1} << plan.rank_bits, "rank") + " of " + escape_text(machine.name, 60);
}

std::string work_text(const PlanWork& work) {
  return counted(work.sweeps, "sweep") + ", " + counted(work.exchanges, "exchange") + "; " +
         format_bytes(work.bytes_swept_per_rank) + " swept and " + format_bytes(work.bytes_exchanged_per_rank) +
         " sent by each rank; " + format_seconds(work.total_seconds) + " predicted";
}

}  // namespace

std::string plan_svg(const Plan& plan, const Machine& machine, std::size_t width) {
  Row row;
  row.add(plan, "");
  picture::Timetable table;
  table.title = "Plan of " + where(plan, machine);
  table.notes = {work_text(plan_work(plan))};
  return std::move(row).draw(std::uint64_t{1} << plan.rank_bits, std::move(table), width);
}

std::string program_svg(const PlannedCircuit& program, const Machine& machine, std::size_t width) {
  Row row;
  for (std::size_t i = 0; i < program.plans.size(); ++i) row.add(program.plans[i], std::to_string(i) + ":");
  const Plan& first = program.plans.front();
  picture::Timetable table;
  table.title = "Program of " + where(first, machine);
  table.notes = {work_text(program_work(program)),
                 counted(program.plans.size(), "plan") + " of " + counted(program.steps.size(), "step") +
                     ", each plan once; measurements, resets and branches between them are not predicted"};
  return std::move(row).draw(std::uint64_t{1} << first.rank_bits, std::move(table), width);
}

}  // namespace qsim
