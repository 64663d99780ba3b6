// The operations of a sweep while it is being written, and the cheaper forms that groups of them have.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/numbers/matrix2.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/timeline/timeline.h"
#include "qsim/types.h"

namespace qsim {

/// An operation whose numbers lie with it until the sweep is written; one of phases is one diagonal of the timeline.
struct BareElement : PlanOp {
  bool gone = false;
  bool ends_group = false;          // no step: a register group ends here
  std::vector<Complex> matrix;      // kMatrix
  std::vector<OpenFactor> factors;  // kMatrix on one target: of the matrix, where one is open
  double entries = 32;              // kMatrix of two targets: those that are paid for
  Diagonal diagonal;                // kPhases; its gaps are not used any more

  Index wires() const;
  /// Its number is not to be relied on, nor to be multiplied into others.
  bool is_open() const { return !factors.empty() || diagonal.open != 0; }
};
/// With its sources: what it stands for in the timeline.
struct Element : BareElement {
  std::vector<std::uint32_t> turns, diagonals;
};

/// Of a matrix on one wire, without controls.
bool is_single_turn(const Element& element);
/// Of a step on one target.
Matrix2 matrix2(const Element& element);
Element phase_element(Index wire, double angle);
/// What an element is followed by.
using Insertion = std::pair<std::size_t, Element>;
void insert(std::vector<Element>& elements, std::vector<Insertion>& insertions);

/// Of a matrix on one wire by the table; nothing for a diagonal one, which joins the next merged diagonal.
double turn_cost(const Matrix2& matrix, const FormCosts& cost);
/// What a step costs by the table, a diagonal as one of several that are merged: nanoseconds a million amplitudes.
double element_cost(const Element& element, const FormCosts& cost);
/// A product of turns that came out diagonal.
bool is_diagonal_step(const Element& element);
/// A diagonal, or a turn whose one matrix is diagonal.
bool acts_diagonally(const Element& element);
/// `into` stands for all that `from` stood for, and `from` is gone.
void take_over(Element& into, Element& from);
void add_sources(Element& into, const Element& from);
/// Copies that stand for nothing, for what is only weighed: most of what copying costs.
std::vector<Element> without_sources(const std::vector<Element>& elements);

/// Turns around diagonals that are a CX between them become the CX, where that is cheaper by the table.
void recombine_flips(std::vector<Element>& elements, const FormCosts& cost);

/// Turns around phases that one condition on other wires decides become a matrix where it does not hold and one under
/// that control, where that is cheaper by the table; only for machines that say what an entry of a controlled matrix
/// costs, since on others it gained nothing. Adds to `refused` how many stayed because the parts were not the same when
/// put together again. Empty when nothing changed.
std::vector<Element> recombine_controls(const std::vector<Element>& given, const FormCosts& cost,
                                        std::uint64_t& refused);

}  // namespace qsim
