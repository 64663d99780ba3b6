// A circuit as a picture, in rows that are as wide as asked for.
#include "picture/svg.h"

#include <algorithm>
#include <string>
#include <vector>

#include "picture/circuit/layout.h"

namespace qsim::picture {
namespace {

constexpr double kWireRow = 40, kHalfBox = 14, kGap = 14, kBetweenBlocks = 18;

/// Cells of one gate on neighbouring wires are one box: the number of those that begin at `first`.
std::size_t run_of(const Item& item, std::size_t first) {
  const auto& cells = item.cells;
  std::size_t end = first + 1;
  while (!cells[first].port.empty() && end < cells.size() && !cells[end].port.empty() &&
         cells[end].wire == cells[end - 1].wire + 1) {
    ++end;
  }
  return end - first;
}

bool is_whole(const Item& item) {
  const auto first = std::find_if(item.cells.begin(), item.cells.end(), [](const Cell& c) { return !c.port.empty(); });
  if (first == item.cells.end()) return false;
  const auto ports = std::count_if(item.cells.begin(), item.cells.end(), [](const Cell& c) { return !c.port.empty(); });
  return run_of(item, static_cast<std::size_t>(first - item.cells.begin())) == static_cast<std::size_t>(ports);
}

double text_width(const Cell& cell) { return kMono * static_cast<double>(characters(cell.text)); }

double cell_width(const Cell& cell) {
  switch (cell.mark) {
    case Mark::kBox:
      return std::max(2 * kHalfBox, text_width(cell) + 14) +
             (cell.port.empty() ? 0 : 2 * (6 * static_cast<double>(characters(cell.port)) + 4));
    case Mark::kReset:
    case Mark::kCondition:
    case Mark::kAssign:
      return std::max(2 * kHalfBox, text_width(cell) + 12);
    case Mark::kFrame:
      return cell.text.empty() ? 10 : text_width(cell) + 12;
    case Mark::kBit:
      return 2 * (text_width(cell) + 9);
    case Mark::kMeasure:
      return 34;
    case Mark::kNot:
    case Mark::kControl:
    case Mark::kControlOnZero:
    case Mark::kSwap:
    case Mark::kBarrier:
    case Mark::kRead:
      break;
  }
  return 22;
}

class Drawing {
 public:
  Drawing(const CircuitLayout& layout, std::size_t width) : layout_(layout), width_(static_cast<double>(width)) {
    std::size_t longest = 0;
    for (const std::string& label : layout.labels) longest = std::max(longest, characters(label));
    left_ = kEdge + kMono * static_cast<double>(longest) + 10;
  }

  std::string write(const std::string& title) && {
    const double height = kWireRow * static_cast<double>(layout_.labels.size());
    std::size_t begin = 0;
    double top = kEdge;
    do {
      std::size_t end = begin;
      double x = left_ + kGap;
      std::vector<double> widths;
      for (; end < layout_.columns.size(); ++end) {
        double widest = 0;
        for (const Item& item : layout_.columns[end]) {
          for (const Cell& cell : item.cells) widest = std::max(widest, cell_width(cell));
        }
        if (width_ > 0 && end > begin && x + widest + kGap + kEdge > width_) break;
        widths.push_back(widest);
        x += widest + kGap;
      }
      top_ = top;
      wires(x);
      frames(begin, widths, x);
      x = left_ + kGap;
      for (std::size_t i = begin; i < end; ++i) {
        for (const Item& item : layout_.columns[i]) draw(item, x + widths[i - begin] / 2);
        x += widths[i - begin] + kGap;
      }
      right_ = std::max(right_, x);
      top += height + kBetweenBlocks;
      begin = end;
    } while (begin < layout_.columns.size());
    return svg_.finish(right_ + kEdge, top - kBetweenBlocks + kEdge, title);
  }

 private:
  double y_of(std::uint32_t wire) const { return top_ + kWireRow * (static_cast<double>(wire) + 0.5); }

