// Eigenbases and the basis changes that turn a gate into a diagonal.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/numbers/matrix2.h"
#include "plan/lower/lower.h"
#include "plan/plan.h"

namespace qsim {

/// kFromY Y kToY = Z, as kHadamard2 X kHadamard2 is.
extern const Matrix2 kFromY, kToY;

/// matrix = vectors diag(e^{i angle}) vectors'.
struct Eigenbasis {
  Matrix2 vectors;
  std::array<double, 2> angle;
};
/// Nothing where its parts put together again are not the matrix.
std::optional<Eigenbasis> eigenbasis(const Matrix2& unitary);

/// op = (product of vectors[j] on targets[j]) diagonal (its adjoint).
struct BasisChange {
  std::vector<Matrix2> vectors;
  std::vector<PhaseTerm> terms;  // over wires, controls left out
};
/// For a matrix on 2 and more targets that is block-diagonal in the basis of X, Y or Z on every one of them; nothing
/// where the parts put together again are not the matrix.
std::optional<BasisChange> diagonalize(const LoweredOp& op, std::span<const Complex> matrix);

/// Multiplies a matrix over several targets by a 2x2 matrix on its target j, applied before (right) or after (left).
void multiply_right(std::span<Complex> matrix, std::size_t j, const Matrix2& before);
void multiply_left(std::span<Complex> matrix, std::size_t j, const Matrix2& after);

}  // namespace qsim
