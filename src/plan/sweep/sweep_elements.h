// The steps of a sweep before they become operations, and the cheaper forms that groups of them have.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/cost/machine.h"
#include "plan/timeline/timeline.h"
#include "qsim/types.h"

namespace qsim {

/// One step: a matrix, a controlled flip or one diagonal of the timeline.
struct Element {
  enum class Kind : std::uint8_t { kMatrix, kFlip, kDiagonal, kGroupEnd } kind = Kind::kMatrix;
  bool gone = false;
  std::vector<Bit> targets;  // kMatrix, kFlip
  Index control_mask = 0, control_value = 0;
  std::vector<Complex> matrix;   // kMatrix
  std::vector<OpenFactor> open;  // kMatrix on one target: its factors, where one is open
  double entries = 32;           // kMatrix of two targets: pair_entries()
  Diagonal diagonal;             // kDiagonal; its slots are not used any more
  std::uint32_t gates = 0;
  std::vector<std::uint32_t> turns, diagonals;  // of the timeline that it stands for

  Index target_mask() const;
  Index wires() const;
  /// Its number is not to be relied on, nor to be multiplied into others.
  bool is_open() const { return !open.empty() || diagonal.open != 0; }
};

/// What a step costs by the table, a diagonal as one of several that are merged: nanoseconds a million amplitudes.
double element_cost(const Element& element, const CostTable& cost);
/// A product of turns that came out diagonal.
bool is_diagonal_step(const Element& element);
/// `into` stands for all that `from` stood for, and `from` is gone.
void take_over(Element& into, Element& from);

/// Turns around diagonals that are a CX between them become the CX, where that is cheaper by the table.
void recombine_flips(std::vector<Element>& elements, const CostTable& cost);

/// Turns around phases that one condition on other wires decides become a matrix where it does not hold and one under
/// that control, where that is cheaper by the table; only for machines that say what an entry of a controlled matrix
/// costs, since on others it gained nothing. Adds to `refused` how many stayed because the parts were not the same when
/// put together again. Empty when nothing changed.
std::vector<Element> recombine_controls(const std::vector<Element>& given, const CostTable& cost,
                                        std::uint64_t& refused);

/// A turn between merged diagonals gives its phases to them and stays a real rotation, where that is cheaper. Returns
/// how many stayed because the parts were not the turn when put together again.
std::uint64_t split_steps(std::vector<Element>& elements, const CostTable& cost);

}  // namespace qsim
