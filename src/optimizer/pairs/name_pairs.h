// Circuits whose gates on pairs are turns about products of two letters, as devices have instead of CX gates.
#pragma once

#include "optimizer/pipeline.h"

namespace qsim {

inline constexpr std::string_view kNamePairs = "name_pairs";

/// ECR gates, and RXX, RYY, RZZ and RZX by a quarter turn, become CZ gates between Hadamard gates, phases and flips;
/// those by other angles RZZ between such gates. False for circuits with gates on pairs of other kinds, but CZ gates,
/// and for those where no CZ gate is found.
bool name_pairs(const Circuit& circuit, Rewritten& result);

}  // namespace qsim
