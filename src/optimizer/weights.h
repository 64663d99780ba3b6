// What operations weigh in circuit_cost(): ratios of the cost tables' entries, rounded so that a matrix never weighs
// more than the gates that it is the product of.
#pragma once

#include "base/numbers/matrix2.h"

namespace qsim::weight {

inline constexpr double kGeneral = 2.5, kRealTurn = 2, kPhasedFlip = 1.5, kFlip = 1, kControlledFlip = 2;
inline constexpr double kPhase = 0.1, kLonelyPhases = 0.4;  // of one qubit; the second once for all between two gates

/// A diagonal; of one qubit beside others.
constexpr double diagonal(unsigned qubits) { return qubits == 1 ? kPhase : 0.8 + 0.2 * qubits; }

/// A matrix on one qubit that is no diagonal; a flip may be one without phases beside it.
inline double turn(const Matrix2& matrix, bool bare_flip) {
  if (is_flip(matrix)) return bare_flip ? kFlip : kPhasedFlip;
  return is_real(matrix) ? kRealTurn : kGeneral;
}

constexpr double flip(bool controlled) { return controlled ? kControlledFlip : kFlip; }

}  // namespace qsim::weight
