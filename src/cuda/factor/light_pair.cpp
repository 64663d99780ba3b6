// Circuits turn bases by Clifford gates; what a planner has put into one matrix with a pair that keeps parity is found
// by turning them back.
#include "cuda/factor/light_pair.h"

#include <algorithm>
#include <cmath>

#include "base/numbers/matrix2.h"
#include "base/numbers/rounding.h"
#include "cuda/factor/row_phases.h"
#include "cuda/tile/work.h"
#include "plan/lower/basis_change.h"

namespace qsim::cuda {
namespace {

constexpr double kPhaseWeight = 0.5;     // of a phase of a quarter of the amplitudes; by itself it takes two numbers
constexpr double kFewestToTurn = 8;      // numbers of a matrix that is turned
constexpr std::size_t kMostEntries = 8;  // of one that is taken when it is turned

const double kRootHalf = std::sqrt(0.5);
const std::array<Local, 2> kTurns{kHadamard2, Local{kRootHalf, {0, -kRootHalf}, {0, -kRootHalf}, kRootHalf}};
constexpr std::size_t kWays = 3;  // not turned, or one of these

int count_phases(const std::array<Complex, 4>& phases) {
  return static_cast<int>(std::ranges::count_if(phases, [](Complex phase) { return !is_one(phase); }));
}

}  // namespace

LightParts light_parts(std::span<const Complex> matrix, bool columns) {
  LightParts best;
  best.weight = matrix_numbers(matrix, 4);
  const auto offer = [&](SidePhases parts) {
    parts.numbers = matrix_numbers(parts.matrix, 4);
    const double weight = parts.numbers + kPhaseWeight * (count_phases(parts.rows) + count_phases(parts.columns));
    if (weight >= best.weight) return;
    best.weight = weight;
    best.sides = std::move(parts);
  };
  if (std::optional<RowPhases> rows = row_phases(matrix)) {
    offer({rows->scale, rows->rows, {1, 1, 1, 1}, std::move(rows->matrix), 0});
  }
  if (!columns) return best;
  if (std::optional<SidePhases> sides = side_phases(matrix)) offer(std::move(*sides));
  return best;
}

TurnedPair turned_pair(std::span<const Complex> matrix) {
  TurnedPair best;
  best.matrix.assign(matrix.begin(), matrix.end());
  double least = light_parts(matrix, true).weight;
  if (least < kFewestToTurn) return best;
  std::array<Complex, 16> whole;
  std::ranges::copy(matrix, whole.begin());
  double size = 0;
  for (const Complex entry : matrix) size = std::max(size, std::abs(entry));
  const double nothing = kRounding * size;
  for (std::size_t choice = 1; choice < kWays * kWays * kWays * kWays; ++choice) {
    TurnedPair turned;
    auto inner = whole;
    double turns = 0;
    std::size_t rest = choice;
    for (unsigned k = 0; k < 4; ++k, rest /= kWays) {
      if (rest % kWays == 0) continue;
      const Local& turn = kTurns[rest % kWays - 1];
      (k < 2 ? multiply_left : multiply_right)(inner, k % 2, qsim::adjoint(turn));
      (k < 2 ? turned.left : turned.right)[k % 2] = turn;
      turns += kRotationNumbers;
    }
    std::size_t entries = 0;
    for (Complex& entry : inner) {
      if (std::abs(entry) <= nothing)
        entry = 0;
      else
        ++entries;
    }
    if (entries > kMostEntries || turns >= least) continue;
    turned.matrix.assign(inner.begin(), inner.end());
    const double weight = light_parts(turned.matrix, true).weight + turns;
    if (weight >= least) continue;
    least = weight;
    best = std::move(turned);
  }
  return best;
}

}  // namespace qsim::cuda