  void wires(double right) {
    for (std::uint32_t wire = 0; wire < layout_.labels.size(); ++wire) {
      const double y = y_of(wire);
      svg_.text(left_ - 8, y + 4, layout_.labels[wire], "mono", Anchor::kEnd);
      if (wire < layout_.qubits) {
        svg_.line(left_, y, right, y, "wire");
      } else {
        svg_.line(left_, y - 1.5, right, y - 1.5, "wire");
        svg_.line(left_, y + 1.5, right, y + 1.5, "wire");
      }
    }
  }

  /// Frames of the columns from `begin` on, as far as they reach in this row. Those that end later go on in the next.
  void frames(std::size_t begin, const std::vector<double>& widths, double right) {
    double x = left_ + kGap;
    for (OpenFrame& frame : open_) frame.x = left_ + 4;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      for (const Item& item : layout_.columns[begin + i]) {
        if (item.frame == Frame::kOpen) {
          std::size_t around = 0;
          for (const OpenFrame& frame : open_) {
            const bool apart = frame.bottom < item.top() || item.frame_bottom() < frame.top;
            around = apart ? around : std::max(around, frame.depth + 1);
          }
          open_.push_back({item.top(), item.frame_bottom(), around, x - 4});
        } else if (item.frame == Frame::kClose) {
          const auto last = std::find_if(open_.rbegin(), open_.rend(), [&](const OpenFrame& frame) {
            return frame.top == item.top() && frame.bottom == item.bottom();
          });
          frame(*last, x + widths[i]);
          open_.erase(std::next(last).base());
        }
      }
      x += widths[i] + kGap;
    }
    for (const OpenFrame& open : open_) frame(open, right);
  }

  struct OpenFrame {
    std::uint32_t top, bottom;
    std::size_t depth;  // frames around it
    double x;
  };
  void frame(const OpenFrame& open, double right) {
    const double inset = std::min(1.0 + 1.5 * static_cast<double>(open.depth), 5.5);
    const double top = y_of(open.top) - kWireRow / 2 + inset, bottom = y_of(open.bottom) + kWireRow / 2 - inset;
    svg_.rect(open.x, top, right - open.x, bottom - top, "frame", "", 4);
  }

  /// What stands at the beginning of a frame or within it; its end is the line around it.
  void draw_frame(const Item& item, double x) {
    const double top = y_of(item.top()), bottom = y_of(item.frame_bottom());
    if (item.frame == Frame::kNext) svg_.line(x, top - kWireRow / 2 + 6, x, bottom + kWireRow / 2 - 6, "dash");
    if (item.frame == Frame::kLeave) svg_.line(x, top, x, bottom, "dash");
    for (const Cell& cell : item.cells) {
      if (cell.mark != Mark::kRead && !cell.reads) continue;
      const double y = y_of(cell.wire);
      svg_.line(x - 1.5, top, x - 1.5, y, "link");
      svg_.line(x + 1.5, top, x + 1.5, y, "link");
      svg_.circle(x, y, 4, "dot");
    }
    const Cell& words = item.cells.front();
    if (words.text.empty()) return;
    box(x, top, cell_width(words), "plain", 1, 11);
    svg_.text(x, top + 4, words.text, "mono", Anchor::kMiddle);
  }

  void links(const Item& item, double x) {
    const double top = y_of(item.top()), bottom = y_of(item.bottom());
    if (!item.classical_from) {
      if (top < bottom) svg_.line(x, top, x, bottom, "link");
      return;
    }
    const double from = y_of(*item.classical_from);
    if (top < from) svg_.line(x, top, x, from, "link");
    svg_.line(x - 1.5, from, x - 1.5, bottom, "link");
    svg_.line(x + 1.5, from, x + 1.5, bottom, "link");
  }

