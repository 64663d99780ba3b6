// Many small circuits of one shape as data, made from one plan: what the CPU's and the GPU's batch loops walk.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "qsim/types.h"

namespace qsim {

constexpr int kMaxBatchTargets = 3;  // of a matrix that is the same for all

/// The angle constant + factor * values[parameter] + ...; its terms begin where those of the sum before end. A factor
/// is a share of some angle of the circuit, in which the parameter has another: such an angle is reduced where it is
/// large.
struct BatchTerm {
  std::uint32_t parameter = 0;
  double factor = 0;
  double share = 0, in_angle = 0;  // their product is `factor`
};
struct BatchSum {
  double constant = 0;
  std::uint32_t end = 0;
};

/// A step in making a 2x2 matrix, which starts as the identity. `phase` is e^{i sum}.
enum class BatchStep : std::uint8_t {
  kFixed,   // times `fixed` from the left
  kTurn,    // times fixed + phase * turned from the left
  kRow,     // row `line` times phase
  kColumn,  // column `line` times phase
};
struct BatchFactor {
  BatchStep step = BatchStep::kFixed;
  std::uint8_t line = 0;
  std::uint32_t sum = 0;  // from 1 on; 0: none
  std::array<Complex, 4> fixed{}, turned{};
};

enum class BatchForm : std::uint8_t {
  kBirth,   // bits below the target have amplitudes, those from it on are 0: it leaves 0 with the matrix's first column
  kTurn,    // a 2x2 matrix: that of the factors begin .. end
  kMatrix,  // the same for all evaluations, on 1..3 targets: row-major in `matrices` from `begin` on
  kFlip,    // X
  kPhase,   // e^{i sum}, or `phase`
};

/// Acts where (index & mask) == value. Bit j of a matrix index is targets[j].
struct BatchOp {
  BatchForm form = BatchForm::kFlip;
  std::uint8_t target_count = 0;
  std::array<std::uint8_t, kMaxBatchTargets> targets{};
  std::uint32_t mask = 0, value = 0;
  std::uint32_t parity = 0;          // kPhase: only where an odd number of these is 1; 0: without this
  std::uint32_t begin = 0, end = 0;  // kBirth, kTurn: factors; kMatrix: entries
  std::uint32_t sum = 0;             // kPhase; 0: `phase`
  Complex phase = 1;
};

/// Bit q of an index is qubit q. Operations begin with the births of all qubits, in their order.
struct BatchProgram {
  std::uint32_t qubits = 0, parameters = 0;
  std::vector<BatchSum> sums;
  std::vector<BatchTerm> terms;
  std::vector<BatchFactor> factors;
  std::vector<Complex> matrices;
  std::vector<BatchOp> ops;
  std::uint32_t start_sum = 0;  // the amplitude before the births, as the phase of an operation
  Complex start = 1;
  double plain_values = 0;  // where all values are smaller than this, no sum is above kPlainAngle
};

/// Sums of such angles keep their digits, and a few products reduce them; parts of a sum that are larger are reduced
/// one by one before they are added.
constexpr double kPlainAngle = 256;

/// Of one evaluation, reduced where they are large. UsageError for one that is not finite.
void batch_angles(const BatchProgram& program, std::span<const double> values, std::span<double> angles);
/// UsageError where an angle of one of these evaluations is not finite.
void require_finite_angles(const BatchProgram& program, std::span<const double> values);

/// What is wanted of every evaluation; an empty span is not wanted. The sizes are BatchResult's.
struct BatchOutputs {
  std::span<double> marginals;
  std::span<std::uint32_t> outcomes;
  std::span<Complex> states;
  std::uint32_t shots = 0;
  std::uint64_t seed = 0;
};

/// Where a batch lands: the first index whose running total of units passes the draw's place.
std::uint64_t batch_draw(std::uint64_t seed, std::uint64_t evaluation, std::uint64_t shot, std::uint64_t total);

}  // namespace qsim
