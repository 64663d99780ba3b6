// Circuits whose gates on pairs are CZ gates and rotations about ZZ.
#pragma once

#include "optimizer/pipeline.h"

namespace qsim {

inline constexpr std::string_view kOrientFlips = "orient_flips";

/// Of each CZ gate one qubit may become the target of a CX gate between two Hadamard gates, where that leaves less of
/// the gates on one qubit. Compilers for devices that have CZ gates alone hide the CX gates that a circuit was written
/// with. Runs of gates on one qubit are named anew as Hadamard gates, flips, rotations and phases. False for circuits
/// with other gates, and for those without CZ gates.
bool orient_flips(const Circuit& circuit, Rewritten& result);

/// CX gates as CZ gates between Hadamard gates, so that their targets can be chosen anew.
void flips_between_hadamards(const Circuit& circuit, Rewritten& result);

}  // namespace qsim
