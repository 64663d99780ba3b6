// The drawing of a benchmark: seconds against ranks or qubits, and how much of the measured memory and link rates was
// used.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/names.h"
#include "picture/svg.h"
#include "simulator/simulator.h"

namespace qsim {
namespace bench {
namespace {

using picture::Anchor;
using picture::Svg;

constexpr double kWidth = 880, kMargin = 28, kLegend = 250;

/// What varies within a series.
enum class Axis : std::uint8_t { kRanks, kQubits };

/// Rows of one circuit, start and precision, by what varies.
struct Series {
  std::string label;
  std::vector<const BenchRow*> rows;
};

int place_of(const BenchRow& row, Axis axis) { return axis == Axis::kRanks ? row.ranks : static_cast<int>(row.qubits); }

bool is_same(const BenchRow& a, const BenchRow& b) {
  return a.name == b.name && a.start == b.start && a.precision == b.precision;
}

/// Those with a time.
std::vector<const BenchRow*> good_rows(const BenchReport& report) {
  std::vector<const BenchRow*> rows;
  for (const BenchRow& row : report.rows) {
    if (row.status == BenchStatus::kOk && row.simulate.median() > 0) rows.push_back(&row);
  }
  return rows;
}

/// Qubits where a circuit was timed with several sizes on one number of ranks.
Axis axis_of(const std::vector<const BenchRow*>& rows) {
  const auto larger = [&](const BenchRow* row) {
    return std::any_of(rows.begin(), rows.end(), [&](const BenchRow* other) {
      return is_same(*row, *other) && row->ranks == other->ranks && row->qubits < other->qubits;
    });
  };
  return std::any_of(rows.begin(), rows.end(), larger) ? Axis::kQubits : Axis::kRanks;
}

std::vector<Series> series_of(const std::vector<const BenchRow*>& rows, Axis axis) {
  const bool several =
      std::any_of(rows.begin(), rows.end(), [&](const BenchRow* row) { return row->ranks != rows.front()->ranks; });
  std::vector<Series> all;
  for (const BenchRow* row : rows) {
    std::string label = row_label(*row);
    if (axis == Axis::kQubits) {
      const std::string size = " " + std::to_string(row->qubits);
      label.erase(label.find(size + ","), size.size());
      if (several) label += fmt::format(", {} rank{}", row->ranks, row->ranks == 1 ? "" : "s");
    }
    auto found = std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.label == label; });
    if (found == all.end()) found = all.insert(all.end(), Series{label, {}});
    found->rows.push_back(row);
  }
  for (Series& series : all) {
    std::stable_sort(series.rows.begin(), series.rows.end(),
                     [&](const BenchRow* a, const BenchRow* b) { return place_of(*a, axis) < place_of(*b, axis); });
  }
  return all;
}

/// The style of a series: bars and dots are "c3", lines "curve l3".
std::string style_of(char kind, std::size_t number) { return kind + std::to_string(number % picture::kColours); }

void bar(Svg& svg, double x, double y, double width, double height, const std::string& style) {
  svg.rect(x, y, std::max(width, 1.0), height, style.c_str());
}

/// Where the points of a chart stand.
struct Scale {
  double left = 0, right = 0, top = 0, height = 0;
  double first = 0, last = 1;  // of the axis below: doublings of ranks, or qubits
  double low = 0, high = 1;    // decades of seconds
  Axis axis = Axis::kRanks;

