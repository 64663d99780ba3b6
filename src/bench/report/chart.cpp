// The drawing of a benchmark: seconds against ranks, and how much of the measured memory and link rates was used.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "bench/names.h"
#include "picture/svg.h"
#include "simulator/simulator.h"

namespace qsim {
namespace bench {
namespace {

constexpr std::array<const char*, 10> kColours{"#4269d0", "#efb118", "#ff725c", "#3ca951", "#a463f2",
                                               "#6cc5b0", "#ff8ab7", "#9c6b4e", "#97bbf5", "#9498a0"};
constexpr double kWidth = 880, kMargin = 28, kLegend = 250;

/// Rows of one circuit, start and precision, by rising ranks.
struct Series {
  std::string label;
  std::vector<const BenchRow*> rows;
};

std::vector<Series> series_of(const BenchReport& report) {
  std::vector<Series> all;
  for (const BenchRow& row : report.rows) {
    if (row.status != BenchStatus::kOk || row.simulate.median() <= 0) continue;
    // Weak scaling: the size grows with the ranks, so the label leaves it out where it varies.
    const std::string label = row_label(row);
    auto found = std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.label == label; });
    if (found == all.end()) found = all.insert(all.end(), Series{label, {}});
    found->rows.push_back(&row);
  }
  for (Series& series : all) {
    std::stable_sort(series.rows.begin(), series.rows.end(),
                     [](const BenchRow* a, const BenchRow* b) { return a->ranks < b->ranks; });
  }
  return all;
}

class Drawing {
 public:
  std::string text;
  void label(double x, double y, const std::string& words, const char* style, const char* anchor = "start") {
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, style,
                        anchor, picture::markup(words));
  }
  void line(double x1, double y1, double x2, double y2, const char* style) {
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
                        y2, style);
  }
  void bar(double x, double y, double width, double height, const std::string& colour, double opacity = 1) {
    text += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" fill=\"{}\" opacity=\"{}\"/>\n", x,
        y, std::max(width, 1.0), height, colour, opacity);
  }
  void dot(double x, double y, const std::string& colour, const std::string& tip) {
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{}</title></circle>\n", x, y,
                        colour, picture::markup(tip));
  }
};

const char* colour_of(std::size_t number) { return kColours[number % kColours.size()]; }

/// Log-log lines: seconds against ranks, both in doublings and decades. Returns the height used.
double draw_scaling(Drawing& drawing, const std::vector<Series>& all, double top) {
  const double left = kMargin + 64, right = kWidth - kLegend - 16, height = 280;
  double least = 1e300, most = 0;
  int ranks = 1;
  for (const Series& series : all) {
    for (const BenchRow* row : series.rows) {
      least = std::min(least, row->simulate.median());
      most = std::max(most, row->simulate.median());
      ranks = std::max(ranks, row->ranks);
    }
  }
  const double low = std::floor(std::log10(least) * 2) / 2,
               high = std::max(low + 0.5, std::ceil(std::log10(most) * 2) / 2);
  const double doublings = std::max(1.0, std::log2(static_cast<double>(ranks)));
  const auto x_of = [&](int count) {
    return left + 20 + (right - left - 40) * std::log2(static_cast<double>(count)) / doublings;
  };
  const auto y_of = [&](double seconds) { return top + height - height * (std::log10(seconds) - low) / (high - low); };
  drawing.label(kMargin, top - 14, "Seconds from start state to final state (median; both axes logarithmic)", "head");
  for (double tick = low; tick < high + 0.25; tick += 0.5) {
    const double y = y_of(std::pow(10, tick));
    drawing.line(left, y, right, y, "grid");
    drawing.label(left - 8, y + 4, seconds_text(std::pow(10, tick)), "small", "end");
  }
  for (int count = 1; count <= ranks; count *= 2) {
    drawing.label(x_of(count), top + height + 20, std::to_string(count), "small", "middle");
  }
  drawing.label((left + right) / 2, top + height + 38, "ranks (GPUs, or shares of the processor)", "small", "middle");
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string points;
    for (const BenchRow* row : all[i].rows) {
      points += fmt::format("{:.1f},{:.1f} ", x_of(row->ranks), y_of(row->simulate.median()));
    }
    drawing.text +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour_of(i));
    for (const BenchRow* row : all[i].rows) {
      drawing.dot(x_of(row->ranks), y_of(row->simulate.median()), colour_of(i),
                  fmt::format("{}: {} on {}", all[i].label, seconds_text(row->simulate.median()), row->ranks));
    }
    const double y = top + 8 + 20 * static_cast<double>(i);
    drawing.bar(kWidth - kLegend, y - 8, 12, 10, colour_of(i));
    drawing.label(kWidth - kLegend + 18, y + 1, all[i].label, "small");
  }
  return std::max(height + 50, 20.0 * static_cast<double>(all.size()));
}

