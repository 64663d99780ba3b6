// Bars of counts or probabilities, one below the other, so that labels of any length can be read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "picture/svg.h"
#include "qsim/error.h"
#include "qsim/picture.h"

namespace qsim {
namespace {

using picture::Anchor;
using picture::characters;
using picture::kEdge;
using picture::kMono;

constexpr double kBarRow = 20, kBar = 13, kLeastBars = 160;
constexpr std::size_t kMostLabel = 72;

std::string value_text(double value) { return fmt::format("{:.6g}", value); }
/// Counts are whole and shown so, however many digits they have.
std::string shown(double value) {
  return value == std::floor(value) && value < 1e15 ? fmt::format("{:.0f}", value) : value_text(value);
}

struct Shown {
  std::vector<Bar> bars;  // by label
  std::size_t others = 0;
  double others_value = 0, total = 0, most = 0;
};

Shown choose(std::span<const Bar> all, std::size_t most) {
  Shown shown;
  shown.bars.assign(all.begin(), all.end());
  for (const Bar& bar : all) {
    if (!std::isfinite(bar.value) || bar.value < 0) {
      throw UsageError("a bar of a histogram is " + value_text(bar.value) + ": it must be 0 or more");
    }
    shown.total += bar.value;
  }
  if (shown.bars.size() > most) {
    std::sort(shown.bars.begin(), shown.bars.end(),
              [](const Bar& a, const Bar& b) { return a.value != b.value ? a.value > b.value : a.label < b.label; });
    for (std::size_t i = most; i < shown.bars.size(); ++i) shown.others_value += shown.bars[i].value;
    shown.others = shown.bars.size() - most;
    shown.bars.resize(most);
  }
  std::sort(shown.bars.begin(), shown.bars.end(), [](const Bar& a, const Bar& b) { return a.label < b.label; });
  for (const Bar& bar : shown.bars) shown.most = std::max(shown.most, bar.value);
  return shown;
}

std::string share_text(double value, double total) {
  return total > 0 ? fmt::format("{:.2f} %", 100 * value / total) : "";
}

}  // namespace

std::string draw_histogram(std::span<const Bar> all, const HistogramOptions& options) {
  if (options.most == 0) throw UsageError("a histogram needs room for a bar at least");
  const Shown data = choose(all, options.most);
  std::size_t label_length = 1, value_length = 1;
  for (const Bar& bar : data.bars) {
    label_length = std::max(label_length, std::min(characters(bar.label), kMostLabel));
    value_length = std::max(value_length, shown(bar.value).size());
  }
  const bool counts = std::all_of(all.begin(), all.end(), [](const Bar& b) { return b.value == std::floor(b.value); });
  const double left = kEdge + kMono * static_cast<double>(label_length) + 10;
  const double values = kMono * static_cast<double>(value_length + (counts ? 11 : 2)) + 8;
  const double width = std::max(static_cast<double>(options.width), left + kLeastBars + values + kEdge);
  const double right = width - kEdge - values;
  picture::Svg svg;
  double y = kEdge;
  if (!options.title.empty()) {
    svg.text(kEdge, y + 12, picture::cut(options.title, static_cast<std::size_t>((width - 2 * kEdge) / 8.6)), "title");
    y += 26;
  }
  const double bottom = y + kBarRow * static_cast<double>(data.bars.size());
  const double most = data.most > 0 ? data.most : 1;
  const double step = picture::tick_step(most, std::max(2.0, std::floor((right - left) / 110)));
  for (double tick = 0; tick <= most * (1 + 1e-9); tick += step) {
    const double x = left + (right - left) * tick / most;
    svg.line(x, y, x, bottom + 4, "grid");
    svg.text(x, bottom + 18, value_text(tick), "note", Anchor::kMiddle);
  }
  for (const Bar& bar : data.bars) {
    const std::string value = shown(bar.value), share = share_text(bar.value, data.total);
    const double length = (right - left) * bar.value / most;
    svg.text(left - 8, y + 14, picture::cut(bar.label, kMostLabel - 1), "mono", Anchor::kEnd);
    svg.rect(left, y + (kBarRow - kBar) / 2, std::max(length, bar.value > 0 ? 1.0 : 0.0), kBar, "c0",
             bar.label + ": " + value + (counts ? ", " + share : ""));
    svg.text(left + length + 6, y + 14, counts ? value + "  " + share : value, "mono");
    y += kBarRow;
  }
  y = bottom + 18;
  if (!options.unit.empty()) {
    y += 17;
    svg.text((left + right) / 2, y, options.unit, "note", Anchor::kMiddle);
  }
  if (data.others > 0) {
    y += 19;
    svg.text(kEdge, y,
             fmt::format("the {} largest of {}; {} others together {}{}", data.bars.size(), all.size(), data.others,
                         shown(data.others_value), counts ? ", " + share_text(data.others_value, data.total) : ""),
             "note");
  }
  return svg.finish(width, y + kEdge, options.title.empty() ? "histogram" : options.title);
}

}  // namespace qsim
