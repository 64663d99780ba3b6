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

constexpr std::size_t kRound = 8;        // products that a round of angles takes as long as
constexpr std::size_t kFewRounds = 4;    // not worth it
constexpr std::size_t kMostPieces = 64;  // of all factors, where they are more than there were

std::size_t pieces_of(std::size_t terms, std::size_t longest) {
  return std::max<std::size_t>(1, (terms + longest - 1) / longest);
}

template <class Visit>
void for_each_factor(TileProgram& program, const Visit& visit) {
  for (Epoch& epoch : program.epochs) {
    for (TileOp& op : epoch.ops) {
      for (Factor& factor : op.factor) visit(factor);
    }
  }
}

}  // namespace

// Every load waits for memory.
std::size_t angle_share(std::size_t threads, std::size_t factors, std::size_t terms, std::size_t most) {
  constexpr std::size_t kTermsAThread = 4;
  std::size_t share = 1;
  while (share < most && 2 * share * factors <= threads && share * kTermsAThread < terms) share *= 2;
  return share;
}

std::size_t angle_share(const TileProgram& program) {
  return angle_share(std::size_t{1} << program.thread_bits(), program.tile_factors.size(), most_terms(program),
                     std::size_t{1} << kWarpBits);
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

// All threads wait for the tile's factors: for the one with the most rounds of angles. A piece more is one product more
// in the threads that use the factor.
void split_tile_factors(TileProgram& program, std::size_t most_share) {
  const std::vector<std::vector<TileTerm>> whole = program.tile_factors;
  std::vector<bool> signs(whole.size(), false);  // read as 1 or -1
  for_each_factor(program, [&](const Factor& factor) {
    for (const auto& [table, tile] : factor.turned) signs[static_cast<std::size_t>(tile)] = true;
  });
  std::size_t most = 0, most_of_signs = 0;
  for (std::size_t f = 0; f < whole.size(); ++f) {
    most = std::max(most, whole[f].size());
    if (signs[f]) most_of_signs = std::max(most_of_signs, whole[f].size());
  }
  const auto pieces_by = [&](std::size_t longest) {
    std::size_t sum = 0;
    for (std::size_t f = 0; f < whole.size(); ++f) sum += signs[f] ? 1 : pieces_of(whole[f].size(), longest);
    return sum;
  };
  const std::size_t threads = std::size_t{1} << program.thread_bits();
  const auto rounds_by = [&](std::size_t longest) {
    const std::size_t terms = std::max(std::min(most, longest), most_of_signs);
    const std::size_t share = angle_share(threads, pieces_by(longest), terms, most_share);
    return (terms + share - 1) / share;
  };
  if (rounds_by(std::max<std::size_t>(most, 1)) <= kFewRounds) return;
  std::size_t best = most, least = kRound * rounds_by(most);
  for (std::size_t longest = most; longest-- > 1;) {
    const std::size_t pieces = pieces_by(longest);
    if (pieces > std::max(kMostPieces, whole.size())) break;
    const std::size_t work = kRound * rounds_by(longest) + pieces - whole.size();
    if (work >= least) continue;
    best = longest;
    least = work;
  }
  if (best == most) return;

  std::vector<std::vector<int>> numbers(whole.size());  // of the pieces
  program.tile_factors.clear();
  for (std::size_t f = 0; f < whole.size(); ++f) {
    const std::size_t pieces = signs[f] ? 1 : pieces_of(whole[f].size(), best);
    for (std::size_t k = 0; k < pieces; ++k) {
      std::vector<TileTerm>& piece = program.tile_factors.emplace_back();
      for (std::size_t i = k; i < whole[f].size(); i += pieces) piece.push_back(whole[f][i]);
      numbers[f].push_back(static_cast<int>(program.tile_factors.size()) - 1);
    }
  }
  const auto of = [&](int tile) -> const std::vector<int>& { return numbers[static_cast<std::size_t>(tile)]; };
  for_each_factor(program, [&](Factor& factor) {
    for (auto& [table, tile] : factor.turned) tile = of(tile).front();
    decltype(factor.mirrored) mirrored;
    for (const auto& [tile, bits] : factor.mirrored) {
      for (const int piece : of(tile)) mirrored.emplace_back(piece, bits);
    }
    decltype(factor.cross) cross;
    for (const auto& [bit, tile] : factor.cross) {
      for (const int piece : of(tile)) cross.emplace_back(bit, piece);
    }
    if (factor.tile >= 0) {
      const std::vector<int>& pieces = of(factor.tile);
      factor.tile = pieces.front();
      for (std::size_t k = 1; k < pieces.size(); ++k) mirrored.emplace_back(pieces[k], 0);
    }
    factor.mirrored = std::move(mirrored);
    factor.cross = std::move(cross);
  });
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