/// Horizontal bars of seconds, one a series: for a single number of ranks.
double draw_times(Drawing& drawing, const std::vector<Series>& all, double top) {
  const double left = kMargin + kLegend, right = kWidth - 110;
  double most = 0;
  for (const Series& series : all) most = std::max(most, series.rows.front()->simulate.median());
  drawing.label(kMargin, top - 14, "Time from start state to final state (median)", "head");
  double y = top;
  for (std::size_t i = 0; i < all.size(); ++i, y += 24) {
    const double seconds = all[i].rows.front()->simulate.median();
    const double width = (right - left) * seconds / most;
    drawing.label(left - 10, y + 13, all[i].label, "small", "end");
    drawing.bar(left, y + 2, width, 14, colour_of(i));
    drawing.label(left + width + 8, y + 13, seconds_text(seconds), "value");
  }
  return y - top;
}

/// Bars of the shares of the measured copy rate and, where ranks exchanged, of the link rate.
double draw_shares(Drawing& drawing, const std::vector<Series>& all, double top) {
  const double left = kMargin + kLegend, right = kWidth - 110;
  drawing.label(kMargin, top - 14, "Share of the measured memory rate (full) and link rate (pale)", "head");
  std::size_t bars = 0;
  for (const Series& series : all) {
    for (const BenchRow* row : series.rows) bars += row->memory_fraction() ? 1 : 0;
  }
  const double bottom = top + 20 * static_cast<double>(bars);
  for (int share = 0; share <= 100; share += 25) {
    const double x = left + (right - left) * share / 100;
    drawing.line(x, top - 2, x, bottom, "grid");
    drawing.label(x, bottom + 15, fmt::format("{} %", share), "small", "middle");
  }
  double y = top;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const BenchRow* row : all[i].rows) {
      if (!row->memory_fraction()) continue;
      const double share = *row->memory_fraction(), width = (right - left) * std::min(share, 1.15);
      const bool alone = all[i].rows.size() == 1;
      drawing.label(left - 10, y + 12, alone ? all[i].label : fmt::format("{} on {}", all[i].label, row->ranks),
                    "small", "end");
      drawing.bar(left, y + 2, width, row->link_fraction() ? 7.0 : 12.0, colour_of(i));
      if (row->link_fraction()) {
        drawing.bar(left, y + 10, (right - left) * std::min(*row->link_fraction(), 1.15), 5, colour_of(i), 0.45);
      }
      drawing.label(left + width + 8, y + 12, fmt::format("{:.0f} %", 100 * share), "value");
      y += 20;
    }
  }
  return bottom + 20 - top;
}

const char kStyle[] =
    "<style>\n"
    "text { font-family: -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }\n"
    ".title { font-size: 17px; font-weight: 600; } .head { font-size: 13px; font-weight: 600; }\n"
    ".small { font-size: 11.5px; } .value { font-size: 11.5px; font-weight: 600; }\n"
    ".note { font-size: 11px; fill: #59636e; } .grid { stroke: #d1d9e0; stroke-width: 1; }\n"
    ".paper { fill: #ffffff; stroke: #d1d9e0; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "text { fill: #e6edf3; } .note { fill: #9198a1; } .grid { stroke: #3d444d; }\n"
    ".paper { fill: #0d1117; stroke: #3d444d; }\n"
    "}\n</style>\n";

}  // namespace
}  // namespace bench

std::string bench_svg(const BenchReport& report) {
  using namespace bench;
  const std::vector<Series> all = series_of(report);
  Drawing drawing;
  drawing.label(kMargin, 34, "qsim bench", "title");
  drawing.label(kMargin, 54, report.machine, "note");
  drawing.label(kMargin, 70,
                fmt::format("{}, version {}{}", report.date, report.environment.version,
                            report.environment.commit.empty() ? "" : " (" + report.environment.commit + ")"),
                "note");
  double y = 116;
  if (all.empty()) {
    drawing.label(kMargin, y, report.verdict(), "head");
    y += 20;
  } else {
    const bool scaling = std::any_of(all.begin(), all.end(), [](const Series& s) { return s.rows.size() > 1; });
    y += (scaling ? draw_scaling(drawing, all, y) : draw_times(drawing, all, y)) + 44;
    y += draw_shares(drawing, all, y);
  }
  const double height = y + 20;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
             "role=\"img\">\n<title>qsim benchmark</title>\n",
             kWidth, height) +
         kStyle +
         fmt::format("<rect class=\"paper\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{:.0f}\" rx=\"8\"/>\n",
                     kWidth - 1, height - 1) +
         drawing.text + "</svg>\n";
}

}  // namespace qsim