  double x(int place) const {
    const double at = axis == Axis::kRanks ? std::log2(static_cast<double>(place)) : static_cast<double>(place);
    return left + 20 + (right - left - 40) * (at - first) / (last - first);
  }
  double y(double seconds) const { return top + height - height * (std::log10(seconds) - low) / (high - low); }
  double x(const BenchRow& row) const { return x(place_of(row, axis)); }
  double y(const BenchRow& row) const { return y(row.simulate.median()); }
};

Scale scale_of(const std::vector<Series>& all, Axis axis, double top) {
  Scale scale{kMargin + 64, kWidth - kLegend - 16, top, 280, 0, 1, 0, 1, axis};
  double least = 1e300, most = 0;
  int begin = place_of(*all.front().rows.front(), axis), end = begin;
  for (const Series& series : all) {
    for (const BenchRow* row : series.rows) {
      least = std::min(least, row->simulate.median());
      most = std::max(most, row->simulate.median());
      begin = std::min(begin, place_of(*row, axis));
      end = std::max(end, place_of(*row, axis));
    }
  }
  scale.low = std::floor(std::log10(least) * 2) / 2;
  scale.high = std::max(scale.low + 0.5, std::ceil(std::log10(most) * 2) / 2);
  scale.first = axis == Axis::kRanks ? 0 : begin;
  scale.last = std::max(scale.first + 1, axis == Axis::kRanks ? std::log2(static_cast<double>(end)) : end);
  return scale;
}

/// Whether two series lie on each other, as far as both go.
bool coincide(const Series& a, const Series& b, const Scale& scale) {
  std::size_t shared = 0;
  for (const BenchRow* one : a.rows) {
    for (const BenchRow* other : b.rows) {
      if (place_of(*one, scale.axis) != place_of(*other, scale.axis)) continue;
      if (std::abs(scale.y(*one) - scale.y(*other)) > 3) return false;
      ++shared;
    }
  }
  return shared > 0;
}

void draw_axes(Svg& svg, const Scale& scale) {
  const bool ranks = scale.axis == Axis::kRanks;
  svg.text(kMargin, scale.top - 14,
           fmt::format("Seconds from start state to final state (median; {} logarithmic)",
                       ranks ? "both axes" : "upright axis"),
           "head");
  for (double tick = scale.low; tick < scale.high + 0.25; tick += 0.5) {
    const double y = scale.y(std::pow(10, tick));
    svg.line(scale.left, y, scale.right, y, "grid");
    svg.text(scale.left - 8, y + 4, seconds_text(std::pow(10, tick)), "small", Anchor::kEnd);
  }
  const double below = scale.top + scale.height;
  if (ranks) {
    for (int count = 1; count <= 1 << static_cast<int>(scale.last); count *= 2) {
      svg.text(scale.x(count), below + 20, std::to_string(count), "small", Anchor::kMiddle);
    }
  } else {
    const int step = std::max(1, static_cast<int>(std::ceil((scale.last - scale.first) / 14)));
    for (int qubits = static_cast<int>(scale.first); qubits <= static_cast<int>(scale.last); qubits += step) {
      svg.text(scale.x(qubits), below + 20, std::to_string(qubits), "small", Anchor::kMiddle);
    }
  }
  svg.text((scale.left + scale.right) / 2, below + 38, ranks ? "ranks (GPUs, or shares of the processor)" : "qubits",
           "small", Anchor::kMiddle);
}

/// Lines of seconds against ranks or qubits. Of lines that lie on each other the lower ones are wider. Returns the
/// height used.
double draw_scaling(Svg& svg, const std::vector<Series>& all, Axis axis, double top) {
  constexpr std::size_t kWidest = 3;
  const Scale scale = scale_of(all, axis, top);
  draw_axes(svg, scale);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t above = 0;
    for (std::size_t j = i + 1; j < all.size(); ++j) above += coincide(all[i], all[j], scale) ? 1 : 0;
    above = std::min(above, kWidest);
    const std::string wide = above == 0 ? "" : " w" + std::to_string(above);
    std::string points;
    for (const BenchRow* row : all[i].rows) {
      points += fmt::format("{}{:.1f} {:.1f}", points.empty() ? 'M' : 'L', scale.x(*row), scale.y(*row));
    }
    svg.path(points, ("curve " + style_of('l', i) + wide).c_str());
    for (const BenchRow* row : all[i].rows) {
      svg.circle(scale.x(*row), scale.y(*row), 4 + 2 * static_cast<double>(above), style_of('c', i).c_str(),
                 fmt::format("{}: {} on {}", row_label(*row), seconds_text(row->simulate.median()), row->ranks));
    }
    const double y = top + 8 + 20 * static_cast<double>(i);
    bar(svg, kWidth - kLegend, y - 8, 12, 10, style_of('c', i));
    svg.text(kWidth - kLegend + 18, y + 1, all[i].label, "small");
  }
  return std::max(scale.height + 50, 20.0 * static_cast<double>(all.size()));
}

