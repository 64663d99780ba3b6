#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "picture/charts.h"
#include "picture/svg.h"

namespace qsim::picture {
namespace {

constexpr double kLeft = 74, kPlotHeight = 250;

std::string factor_text(double value) { return fmt::format("{:.4g}", value); }

}  // namespace

std::string draw_roofline(const std::vector<RooflinePoint>& points, const std::string& note, std::size_t asked) {
  const double width = std::max<double>(static_cast<double>(asked), 420), right = width - kEdge - 16;
  // The least and the most that is shown, in powers of 2 of arithmetic over memory and of 10 of the share.
  double least_load = -3, most_load = 3, least_share = -1, most_share = 0;
  const auto load_of = [](const RooflinePoint& point) {
    return std::clamp(std::log2(std::max(point.arithmetic_seconds, 1e-300) / point.memory_seconds), -10.0, 20.0);
  };
  for (const RooflinePoint& point : points) {
    if (!(point.memory_seconds > 0)) continue;
    least_load = std::min(least_load, std::floor(load_of(point)) - 1);
    most_load = std::max(most_load, std::ceil(load_of(point)) + 1);
    for (const double seconds : {point.predicted_seconds, point.measured_seconds}) {
      if (!(seconds > 0)) continue;
      const double share = std::log10(point.memory_seconds / seconds);
      least_share = std::min(least_share, std::floor(share));
      most_share = std::max(most_share, std::ceil(share));
    }
  }
  least_share = std::min(least_share, std::floor(-most_load * std::log10(2.0)));
  double y = kEdge + 12;
  Svg svg;
  svg.text(kEdge, y, "Sweeps under the machine's ceilings", "title");
  y += 18;
  svg.text(kEdge, y, cut(note, static_cast<std::size_t>((width - 2 * kEdge) / kSmall)), "note");
  y += 12;
  svg.circle(kEdge + 6, y + 6, 4.5, "c1");
  svg.text(kEdge + 16, y + 10, "measured", "small");
  svg.circle(kEdge + 96, y + 6, 4, "ring");
  svg.text(kEdge + 106, y + 10, "predicted", "small");
  svg.line(kEdge + 182, y + 6, kEdge + 202, y + 6, "curve l0");
  svg.text(kEdge + 208, y + 10, "ceiling", "small");
  const double top = y + 44, bottom = top + kPlotHeight;
  const auto x_of = [&](double load) {
    return kLeft + (right - kLeft) * (load - least_load) / (most_load - least_load);
  };
  const auto y_of = [&](double share) {
    return bottom - kPlotHeight * (share - least_share) / (most_share - least_share);
  };
  svg.text(kEdge, top - 10, "share of the memory rate", "note");
  for (double share = least_share; share <= most_share + 0.5; ++share) {
    svg.line(kLeft, y_of(share), right, y_of(share), "grid");
    svg.text(kLeft - 8, y_of(share) + 4, factor_text(100 * std::pow(10, share)) + " %", "note", Anchor::kEnd);
  }
  const double step = std::max(1.0, std::ceil((most_load - least_load) / std::floor((right - kLeft) / 62)));
  for (double load = least_load; load <= most_load + 0.5; load += step) {
    svg.line(x_of(load), top, x_of(load), bottom, "grid");
    const std::string text = load < 0 ? "1/" + factor_text(std::exp2(-load)) : factor_text(std::exp2(load));
    svg.text(x_of(load), bottom + 17, text, "note", Anchor::kMiddle);
  }
  svg.text((kLeft + right) / 2, bottom + 35, "time of the arithmetic over time of the memory traffic", "note",
           Anchor::kMiddle);
  svg.line(x_of(least_load), y_of(0), x_of(0), y_of(0), "curve l0");
  svg.line(x_of(0), y_of(0), x_of(most_load), y_of(-most_load * std::log10(2.0)), "curve l0");
  for (const bool measured : {false, true}) {
    for (const RooflinePoint& point : points) {
      const double seconds = measured ? point.measured_seconds : point.predicted_seconds;
      if (!(seconds > 0) || !(point.memory_seconds > 0)) continue;
      svg.circle(x_of(load_of(point)), y_of(std::log10(point.memory_seconds / seconds)), measured ? 4.5 : 4,
                 measured ? "c1" : "ring", point.tip);
    }
  }
  return svg.finish(width, bottom + 35 + kEdge, "roofline");
}

}  // namespace qsim::picture
