// A unitary matrix on two qubits as turns about XX, YY and ZZ between gates on either qubit: its canonical form.
#pragma once

#include <array>
#include <optional>

#include "base/numbers/matrix2.h"
#include "qsim/circuit.h"
#include "qsim/gate.h"

namespace qsim {

/// (after[1] x after[0]) exp(i (angles[0] XX + angles[1] YY + angles[2] ZZ)) (before[1] x before[0]), each between
/// -pi/4 and pi/4. The same pair up to gates on either qubit has the same angles, up to their order and pairs of signs.
struct PairInteraction {
  std::array<double, 3> angles{};
  std::array<Matrix2, 2> before{}, after{};
};

/// Of a unitary 4 x 4 matrix, row-major, bit j of an index is qubit j; nothing where the parts put together again are
/// not the matrix. B. Kraus and J. I. Cirac, Phys. Rev. A 63, 062309 (2001).
std::optional<PairInteraction> pair_interaction(const Matrix& unitary);

/// The same of a circuit of two qubits that is a gate on both, of those that turn about one letter of each, and then
/// gates on either: as exact as its angle, of which many may be alike, and turned about ZZ. Nothing for others.
/// `unitary`: what the circuit makes.
std::optional<PairInteraction> named_interaction(const Circuit& circuit, const Matrix& unitary);

}  // namespace qsim