  void draw(const Item& item, double x) {
    if (item.cells.front().mark == Mark::kBarrier) {
      for (const Cell& cell : item.cells) {
        if (cell.mark != Mark::kBarrier) continue;
        svg_.rect(x - 5, y_of(cell.wire) - kWireRow / 2, 10, kWireRow, "band", "", 0);
        svg_.line(x, y_of(cell.wire) - kWireRow / 2, x, y_of(cell.wire) + kWireRow / 2, "dash");
      }
      return;
    }
    if (item.frame != Frame::kNone) return draw_frame(item, x);
    links(item, x);
    const bool whole = is_whole(item);
    for (std::size_t i = 0; i < item.cells.size();) {
      const std::size_t count = whole ? run_of(item, i) : 1;
      draw_cells(item, i, count, x);
      i += count;
    }
  }

  void box(double x, double y, double width, const char* style, std::size_t rows = 1, double half = kHalfBox) {
    svg_.rect(x - width / 2, y - half, width, 2 * half + kWireRow * static_cast<double>(rows - 1), style);
  }

  /// A gate on neighbouring wires: its name once, in the middle.
  void gate(const Item& item, std::size_t first, std::size_t count, double x) {
    const Cell& cell = item.cells[first];
    const double y = y_of(cell.wire), width = cell_width(cell);
    box(x, y, width, "box", count);
    svg_.text(x, y + kWireRow * static_cast<double>(count - 1) / 2 + 4, cell.text, "mono", Anchor::kMiddle);
    for (std::size_t i = 0; i < count; ++i) {
      const Cell& one = item.cells[first + i];
      if (!one.port.empty()) svg_.text(x - width / 2 + 4, y_of(one.wire) + 4, one.port, "port");
    }
  }

  void draw_cells(const Item& item, std::size_t first, std::size_t count, double x) {
    const Cell& cell = item.cells[first];
    const double y = y_of(cell.wire);
    switch (cell.mark) {
      case Mark::kBox:
        gate(item, first, count, x);
        return;
      case Mark::kNot:
        svg_.circle(x, y, 10, "ring");
        svg_.line(x - 10, y, x + 10, y, "link");
        svg_.line(x, y - 10, x, y + 10, "link");
        return;
      case Mark::kControl:
        svg_.circle(x, y, 4, "dot");
        return;
      case Mark::kControlOnZero:
        svg_.circle(x, y, 4.5, "ring");
        return;
      case Mark::kSwap:
        svg_.line(x - 6, y - 6, x + 6, y + 6, "link");
        svg_.line(x - 6, y + 6, x + 6, y - 6, "link");
        return;
      case Mark::kMeasure:
        box(x, y, 34, "plain");
        svg_.path("M" + number(x - 10) + " " + number(y + 6) + "a10 10 0 0 1 20 0", "link");
        svg_.line(x, y + 6, x + 7, y - 7, "link");
        return;
      case Mark::kReset:
        box(x, y, cell_width(cell), "plain");
        svg_.text(x, y + 4, "|0⟩", "mono", Anchor::kMiddle);
        return;
      case Mark::kBit:
        svg_.path("M" + number(x - 5) + " " + number(y - 9) + "h10l-5 8z", "dot");
        svg_.text(x + 8, y - 6, cell.text, "mono");
        return;
      case Mark::kCondition:
      case Mark::kAssign:
        box(x, y, cell_width(cell), "plain", 1, 11);
        svg_.text(x, y + 4, cell.text, "mono", Anchor::kMiddle);
        return;
      case Mark::kBarrier:
      case Mark::kFrame:
      case Mark::kRead:
        return;
    }
  }

  const CircuitLayout& layout_;
  const double width_;
  double left_ = 0, top_ = 0, right_ = 0;
  std::vector<OpenFrame> open_;
  Svg svg_;
};

}  // namespace

std::string circuit_svg(const Circuit& circuit, std::size_t width) {
  const CircuitLayout layout = lay_out(circuit, "π");
  const std::string title = "circuit of " + std::to_string(circuit.qubits()) + " qubits and " +
                            std::to_string(circuit.operation_count()) + " operations";
  return Drawing(layout, width).write(title);
}

}  // namespace qsim::picture
