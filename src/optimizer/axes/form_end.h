// What stands behind the steps of an axis form, and where its operations went.
#pragma once

#include <cstdint>
#include <span>

#include "base/numbers/matrix2.h"
#include "optimizer/axes/axis_form.h"
#include "optimizer/operations.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"

namespace qsim {

/// Appends a gate for each wire, `after`, as Hadamard gates, rotations and phases, and a phase of everything (radians).
/// Operations of `circuit` are counted on the place of their step; what has none, or went behind all steps, on the last
/// operation where anything was appended since there were `before`, and else stands for nothing.
void end_form(const Circuit& circuit, const AxisForm& form, std::span<const Matrix2> after, double phase,
              std::span<const std::uint32_t> place_of_step, std::size_t before, Rewriter& rewriter, Rewritten& result);

}  // namespace qsim
