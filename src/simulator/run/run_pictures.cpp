#include "simulator/run/run_pictures.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "picture/charts.h"
#include "plan/cost/cost.h"
#include "plan/show/show.h"

namespace qsim {
namespace {

constexpr std::size_t kWidth = 1000;

/// Seconds of rank 0 by stage and number: a sweep beside an exchange runs chunk by chunk.
using Measured = std::map<std::pair<std::size_t, std::size_t>, double>;

Measured measured(const RankSpans& spans) {
  Measured seconds;
  for (const Span& span : spans.front()) {
    if (span.kind == Span::Kind::kSweep) seconds[{span.stage, span.number}] += span.end - span.begin;
  }
  return seconds;
}

std::string rate_text(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? " (" + format_bytes(static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds)) + "/s)"
                     : "";
}

std::string sweeps_svg(const Plan& plan, const Machine& machine, const RankSpans& spans) {
  const Measured times = measured(spans);
  // A reproducible run plans for more ranks than there are: each does the work of several.
  const std::uint64_t each = std::max<std::uint64_t>(1, (std::uint64_t{1} << plan.rank_bits) / spans.size());
  const auto parts = static_cast<double>(each);
  std::vector<picture::RooflinePoint> points;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    for (std::size_t i = 0; i < plan.stages[s].sweeps.size(); ++i) {
      const Sweep& sweep = plan.stages[s].sweeps[i];
      const SweepBounds bounds = sweep_bounds(sweep, plan.local_bits(), plan.precision, machine);
      const std::uint64_t bytes = each * swept_bytes(sweep, plan.local_bits(), plan.precision);
      const double predicted = parts * sweep.predicted_seconds;
      const auto found = times.find({s, i});
      const double seconds = found == times.end() ? 0 : found->second;
      std::string tip = "sweep " + std::to_string(s) + "." + std::to_string(i) + ": " + format_bytes(bytes) +
                        ", predicted " + format_seconds(predicted);
      if (seconds > 0) tip += ", measured " + format_seconds(seconds) + rate_text(bytes, seconds);
      points.push_back({parts * bounds.memory_seconds, parts * bounds.arithmetic_seconds, predicted, seconds, tip});
    }
  }
  return picture::draw_roofline(points, "rank 0; the ceilings are those of the cost table '" + machine.name + "'",
                                kWidth);
}

}  // namespace

RunPictures run_pictures(const PlannedCircuit& program, const Machine& machine, const RankSpans& spans) {
  RunPictures pictures;
  pictures.time_line = time_line_svg(spans, kWidth);
  if (program.plans.empty()) return pictures;
  const bool one = !program.dynamic && program.plans.size() == 1;
  pictures.plan = one ? plan_svg(program.plans.front(), machine, kWidth) : program_svg(program, machine, kWidth);
  if (one) pictures.sweeps = sweeps_svg(program.plans.front(), machine, spans);
  return pictures;
}

}  // namespace qsim
