// A circuit in characters: a line for each wire, and one between two wires for what links them.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "picture/circuit/layout.h"
#include "picture/svg.h"

namespace qsim::picture {
namespace {

struct Marks {
  std::string_view wire, classical, link, classical_link, crossing, classical_crossing;
  std::string_view control, control_on_zero, swap, measured, barrier, pi;
  std::string_view frame_begin, frame_part, frame_leave, frame_end, frame_link, leave_link, end_link, reads;
};
constexpr Marks kUnicode{"─", "═", "│", "║", "┼", "╫", "●", "○", "×", "╩",
                         "░", "π", "┠", "┠", "╎", "┨", "┃", "╎", "┃", "■"};
constexpr Marks kAscii{"-", "=",  "|", "|", "+", "+", "*", "o", "x", "v",
                       ":", "pi", "[", "[", "!", "]", "[", "!", "]", "#"};

/// The line of a frame on a wire, and between two wires.
std::string_view frame_mark(Frame frame, const Marks& marks) {
  switch (frame) {
    case Frame::kNone:
      break;
    case Frame::kOpen:
      return marks.frame_begin;
    case Frame::kNext:
      return marks.frame_part;
    case Frame::kLeave:
      return marks.frame_leave;
    case Frame::kClose:
      return marks.frame_end;
  }
  return "";
}
std::string_view frame_link(Frame frame, const Marks& marks) {
  return frame == Frame::kLeave ? marks.leave_link : frame == Frame::kClose ? marks.end_link : marks.frame_link;
}

std::string cell_text(const Item& item, const Cell& cell, const Marks& marks) {
  switch (cell.mark) {
    case Mark::kFrame: {
      std::string text(frame_mark(item.frame, marks));
      if (cell.reads) text += marks.reads;
      return cell.text.empty() ? text : text + " " + cell.text + " ";
    }
    case Mark::kRead:
      return std::string(marks.reads);
    case Mark::kControl:
      return std::string(marks.control);
    case Mark::kControlOnZero:
      return std::string(marks.control_on_zero);
    case Mark::kSwap:
      return std::string(marks.swap);
    case Mark::kBarrier:
      return std::string(marks.barrier);
    case Mark::kMeasure:
      return "M";
    case Mark::kBit:
      return std::string(marks.measured) + cell.text;
    case Mark::kBox:
    case Mark::kNot:
    case Mark::kReset:
    case Mark::kCondition:
    case Mark::kAssign:
      break;
  }
  return cell.port.empty() ? cell.text : cell.text + ":" + cell.port;
}

/// Names may have any characters.
std::string as_ascii(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) out += c;
    if (byte >= 0xC0) out += '?';
  }
  return out;
}

void repeat(std::string& row, std::string_view mark, std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) row += mark;
}

class Sheet {
 public:
  Sheet(const CircuitLayout& layout, bool ascii, std::size_t width)
      : layout_(layout), ascii_(ascii), marks_(ascii ? kAscii : kUnicode), width_(width) {
    for (const std::string& label : layout.labels) labels_.push_back(ascii ? as_ascii(label) : label);
    for (const std::string& label : labels_) heading_ = std::max(heading_, characters(label) + 2);
    items_.resize(labels_.size());
    texts_.resize(labels_.size());
    rows_.resize(labels_.empty() ? 0 : 2 * labels_.size() - 1);
    begin_block();
  }

  std::string write() && {
    if (labels_.empty()) return "";
    for (const std::vector<Item>& column : layout_.columns) add(column);
    end_block();
    text_.pop_back();
    return std::move(text_);
  }

 private:
  void begin_block() {
    for (std::size_t wire = 0; wire < labels_.size(); ++wire) {
      rows_[2 * wire] = std::string(heading_ - 2 - characters(labels_[wire]), ' ') + labels_[wire] + ": ";
      if (2 * wire + 1 < rows_.size()) rows_[2 * wire + 1] = std::string(heading_, ' ');
    }
    used_ = heading_;
  }

  void end_block() {
    if (!text_.empty()) text_ += '\n';
    for (std::string& row : rows_) {
      row.erase(row.find_last_not_of(' ') + 1);
      text_ += row + "\n";
    }
  }

  void add(const std::vector<Item>& column) {
    std::fill(items_.begin(), items_.end(), nullptr);
    std::fill(texts_.begin(), texts_.end(), std::string());
    std::size_t widest = 0;
    for (const Item& item : column) {
      std::fill(items_.begin() + item.top(), items_.begin() + item.bottom() + 1, &item);
      for (const Cell& cell : item.cells) {
        const std::string text = cell_text(item, cell, marks_);
        texts_[cell.wire] = ascii_ ? as_ascii(text) : text;
        const std::size_t length = characters(texts_[cell.wire]);
        widest = std::max(widest, cell.mark == Mark::kBit ? 2 * length - 2 : length);
      }
    }
    if (width_ > 0 && used_ > heading_ && used_ + widest + 2 > width_) {
      end_block();
      begin_block();
    }
    used_ += widest + 2;
    for (std::size_t wire = 0; wire < labels_.size(); ++wire) add_cell(wire, widest);
  }

  void add_cell(std::size_t wire, std::size_t widest) {
    const std::string_view line = wire < layout_.qubits ? marks_.wire : marks_.classical;
    std::string_view cell = texts_[wire], below = " ";
    const Item* const item = items_[wire];
    const bool framed = item != nullptr && item->frame != Frame::kNone;
    if (item != nullptr) {
      const bool barrier = item->cells.front().mark == Mark::kBarrier;
      const auto is_classical = [&](std::size_t from) { return item->classical_from && from > *item->classical_from; };
      if (cell.empty()) {
        cell = barrier ? line : is_classical(wire) ? marks_.classical_crossing : marks_.crossing;
      }
      if (wire < item->bottom() && !barrier) {
        below = is_classical(wire + 1) ? marks_.classical_link : framed ? frame_link(item->frame, marks_) : marks_.link;
      }
    }
    // A bit begins below its link, a frame at its line; everything else has the link in the middle.
    const std::size_t length = characters(cell), middle = framed ? 0 : (widest - 1) / 2;
    const bool bit = !framed && cell.starts_with(marks_.measured) && wire >= layout_.qubits;
    const std::size_t left = framed || bit ? middle : (widest - length) / 2;
    std::string& row = rows_[2 * wire];
    repeat(row, line, 1 + left);
    row += cell;
    repeat(row, line, widest - length - left + 1);
    if (2 * wire + 1 == rows_.size()) return;
    std::string& gap = rows_[2 * wire + 1];
    gap += std::string(1 + middle, ' ');
    gap += below;
    gap += std::string(widest - middle, ' ');
  }

  const CircuitLayout& layout_;
  const bool ascii_;
  const Marks& marks_;
  const std::size_t width_;
  std::vector<std::string> labels_, rows_, texts_;  // rows: wire, gap, wire, ...
  std::vector<const Item*> items_;                  // of each wire in this column
  std::size_t heading_ = 0, used_ = 0;
  std::string text_;
};

}  // namespace

std::string circuit_text(const Circuit& circuit, bool ascii, std::size_t width) {
  const CircuitLayout layout = lay_out(circuit, std::string(ascii ? kAscii.pi : kUnicode.pi));
  return Sheet(layout, ascii, width).write();
}

}  // namespace qsim::picture
