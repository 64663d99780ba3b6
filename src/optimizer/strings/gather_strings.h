// Circuits of rotations between Clifford gates as rotations about Pauli strings.
#pragma once

#include "optimizer/axes/axis_form.h"
#include "optimizer/pipeline.h"

namespace qsim {

inline constexpr std::string_view kGatherStrings = "gather_strings";

/// Moves the flips of the circuit's axis form, and with them all Clifford gates, behind its rotations, which become
/// rotations about strings; equal ones add up. What is left of the flips is written behind them with few gates. False
/// where there is no flip or no rotation, or too long strings come out.
bool gather_strings(const Circuit& circuit, const AxisForm& form, Rewritten& result);

}  // namespace qsim
