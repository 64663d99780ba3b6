// Small functions of the tile program.
#include "cuda/tile/tile_program.h"

#include <algorithm>
#include <cmath>

#include "base/bits.h"
#include "base/numbers/rounding.h"

namespace qsim::cuda {

bool TileGuard::holds(Index base) const {
  return (base & mask) == value && (parity_mask == 0 || odd_parity(base & parity_mask) == odd);
}

Coordinate AffineMap::apply(Coordinate v) const {
  Coordinate result = offset;
  for_each_bit(v, [&](unsigned bit) { result ^= column[bit]; });
  return result;
}

bool AffineMap::identity() const {
  for (unsigned i = 0; i < column.size(); ++i) {
    if (column[i] != 1u << i) return false;
  }
  return offset == 0 && guarded.empty();
}

Coordinate Epoch::coordinate(std::uint32_t thread_number, std::uint32_t register_number) const {
  Coordinate v = 0;
  for (std::size_t i = 0; i < thread.size(); ++i) v |= (thread_number >> i & 1u) << thread[i];
  for (std::size_t j = 0; j < reg.size(); ++j) v |= (register_number >> j & 1u) << reg[j];
  return v;
}

// Rounding of sums of large angles must not decide.
int add_table(TileProgram& program, std::span<const double> angles) {
  constexpr std::size_t kLanes = std::size_t{1} << kWarpBits;
  double largest = 0;
  for (const double angle : angles) largest = std::max(largest, std::abs(angle));
  bool separable = angles.size() > kLanes && angles[0] == 0;
  for (std::size_t t = 0; t < angles.size() && separable; ++t) {
    const double apart = angles[t % kLanes] + angles[t - t % kLanes];
    separable = std::abs(angles[t] - apart) <= kRounding * std::max(1.0, largest);
  }
  std::vector<Complex> table;
  for (const double angle : angles) table.push_back(std::polar(1.0, angle));
  program.tables.push_back(std::move(table));
  program.separable.push_back(separable);
  return static_cast<int>(program.tables.size()) - 1;
}

namespace {

std::size_t most_terms(const TileProgram& program) {
  std::size_t most = 0;
  for (const auto& terms : program.tile_factors) most = std::max(most, terms.size());
  return most;
}

}  // namespace

// Every load waits for memory.
std::size_t angle_share(const TileProgram& program) {
  constexpr std::size_t kTermsAThread = 4;
  const std::size_t threads = std::size_t{1} << program.thread_bits(), factors = program.tile_factors.size();
  const std::size_t terms = most_terms(program);
  std::size_t share = 1;
  while (share < 32 && 2 * share * factors <= threads && share * kTermsAThread < terms) share *= 2;
  return share;
}

// Of tiles that are loaded whole, and in single precision, where a thread loads twice as many amplitudes: elsewhere it
// is no faster. Few rows, since they wait in registers.
std::vector<TileTerm> angle_rows(const TileProgram& program) {
  constexpr std::size_t kMostRows = 4;
  const std::size_t share = angle_share(program), entries = program.tile_factors.size() * share;
  const std::size_t rows = (most_terms(program) + share - 1) / share;
  if (program.precision == Precision::kDouble || !program.reads || program.births != 0) return {};
  if (entries > std::size_t{1} << program.thread_bits() || rows > kMostRows) return {};
  std::vector<TileTerm> angles(entries * rows);
  for (std::size_t f = 0; f < program.tile_factors.size(); ++f) {
    const std::vector<TileTerm>& terms = program.tile_factors[f];
    for (std::size_t k = 0; k < terms.size(); ++k) angles[k / share * entries + f * share + k % share] = terms[k];
  }
  return angles;
}

bool grows(const TileProgram& program) { return program.reads && count_bits(program.births) >= 3; }

bool uses_lanes(const TileProgram& program) {
  return std::ranges::any_of(program.epochs, [](const Epoch& epoch) {
    return std::ranges::any_of(epoch.ops, [](const TileOp& op) { return op.kind == TileOpKind::kLanes; });
  });
}

std::size_t Lookup::place(std::uint32_t thread_number, Index base) const {
  return first + extract_bits(thread_number, threads) + (extract_bits(base, tile) << count_bits(threads));
}

std::vector<Complex> table_memory(const TileProgram& program) {
  std::vector<Complex> memory;
  for (const auto* const kind : {&program.tables, &program.lookups}) {
    for (const auto& table : *kind) memory.insert(memory.end(), table.begin(), table.end());
  }
  return memory;
}

std::uint64_t lookup_offset(const TileProgram& program, int lookup) {
  std::uint64_t offset = static_cast<std::uint64_t>(program.tables.size()) << program.thread_bits();
  for (int i = 0; i < lookup; ++i) offset += program.lookups[static_cast<std::size_t>(i)].size();
  return offset;
}

void multiply(TileProgram& program, Complex factor) {
  if (factor == Complex(1)) return;
  if (program.start_scaled) {
    program.start_constant *= factor;
    return;
  }
  const auto all = static_cast<std::uint32_t>(low_mask(1u << program.register_bits));
  for (Epoch& epoch : program.epochs) {
    for (TileOp& op : epoch.ops) {
      const bool whole = op.kind == TileOpKind::kMultiply && op.set == all && op.guard.always();
      const Factor& first = op.factor[0];
      if ((op.kind != TileOpKind::kPair && !whole) || !first.present || first.where || first.lookup) continue;
      op.factor[0].constant *= factor;
      return;
    }
  }
  TileOp op;
  op.kind = TileOpKind::kMultiply;
  op.set = all;
  op.factor[0].present = true;
  op.factor[0].constant = factor;
  program.epochs.back().ops.push_back(std::move(op));
}

void round_tangents(TileProgram& program) {
  long double factor = 1;
  for (Epoch& epoch : program.epochs) {
    for (TileOp& op : epoch.ops) {
      if (op.kind != TileOpKind::kRotate) continue;
      for (std::size_t slot = 0; slot < op.tangent.size(); ++slot) {
        if (op.rotation[slot] == Rotation::kNone) continue;
        const long double exact = op.tangent[slot];
        op.tangent[slot] = static_cast<double>(static_cast<float>(op.tangent[slot]));
        factor *= std::hypot(1.0L, exact) / std::hypot(1.0L, static_cast<long double>(op.tangent[slot]));
      }
    }
  }
  multiply(program, static_cast<double>(factor));
}

}  // namespace qsim::cuda
