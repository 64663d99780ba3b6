#include "device/batch/batch_program.h"

#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "base/numbers/finite.h"
#include "base/numbers/rounding.h"
#include "base/philox.h"
#include "qsim/error.h"

namespace qsim {
namespace {

[[noreturn]] void refuse_angle() { throw UsageError("an angle is not finite with these values"); }

}  // namespace

void batch_angles(const BatchProgram& program, std::span<const double> values, std::span<double> angles) {
  if (!all_finite(values)) refuse_angle();
  std::size_t at = 0;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    angles[i] = program.sums[i].constant;
    for (; at < program.sums[i].end; ++at) {
      const BatchTerm& term = program.terms[at];
      angles[i] += term.share * reduced_angle(term.in_angle * values[term.parameter]);
    }
  }
  if (!all_finite(angles)) refuse_angle();
}

void require_finite_angles(const BatchProgram& program, std::span<const double> values) {
  // All are looked at, so that several are at a time: a batch has millions.
  unsigned other = 0;
  for (const double value : values) other |= std::abs(value) < program.plain_values ? 0U : 1U;
  if (other == 0) return;
  std::vector<double> angles(program.sums.size());
  for (; !values.empty(); values = values.subspan(program.parameters)) {
    batch_angles(program, values.first(program.parameters), angles);
  }
}

std::uint64_t batch_draw(std::uint64_t seed, std::uint64_t evaluation, std::uint64_t shot, std::uint64_t total) {
  const std::uint64_t word = Philox(seed, evaluation).bits(shot);
  return static_cast<std::uint64_t>((static_cast<Wide>(word) * total) >> 64);
}

}  // namespace qsim
