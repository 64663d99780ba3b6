// Circuits whose gates on one qubit were spread over them.
#pragma once

#include "optimizer/axes/axis_form.h"
#include "optimizer/pipeline.h"

namespace qsim {

inline constexpr std::string_view kStraightenAxes = "straighten_axes";

/// What a circuit's gates on one and two qubits look like.
enum class Axes : std::uint8_t {
  kAsWritten,   // gates on pairs of several kinds, or larger ones: nobody wrote pairs anew
  kOfOneBasis,  // one kind of gate on pairs, as compilers leave
  kBent,        // and of the gates on one qubit between them many turn about no axis, or the pairs are matrices
};
Axes axes_of(const Circuit& circuit);

/// The circuit, whose axis form `form` is, by the axes of its pairs of qubits.
void straighten_axes(const Circuit& circuit, const AxisForm& form, Rewritten& result);

}  // namespace qsim
