// Layout: the permutation between logical qubits and physical bits.
#include "base/layout.h"

#include <numeric>

#include "qsim/types.h"

namespace qsim {

Layout Layout::identity(int qubits) {
  Layout layout;
  layout.bit_of.resize(static_cast<std::size_t>(qubits));
  std::iota(layout.bit_of.begin(), layout.bit_of.end(), Bit{0});
  return layout;
}

std::vector<Qubit> Layout::qubit_at() const {
  std::vector<Qubit> inverse(bit_of.size());
  for (Qubit qubit = 0; qubit < bit_of.size(); ++qubit) inverse[bit_of[qubit]] = qubit;
  return inverse;
}

Index Layout::to_physical(Index logical) const {
  Index physical = 0;
  for (std::size_t qubit = 0; qubit < bit_of.size(); ++qubit) physical |= (logical >> qubit & 1) << bit_of[qubit];
  return physical;
}

Index Layout::to_logical(Index physical) const {
  Index logical = 0;
  for (std::size_t qubit = 0; qubit < bit_of.size(); ++qubit) logical |= (physical >> bit_of[qubit] & 1) << qubit;
  return logical;
}

}  // namespace qsim
