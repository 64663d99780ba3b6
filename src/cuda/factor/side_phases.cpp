// Of a rotated pair of rows one column needs a phase for the entries of each row to lie on one pair of axes; which
// column, and which of four directions, is chosen so that phases of the pairs are together a phase of one target.
#include "cuda/factor/side_phases.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers/rounding.h"
#include "cuda/factor/row_phases.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {
namespace {

using Phases = std::array<Complex, 4>;

const Complex kDirections[4] = {1, {0, 1}, -1, {0, -1}};

Complex direction_of(Complex entry) { return entry / std::abs(entry); }

bool is_direction(Complex phase) {
  return std::ranges::any_of(kDirections, [&](Complex direction) { return is_tiny(phase - direction); });
}

/// A row with one entry, or two rows with two entries in the same columns.
struct Part {
  std::array<std::size_t, 2> row{}, column{};
  bool pair = false;
};

std::vector<std::size_t> entries_of(std::span<const Complex> matrix, std::size_t row, double nothing) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < 4; ++c) {
    if (std::abs(matrix[row * 4 + c]) > nothing) columns.push_back(c);
  }
  return columns;
}

/// Empty where the matrix is made otherwise.
std::vector<Part> parts_of(std::span<const Complex> matrix, double nothing) {
  std::vector<Part> parts;
  std::array<bool, 4> seen{};
  for (std::size_t r = 0; r < 4; ++r) {
    if (seen[r]) continue;
    const std::vector<std::size_t> columns = entries_of(matrix, r, nothing);
    if (columns.empty() || columns.size() > 2) return {};
    Part part{{r, r}, {columns.front(), columns.back()}, columns.size() == 2};
    for (std::size_t q = r + 1; q < 4; ++q) {
      const std::vector<std::size_t> others = entries_of(matrix, q, nothing);
      const bool meets =
          std::ranges::any_of(others, [&](std::size_t c) { return std::ranges::find(columns, c) != columns.end(); });
      if (!meets) continue;
      if (!part.pair || others != columns || part.row[1] != r) return {};
      part.row[1] = q;
      seen[q] = true;
    }
    if (part.pair && part.row[1] == r) return {};
    parts.push_back(part);
  }
  return parts;
}

/// How many phases of single targets and of both a diagonal is: none, a target's, ...
int terms_of(const Phases& phases) {
  return (is_one(phases[1] / phases[0]) ? 0 : 1) + (is_one(phases[2] / phases[0]) ? 0 : 1) +
         (is_one(phases[3] * phases[0] / (phases[1] * phases[2])) ? 0 : 1);
}

/// Phases of the columns, such that each row's entries are on one pair of axes.
Phases column_phases(std::span<const Complex> matrix, const std::vector<Part>& parts) {
  Phases best{1, 1, 1, 1};
  int least = std::numeric_limits<int>::max();
  std::vector<Complex> beside;  // of each pair: how its columns differ
  std::vector<Part> pairs;
  for (const Part& part : parts) {
    if (!part.pair) continue;
    const Complex ratio =
        direction_of(matrix[part.row[0] * 4 + part.column[1]]) / direction_of(matrix[part.row[0] * 4 + part.column[0]]);
    if (is_direction(ratio)) continue;
    pairs.push_back(part);
    beside.push_back(ratio);
  }
  const std::size_t choices = std::size_t{1} << 3 * pairs.size();
  for (std::size_t choice = 0; choice < choices; ++choice) {
    Phases phases{1, 1, 1, 1};
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const std::size_t own = choice >> 3 * p & 7;
      const Complex ratio = beside[p] * kDirections[own & 3];
      phases[pairs[p].column[own >> 2]] = (own >> 2) != 0 ? ratio : std::conj(ratio);
    }
    const int terms = terms_of(phases);
    if (terms >= least) continue;
    least = terms;
    best = phases;
  }
  return best;
}

/// Of rows whose entries are on one pair of axes; apart from the phase of all, which leaves the fewest.
Phases row_phases_of(std::span<const Complex> matrix, const std::vector<Part>& parts, const Phases& columns,
                     Complex& whole) {
  Phases all;
  for (const Part& part : parts) {
    for (const std::size_t r : part.row) {
      // By the larger entry: a small one's phase is that of its rounding.
      const bool second = std::abs(matrix[r * 4 + part.column[1]]) > std::abs(matrix[r * 4 + part.column[0]]);
      const std::size_t c = part.column[second ? 1 : 0];
      all[r] = direction_of(matrix[r * 4 + c] * std::conj(columns[c]));
    }
  }
  Phases best{};
  int least = std::numeric_limits<int>::max();
  for (const Complex base : all) {
    Phases phases;
    int others = 0;
    for (std::size_t r = 0; r < 4; ++r) {
      phases[r] = all[r] / base;
      if (is_direction(phases[r]))
        phases[r] = 1;  // its entries turn
      else
        ++others;
    }
    const int cost = 8 * others + terms_of(phases);
    if (cost >= least) continue;
    least = cost;
    best = phases;
    whole = base;
  }
  return best;
}

/// The matrix between the phases, `divisor` taken out.
std::vector<Complex> between(std::span<const Complex> matrix, const SidePhases& sides, double nothing, double divisor,
                             Complex whole) {
  std::vector<Complex> result(16);
  for (std::size_t e = 0; e < 16; ++e) {
    if (std::abs(matrix[e]) <= nothing) continue;
    const Complex entry = matrix[e] * std::conj(whole * sides.rows[e / 4] * sides.columns[e % 4]) / divisor;
    // On an axis by construction: what is beside it is rounding.
    result[e] = std::abs(entry.real()) >= std::abs(entry.imag()) ? Complex(cleaned_part(entry.real()), 0)
                                                                 : Complex(0, cleaned_part(entry.imag()));
  }
  return result;
}

}  // namespace

std::array<Complex, 16> product_of(const SidePhases& parts) {
  std::array<Complex, 16> product;
  for (std::size_t e = 0; e < 16; ++e)
    product[e] = parts.scale * parts.rows[e / 4] * parts.matrix[e] * parts.columns[e % 4];
  return product;
}

std::optional<SidePhases> side_phases(std::span<const Complex> matrix) {
  double size = 0;
  for (const Complex entry : matrix) size = std::max(size, std::abs(entry));
  if (!(size > 0) || !std::isfinite(size)) return std::nullopt;
  const double nothing = kRounding * size;
  const std::vector<Part> parts = parts_of(matrix, nothing);
  if (parts.empty()) return std::nullopt;
  SidePhases sides;
  sides.columns = column_phases(matrix, parts);
  Complex whole;
  sides.rows = row_phases_of(matrix, parts, sides.columns, whole);
  std::optional<SidePhases> best;
  for (const Part& part : parts) {
    // What is divided out: the norm of a row, for shears, or the largest entry of one.
    const Complex one = matrix[part.row[0] * 4 + part.column[0]];
    const Complex other = part.pair ? matrix[part.row[0] * 4 + part.column[1]] : Complex(0);
    const double norm = std::sqrt(std::norm(one) + std::norm(other));
    for (const double divisor : {norm, std::max(std::abs(one), std::abs(other))}) {
      sides.scale = whole * divisor;
      sides.matrix = between(matrix, sides, nothing, divisor, whole);
      sides.numbers = matrix_numbers(sides.matrix, 4);
      if ((!best || sides.numbers < best->numbers) && recomposes(product_of(sides), matrix, size)) best = sides;
    }
  }
  return best;
}

}  // namespace qsim::cuda
