// Counts by kind of operation.
#include "cuda/tile/work.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "cuda/tile/deferred.h"
#include "cuda/tile/shears.h"
#include "plan/matrix_forms.h"

namespace qsim::cuda {
namespace {

constexpr double kProduct = 4;   // of two complex numbers
constexpr double kTurn = 1;      // of an amplitude by -1, i or -i
constexpr double kMove = 8;      // an amplitude through shared memory, with its addresses and barriers
constexpr double kLanes = 8;     // a block on tensor cores, at twice the rate
constexpr double kExchange = 3;  // of a lane and a register, by shuffles and selections

double share(std::uint32_t set, std::uint32_t registers) {
  return static_cast<double>(count_bits(set)) / static_cast<double>(registers);
}

double matrix_work(const TileOp& op, std::uint32_t registers) {
  return 2 * matrix_numbers(op.matrix, op.kind == TileOpKind::kMatrix1 ? 2 : 4) * share(op.set, registers);
}

/// What threads make of a factor that not all of them share.
double cross_work(const TileOp& op) {
  double work = 0;
  for (const Factor& factor : op.factor) {
    if (factor.present) work += 0.5 * static_cast<double>(factor.cross.size());
  }
  return work;
}

double pair_work(const TileOp& op) {
  double work = cross_work(op);
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    bool any = false;
    for (std::uint32_t f = 0; f < 4; ++f) any = any || (op.factor[f].present && (quarter & f) == f);
    if (any) work += kProduct / 4;
  }
  return work;
}

double work_of(const TileOp& op, std::uint32_t registers) {
  switch (op.kind) {
    case TileOpKind::kRotate:
      return 2.0 * static_cast<double>(std::count_if(op.rotation.begin(), op.rotation.end(),
                                                     [](Rotation r) { return r != Rotation::kNone; }));
    case TileOpKind::kMatrix1:
    case TileOpKind::kMatrix2:
      return matrix_work(op, registers);
    case TileOpKind::kLanes:
      return kLanes;
    case TileOpKind::kDense:
      return 2 * kMove + kProduct / 2 * static_cast<double>(std::size_t{1} << op.targets.size());  // tensor cores
    case TileOpKind::kSwap:
      return 1;
    case TileOpKind::kPair:
      return pair_work(op);
    case TileOpKind::kMultiply:
      return kProduct * share(op.set, registers);
  }
  return 0;
}

bool is_turn(Complex value) { return is_one(-value) || is_one(value * value * -1.0); }

/// Of all that waits: a product for each register, and for what groups of them do not share.
double done_work(DeferredPhases& deferred, std::uint32_t registers) {
  double products = 0, turns = 0;
  std::set<std::vector<std::uint32_t>> made;
  for (const DeferredPhases::Group& group : deferred.done()) {
    const double size = count_bits(group.set);
    const bool none = is_one(group.value), turn = is_turn(group.value);
    for (std::size_t n = 2; n <= group.variables.size(); ++n) {
      const auto end = group.variables.begin() + static_cast<std::ptrdiff_t>(n);
      if (made.emplace(group.variables.begin(), end).second) products += 1;
    }
    if (!group.variables.empty())
      products += size + (none || turn ? 0 : 1);
    else
      (turn ? turns : products) += none ? 0 : size;
  }
  return (products * kProduct + turns * kTurn) / registers;
}

}  // namespace

bool has_unit(Complex entry) { return std::abs(entry.real()) == 1 || std::abs(entry.imag()) == 1; }

double row_numbers(std::span<const Complex> row) {
  return real_entries(row) - (std::ranges::any_of(row, has_unit) ? 1 : 0);
}

double matrix_numbers(std::span<const Complex> matrix, std::size_t order) {
  std::vector<bool> sheared(order, false);
  double numbers = 0;
  for (const Shears& shears : shears_of(matrix, order)) {
    numbers += 3;
    for (const std::size_t row : shears.row) sheared[row] = true;
  }
  for (std::size_t r = 0; r < order; ++r) {
    if (!sheared[r]) numbers += row_numbers(matrix.subspan(r * order, order));
  }
  return numbers;
}

bool is_constant(const Factor& factor) {
  return !factor.lookup && !factor.where && factor.table < 0 && factor.tile < 0 && factor.cross.empty() &&
         factor.turned.empty() && factor.mirrored.empty();
}

bool is_deferred(const TileOp& op) {
  return op.guard.always() && (op.kind == TileOpKind::kPair || op.kind == TileOpKind::kMultiply);
}

double work_of(const TileProgram& program) {
  const std::uint32_t registers = 1u << program.register_bits;
  DeferredPhases deferred(registers, program.precision);
  double work = -kMove;  // the first epoch comes from memory
  for (const Epoch& epoch : program.epochs) {
    work += epoch.exchanged ? kExchange : kMove;
    for (const TileOp& op : epoch.ops) {
      if (is_deferred(op)) {
        work += cross_work(op);
        deferred.take(op);
        continue;
      }
      if (op.kind != TileOpKind::kPair && op.kind != TileOpKind::kMultiply) work += done_work(deferred, registers);
      work += work_of(op, registers);
    }
    work += done_work(deferred, registers);
  }
  return work;
}

}  // namespace qsim::cuda
