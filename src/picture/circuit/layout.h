// Where everything of a drawn circuit stands: on which wire, in which column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "qsim/circuit.h"

namespace qsim::picture {

enum class Mark : std::uint8_t {
  kBox,
  kNot,
  kControl,
  kControlOnZero,
  kSwap,
  kMeasure,
  kReset,
  kBarrier,
  kBit,
  kCondition,
  kAssign,  // of classical bits and numbers: ":=n+1", "0:=1"
  kFrame,   // a line of a frame; the uppermost one has its words
  kRead,    // below a frame: a register that its condition reads
};

/// What stands on one wire.
struct Cell {
  std::uint32_t wire = 0;
  Mark mark = Mark::kBox;
  std::string text = {};  // kBox: "Rx(π/4)"; kBit: the bit that is written; kCondition: "=3"; kFrame: "if c[0]"
  std::string port = {};  // of a gate on several targets: which of them this is, or its letter
  bool reads = false;     // kFrame: the condition reads this register
};

/// A block that runs under a condition, or again and again, is framed: items that begin it, part it and end it.
enum class Frame : std::uint8_t { kNone, kOpen, kNext, kLeave, kClose };

/// An operation, or the same with a condition: cells by rising wire.
struct Item {
  std::vector<Cell> cells;
  std::optional<std::uint32_t> classical_from;  // below this wire what links the cells is classical
  Frame frame = Frame::kNone;                   // its wires are those of the cells down to the last kFrame
  std::uint32_t top() const { return cells.front().wire; }
  std::uint32_t bottom() const { return cells.back().wire; }
  /// The lowest wire of a frame.
  std::uint32_t frame_bottom() const { return classical_from.value_or(bottom()); }
};

/// Wires are the qubits, then the classical registers, then other classical values that are written on the way.
struct CircuitLayout {
  std::uint32_t qubits = 0;
  std::vector<std::string> labels;         // of the wires
  std::vector<std::vector<Item>> columns;  // each item as far to the left as its wires allow
};

/// UnsupportedError as draw().
CircuitLayout lay_out(const Circuit& circuit, const std::string& pi);

/// Short; simple fractions of pi as such.
std::string angle_text(double radians, const std::string& pi);

// The styles; `width` as draw() has it.
std::string circuit_text(const Circuit& circuit, bool ascii, std::size_t width);
std::string circuit_svg(const Circuit& circuit, std::size_t width);
std::string circuit_latex(const Circuit& circuit, std::size_t width);

}  // namespace qsim::picture
