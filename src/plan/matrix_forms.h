// What a unitary matrix really is: diagonal, a phased flip, a phased swap, or dense.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// Column c goes to row `row[c]` with phase angle `angle[c]`.
struct Monomial {
  std::vector<Index> row;
  std::vector<double> angle;
};

/// A flip of in-matrix bit `target` where (index & control_mask) == control_value.
struct FlipForm {
  int target = 0;
  Index control_mask = 0, control_value = 0;
};

/// Angles of a diagonal unitary matrix (row-major), nullopt when it is not one.
std::optional<std::vector<double>> diagonal_angles(std::span<const Complex> matrix);
/// The matrix as a permutation with phases, nullopt when it is not one.
std::optional<Monomial> monomial_form(std::span<const Complex> matrix);
/// The permutation as one controlled flip, nullopt when it is more than that.
std::optional<FlipForm> flip_form(std::span<const Index> row);

/// Angles of a diagonal over `targets` -> phase terms whose masks include `controls` (all must be 1). Terms that do
/// nothing are left out.
std::vector<PhaseTerm> phase_terms(std::vector<double> angles, std::span<const Bit> targets, Index controls);
/// exp(i angle parity(mask)) under `controls` as terms without parity, where `mask` has at most 3 bits.
std::vector<PhaseTerm> expand_parity(Index mask, double angle, Index controls);

/// Parts that are rounding become 0.
void drop_dust(std::span<Complex> matrix);
/// How many real and imaginary parts are not 0.
double real_entries(std::span<const Complex> matrix);
/// What kernels for pairs multiply with where a matrix keeps the parity of its targets and is no diagonal: a tangent a
/// row; the phases beside them mostly join others. A tangent that is neither real nor imaginary is kComplexTangent
/// more.
constexpr double kParityPairEntries = 5, kComplexTangent = 0.7;
/// How many of the 32 real numbers of a matrix on two targets are not 0, but for a 1 in each row; of such a matrix no
/// more than those.
double pair_entries(std::span<const Complex> matrix);
/// What a matrix on two targets has between values of one parity, where it has nothing between those of different ones;
/// kCross: real numbers on the diagonal and imaginary ones beside it.
enum class ParityKind : std::uint8_t { kNone, kGeneral, kReal, kCross };
ParityKind parity_kind(std::span<const Complex> matrix);
/// pair_entries() for machines that leave out only what has a kernel of its own: 16 for kGeneral, 8 for kReal and
/// kCross, else 32.
double parity_entries(std::span<const Complex> matrix);

}  // namespace qsim
