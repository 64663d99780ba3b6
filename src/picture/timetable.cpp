#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "picture/charts.h"
#include "picture/svg.h"
#include "qsim/error.h"

namespace qsim::picture {
namespace {

constexpr double kTimeRow = 30, kBox = 20;
constexpr std::array<const char*, 5> kStyles{"c0", "c1", "c2", "c3", "c4"};

}  // namespace

std::string draw_timetable(const Timetable& table, std::size_t asked) {
  if (table.kinds.size() > kStyles.size()) throw Error("a timetable has colours for 5 kinds of boxes");
  std::size_t longest = 1;
  for (const std::string& row : table.rows) longest = std::max(longest, characters(row));
  double last = 0;
  for (const TimeBox& box : table.boxes) last = std::max(last, box.end);
  if (!(last > 0)) last = 1e-9;
  const double width = std::max<double>(static_cast<double>(asked), 360);
  const double left = kEdge + kSmall * static_cast<double>(longest) + 10, right = width - kEdge - 24;
  const auto fitting = static_cast<std::size_t>((width - 2 * kEdge) / kSmall);
  Svg svg;
  double y = kEdge + 12;
  svg.text(kEdge, y, cut(table.title, fitting * 3 / 4), "title");
  for (const std::string& note : table.notes) {
    y += 17;
    svg.text(kEdge, y, cut(note, fitting), "note");
  }
  y += 14;
  double x = kEdge;
  for (std::size_t i = 0; i < table.kinds.size(); ++i) {
    svg.rect(x, y, 11, 11, kStyles[i]);
    svg.text(x + 16, y + 10, table.kinds[i], "small");
    x += 30 + kSmall * static_cast<double>(characters(table.kinds[i]));
  }
  y += 22;
  const double bottom = y + kTimeRow * static_cast<double>(table.rows.size());
  const double step = tick_step(last, std::max(2.0, std::floor((right - left) / 90)));
  for (double tick = 0; tick <= last * (1 + 1e-9); tick += step) {
    const double at = left + (right - left) * tick / last;
    svg.line(at, y - 4, at, bottom + 4, "grid");
    svg.text(at, bottom + 18, tick == 0 ? "0" : format_seconds(tick), "note", Anchor::kMiddle);
  }
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    svg.text(left - 8, y + kTimeRow * static_cast<double>(row) + 19, table.rows[row], "small", Anchor::kEnd);
  }
  for (const TimeBox& box : table.boxes) {
    const double begin = left + (right - left) * box.begin / last, end = left + (right - left) * box.end / last;
    const double top = y + kTimeRow * static_cast<double>(box.row) + (kTimeRow - kBox) / 2;
    // A hairline between boxes that touch, where they are wide enough to lose it.
    const double length = std::max(0.3, end - begin > 3 ? end - begin - 1 : end - begin);
    svg.rect(begin, top, length, kBox, kStyles[box.kind], box.tip, length > 4 ? 2 : 0);
    if (kMono * static_cast<double>(characters(box.label)) + 4 <= length) {
      const bool first = box.kind == 0;  // the one colour that is dark on light paper
      svg.text(begin + length / 2, top + 14, box.label, first ? "inside first" : "inside", Anchor::kMiddle);
    }
  }
  return svg.finish(width, bottom + 18 + kEdge, table.title);
}

}  // namespace qsim::picture
