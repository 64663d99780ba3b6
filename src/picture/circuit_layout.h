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
  kCondition
};

/// What stands on one wire.
struct Cell {
  std::uint32_t wire = 0;
  Mark mark = Mark::kBox;
  std::string text;  // kBox: "Rx(π/4)"; kBit: the bit that is written; kCondition: "=3"
  std::string port;  // of a gate on several targets: which of them this is, or its letter
};

/// An operation, or the same with a condition: cells by rising wire.
struct Item {
  std::vector<Cell> cells;
  std::optional<std::uint32_t> classical_from;  // below this wire what links the cells is classical
  std::uint32_t top() const { return cells.front().wire; }
  std::uint32_t bottom() const { return cells.back().wire; }
};

/// Wires are the qubits, then the classical registers.
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
