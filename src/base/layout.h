// Where the qubits of a state are.
#pragma once

#include <vector>

#include "qsim/types.h"

namespace qsim {

/// Permutation from logical qubits to physical bits. With 2^g ranks, the top g bits of an index are the rank number.
struct Layout {
  std::vector<Bit> bit_of;  // bit_of[qubit] = bit

  static Layout identity(int qubits);
  /// qubit_at[bit] = qubit: the inverse permutation.
  std::vector<Qubit> qubit_at() const;
  /// Physical index of a logical one, and back.
  Index to_physical(Index logical) const;
  Index to_logical(Index physical) const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

}  // namespace qsim
