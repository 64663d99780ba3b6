// What draws of a shot decide: measurements, resets, and whatever else happens by chance.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "qsim/types.h"

namespace qsim {

/// A set of operators on a step's qubit. A draw of the shot decides which of them acts.
struct Instrument {
  std::string name;                             // as plans show it
  std::vector<std::vector<Complex>> operators;  // by outcome: a matrix, row by row
  std::vector<double> probabilities;            // by outcome, of a mixture of unitaries; none: the state's own
  bool records = false;                         // whether the outcome, 0 or 1, is written to the step's bit
};

/// Keeps the part where the qubit is 0 or 1, and records which.
Instrument measurement();
/// The same without a record; then the qubit is set to 0.
Instrument reset();

/// The operator |to><from|.
struct Transition {
  bool from = false, to = false;
  auto operator<=>(const Transition&) const = default;
};

/// The operators of `instrument`, by outcome. Error where it has others than one transition from 0 and one from 1:
/// those are what is run so far.
std::vector<Transition> transitions(const Instrument& instrument);

}  // namespace qsim
