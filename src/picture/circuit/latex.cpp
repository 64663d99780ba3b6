// A circuit for LaTeX's package quantikz, in the commands that its versions 1 and 2 share.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "picture/circuit/layout.h"
#include "picture/svg.h"

namespace qsim::picture {
namespace {

constexpr std::string_view kHead =
    "% \\usepackage{tikz}\n"
    "% \\usetikzlibrary{quantikz}  % or quantikz2\n";

/// `text` in mathematics, upright.
std::string in_math(std::string_view text) {
  std::string out = "\\mathrm{";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (text.compare(i, std::string_view("π").size(), "π") == 0) {
      out += "\\pi ";
      i += std::string_view("π").size() - 1;
    } else if (c == '\\') {
      out += "\\backslash ";
    } else if (c == '^') {
      out += "\\hat{\\ }";
    } else if (c == '~') {
      out += "\\sim ";
    } else if (c == ' ') {
      out += "\\ ";
    } else if (std::string_view("{}$&#_%").find(c) != std::string_view::npos) {
      out += std::string("\\") + c;
    } else {
      out += c;
    }
  }
  return out + "}";
}

std::string condition_in_math(const std::string& text) {
  return text.compare(0, 2, "!=") == 0 ? "\\neq " + in_math(text.substr(2)) : "=" + in_math(text.substr(1));
}

/// The bit that a measurement writes stands over its meter.
std::string bit_of(const Item& item) {
  const auto bit =
      std::find_if(item.cells.begin(), item.cells.end(), [](const Cell& c) { return c.mark == Mark::kBit; });
  return bit == item.cells.end() ? "" : bit->text;
}

/// From the words of a frame down to the lowest register that its condition reads.
std::string frame_link(const Item& item, std::size_t place) {
  const auto reads = [](const Cell& cell) { return cell.reads || cell.mark == Mark::kRead; };
  const auto last = std::find_if(item.cells.rbegin(), item.cells.rend(), reads);
  if (place > 0 || last == item.cells.rend() || last->wire == item.top()) return "";
  return " \\vcw{" + std::to_string(last->wire - item.top()) + "}";
}

/// The commands of a cell, and those of the link to the next cell of its item.
std::string cell_text(const Item& item, std::size_t place, std::size_t qubits) {
  const Cell& cell = item.cells[place];
  std::string text;
  switch (cell.mark) {
    case Mark::kBox:
      text = "\\gate{" + in_math(cell.text) + (cell.port.empty() ? "" : "_{" + in_math(cell.port) + "}") + "}";
      break;
    case Mark::kNot:
      text = "\\targ{}";
      break;
    case Mark::kControl:
      text = "\\control{}";
      break;
    case Mark::kControlOnZero:
      text = "\\ocontrol{}";
      break;
    case Mark::kSwap:
      text = "\\targX{}";
      break;
    case Mark::kMeasure:
      text = "\\meter{" + bit_of(item) + "}";
      break;
    case Mark::kReset:
      text = "\\gate{|0\\rangle}";
      break;
    case Mark::kBarrier:
      text = "|[fill=black!15,inner sep=2pt,minimum height=2em]| {}";
      break;
    case Mark::kBit:
    case Mark::kRead:
      break;
    case Mark::kFrame:
      if (!cell.text.empty()) text = "|[draw,fill=white,inner sep=2pt]| {\\scriptstyle " + in_math(cell.text) + "}";
      break;
    case Mark::kAssign:
      text = "|[draw,fill=white,inner sep=2pt]| {\\scriptstyle " + in_math(cell.text) + "}";
      break;
    case Mark::kCondition:
      text = "|[draw,fill=white,inner sep=2pt]| {\\scriptstyle " + condition_in_math(cell.text) + "}";
      break;
  }
  text += text.empty() ? "" : " ";
  text += cell.wire < qubits ? "\\qw" : "\\cw";
  if (item.frame != Frame::kNone) return text + frame_link(item, place);
  if (place + 1 == item.cells.size() || item.cells.front().mark == Mark::kBarrier) return text;
  const bool classical = item.classical_from && cell.wire >= *item.classical_from;
  return text + (classical ? " \\vcw{" : " \\vqw{") + std::to_string(item.cells[place + 1].wire - cell.wire) + "}";
}

/// Frames across the columns of a picture that is drawn in several rows.
class Frames {
 public:
  /// Adds to `cells` the commands for what stands of frames in the columns [begin, end).
  void add(const CircuitLayout& layout, std::size_t begin, std::size_t end,
           std::vector<std::vector<std::string>>& cells) {
    for (Open& each : open_) each.column = begin;
    for (std::size_t column = begin; column < end; ++column) {
      for (const Item& item : layout.columns[column]) {
        if (item.frame == Frame::kOpen) {
          open_.push_back({item.top(), item.frame_bottom(), column});
        } else if (item.frame == Frame::kClose) {
          const auto last = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& each) {
            return each.top == item.top() && each.bottom == item.bottom();
          });
          write(*last, begin, column + 1, cells);
          open_.erase(std::next(last).base());
        }
      }
    }
    for (const Open& each : open_) write(each, begin, end, cells);
  }

 private:
  struct Open {
    std::uint32_t top, bottom;
    std::size_t column;
  };
  static void write(const Open& frame, std::size_t begin, std::size_t end,
                    std::vector<std::vector<std::string>>& cells) {
    cells[frame.top][frame.column - begin] += " \\gategroup[wires=" + std::to_string(frame.bottom - frame.top + 1) +
                                              ",steps=" + std::to_string(end - frame.column) +
                                              ",style={dashed,rounded corners,inner sep=2pt}]{}";
  }
  std::vector<Open> open_;
};

}  // namespace

std::string circuit_latex(const Circuit& circuit, std::size_t width) {
  const CircuitLayout layout = lay_out(circuit, "π");
  const std::size_t columns = layout.columns.size(), wires = layout.labels.size();
  std::string text(kHead);
  if (wires == 0) return text;
  Frames frames;
  const std::size_t block = width == 0 ? std::max<std::size_t>(columns, 1) : width;
  for (std::size_t begin = 0; begin == 0 || begin < columns; begin += block) {
    const std::size_t end = std::min(begin + block, columns);
    std::vector<std::vector<std::string>> cells(wires);
    for (std::size_t wire = 0; wire < wires; ++wire) {
      cells[wire].assign(end - begin, wire < layout.qubits ? "\\qw" : "\\cw");
    }
    for (std::size_t column = begin; column < end; ++column) {
      for (const Item& item : layout.columns[column]) {
        for (std::size_t place = 0; place < item.cells.size(); ++place) {
          cells[item.cells[place].wire][column - begin] = cell_text(item, place, layout.qubits);
        }
      }
    }
    frames.add(layout, begin, end, cells);
    text += begin == 0 ? "\\begin{quantikz}\n" : "\n\\begin{quantikz}\n";
    for (std::size_t wire = 0; wire < wires; ++wire) {
      text += "\\lstick{$" + in_math(layout.labels[wire]) + "$}";
      for (const std::string& cell : cells[wire]) text += " & " + cell;
      text += std::string(" & ") + (wire < layout.qubits ? "\\qw" : "\\cw") + (wire + 1 < wires ? " \\\\\n" : "\n");
    }
    text += "\\end{quantikz}\n";
  }
  text.pop_back();
  return text;
}

}  // namespace qsim::picture