/// Horizontal bars of seconds, one a series: for a single number of ranks.
double draw_times(Svg& svg, const std::vector<Series>& all, double top) {
  const double left = kMargin + kLegend, right = kWidth - 110;
  double most = 0;
  for (const Series& series : all) most = std::max(most, series.rows.front()->simulate.median());
  svg.text(kMargin, top - 14, "Time from start state to final state (median)", "head");
  double y = top;
  for (std::size_t i = 0; i < all.size(); ++i, y += 24) {
    const double seconds = all[i].rows.front()->simulate.median();
    const double width = (right - left) * seconds / most;
    svg.text(left - 10, y + 13, all[i].label, "small", Anchor::kEnd);
    bar(svg, left, y + 2, width, 14, style_of('c', i));
    svg.text(left + width + 8, y + 13, seconds_text(seconds), "value");
  }
  return y - top;
}

/// Bars of the shares of the measured copy rate and, where ranks exchanged, of the link rate.
double draw_shares(Svg& svg, const std::vector<Series>& all, Axis axis, double top) {
  const double left = kMargin + kLegend, right = kWidth - 110;
  svg.text(kMargin, top - 14, "Share of the measured memory rate (full) and link rate (pale)", "head");
  std::size_t bars = 0;
  double most = 1;
  for (const Series& series : all) {
    for (const BenchRow* row : series.rows) {
      bars += row->memory_fraction() ? 1 : 0;
      most = std::max({most, row->memory_fraction().value_or(0), row->link_fraction().value_or(0)});
    }
  }
  const double bottom = top + 20 * static_cast<double>(bars);
  const auto length = [&](double share) { return (right - left) * share / most; };
  const double step = std::max(0.25, picture::tick_step(most, 8));
  for (double share = 0; share <= most + 1e-9; share += step) {
    const double x = left + length(share);
    svg.line(x, top - 2, x, bottom, "grid");
    svg.text(x, bottom + 15, fmt::format("{:.0f} %", 100 * share), "small", Anchor::kMiddle);
  }
  double y = top;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const BenchRow* row : all[i].rows) {
      if (!row->memory_fraction()) continue;
      const double share = *row->memory_fraction();
      const std::string label = all[i].rows.size() == 1 || axis == Axis::kQubits
                                    ? row_label(*row)
                                    : fmt::format("{} on {}", all[i].label, row->ranks);
      svg.text(left - 10, y + 12, label, "small", Anchor::kEnd);
      bar(svg, left, y + 2, length(share), row->link_fraction() ? 7.0 : 12.0, style_of('c', i));
      if (row->link_fraction()) {
        bar(svg, left, y + 10, length(*row->link_fraction()), 5, style_of('c', i) + " pale");
      }
      svg.text(left + length(share) + 8, y + 12, fmt::format("{:.0f} %", 100 * share), "value");
      y += 20;
    }
  }
  return bottom + 20 - top;
}

}  // namespace
}  // namespace bench

std::string bench_svg(const BenchReport& report) {
  using namespace bench;
  const std::vector<const BenchRow*> rows = good_rows(report);
  Svg svg;
  svg.text(kMargin, 34, "qsim bench", "title");
  svg.text(kMargin, 54, report.machine, "note");
  svg.text(kMargin, 70,
           fmt::format("{}, version {}{}", report.date, report.environment.version,
                       report.environment.commit.empty() ? "" : " (" + report.environment.commit + ")"),
           "note");
  double y = 116;
  if (rows.empty()) {
    svg.text(kMargin, y, report.verdict(), "head");
    y += 20;
  } else {
    const Axis axis = axis_of(rows);
    const std::vector<Series> all = series_of(rows, axis);
    const bool scaling = std::any_of(all.begin(), all.end(), [](const Series& s) { return s.rows.size() > 1; });
    y += (scaling ? draw_scaling(svg, all, axis, y) : draw_times(svg, all, y)) + 44;
    y += draw_shares(svg, all, axis, y);
  }
  return svg.finish(kWidth, y + 20, "qsim benchmark");
}

}  // namespace qsim
