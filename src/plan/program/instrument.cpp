// Operators that lose probability, or add some, would show nowhere else: an instrument is checked before it is run.
#include "plan/program/instrument.h"

#include <algorithm>

#include "qsim/error.h"

namespace qsim {

Instrument measurement() { return {"measure", {{1, 0, 0, 0}, {0, 0, 0, 1}}, {}, true}; }
Instrument reset() { return {"reset", {{1, 0, 0, 0}, {0, 1, 0, 0}}, {}, false}; }

std::vector<Transition> transitions(const Instrument& instrument) {
  bool runs = instrument.operators.size() == 2 && instrument.probabilities.empty();
  std::vector<Transition> found;
  for (const std::vector<Complex>& matrix : instrument.operators) {
    const auto entry = std::ranges::find(matrix, Complex(1)) - matrix.begin();
    runs = runs && matrix.size() == 4 && entry < 4 && std::ranges::count(matrix, Complex(0)) == 3;
    found.push_back({entry % 2 == 1, entry / 2 == 1});
  }
  if (!runs || found[0].from == found[1].from) {
    throw Error("the instrument '" + instrument.name + "' does not project a qubit onto 0 and 1");
  }
  return found;
}

}  // namespace qsim
