#include "batch/factors.h"

#include <array>

namespace qsim {
namespace {

Matrix2 line_of(const Matrix2& matrix, int line) {
  return line == 0 ? Matrix2{matrix[0], matrix[1], 0, 0} : Matrix2{0, 0, matrix[2], matrix[3]};
}

}  // namespace

Factors::Factors(std::span<const OpenFactor> factors, AngleSums& sums) {
  for (const OpenFactor& factor : factors) {
    if (factor.sum == 0) {
      then(factor.matrix);
    } else {
      const OpenAngle angle(0, factor.sum);
      then(sums.total({&angle, 1}), factor.on_one ? 1 : 0);
    }
  }
}

void Factors::then(const Matrix2& fixed) {
  if (!parts_.empty() && parts_.back().sum == 0) {
    parts_.back().fixed = unitary_product(fixed, parts_.back().fixed);
  } else {
    parts_.push_back({0, 0, fixed});
  }
  if (is_identity(parts_.back().fixed)) parts_.pop_back();
}

void Factors::then(const AngleSums::Phase& phase, int line) {
  if (phase.sum != 0) {
    parts_.push_back({phase.sum, line, {}});
  } else {
    then(line == 0 ? Matrix2{phase.fixed, 0, 0, 1} : Matrix2{1, 0, 0, phase.fixed});
  }
}

void Factors::drop_last_phases() {
  while (!parts_.empty() && (parts_.back().sum != 0 || is_diagonal(parts_.back().fixed))) parts_.pop_back();
}

// Two fixed matrices around a phase are one step, and a phase beside it is a row or a column.
void Factors::write(bool of_zero, AngleSums& sums, BatchProgram& program) const {
  std::vector<Part> parts = parts_;
  std::vector<BatchFactor> columns;
  const auto phase = [&](const Part& part, BatchStep step) {
    BatchFactor factor;
    factor.step = step;
    factor.line = static_cast<std::uint8_t>(part.line);
    factor.sum = sums.used(part.sum, program);
    return factor;
  };
  std::size_t at = 0;
  for (; at < parts.size() && parts[at].sum != 0; ++at) {
    if (!of_zero || parts[at].line == 0) columns.push_back(phase(parts[at], BatchStep::kColumn));
  }
  for (; at < parts.size(); ++at) {
    const bool turns = parts[at].sum == 0 && at + 1 < parts.size();
    if (parts[at].sum != 0) {
      program.factors.push_back(phase(parts[at], BatchStep::kRow));
    } else {
      BatchFactor factor;
      factor.fixed = parts[at].fixed;
      if (turns) {
        factor = phase(parts[at + 1], BatchStep::kTurn);
        factor.fixed = line_of(parts[at].fixed, 1 - parts[at + 1].line);
        factor.turned = line_of(parts[at].fixed, parts[at + 1].line);
        ++at;
        if (at + 1 < parts.size() && parts[at + 1].sum == 0) {
          ++at;
          factor.fixed = product(parts[at].fixed, factor.fixed);
          factor.turned = product(parts[at].fixed, factor.turned);
        }
      }
      program.factors.push_back(factor);
    }
  }
  program.factors.insert(program.factors.end(), columns.begin(), columns.end());
}

}  // namespace qsim
