// Tables of merged phases: those that are the same in every tile, and those that a tile's number decides.
#include <algorithm>
#include <cmath>

#include "cpu/tile/tile_translation.h"

namespace qsim::cpu {
namespace {

constexpr int kPieceBits = 6;

/// Base with the given value of one piece of its tile number.
Index piece_base(const TileGeometry& geometry, int piece, Index value) {
  return deposit_bits(value << kPieceBits * piece, geometry.tile_mask);
}

}  // namespace

/// The piece of the tile number that decides the condition, or -1 where several do.
template <typename T>
int DiagonalWriter<T>::piece_of(const TileCondition& condition) const {
  const Index number = extract_bits(condition.bits(), program_.geometry.tile_mask);
  const int piece = std::countr_zero(number) / kPieceBits;
  return (number >> kPieceBits * piece) < (Index{1} << kPieceBits) ? piece : -1;
}

template <typename T>
bool DiagonalWriter<T>::separable(const Term& term) const {
  return term.parity == 0 && std::has_single_bit(term.mask) && piece_of(term.condition) >= 0;
}

template <typename T>
void DiagonalWriter<T>::emit_scalar(const Term& term) {
  const Complex factor = std::polar(1.0, term.angle);
  if (term.condition.always()) {
    program_.scale *= std::complex<long double>(factor);
    return;
  }
  const int piece = piece_of(term.condition);
  if (piece < 0) {
    const TileCondition& c = term.condition;
    program_.tile_scales.push_back({c.mask, c.value, c.parity_mask, factor.real(), factor.imag()});
    return;
  }
  std::vector<double>& table = program_.scalar_pieces;
  if (table.empty()) {
    table.assign(static_cast<std::size_t>(program_.pieces) * 128, 0.0);
    for (std::size_t j = 0; j < table.size(); j += 2) table[j] = 1;
  }
  for (Index value = 0; value < 64; ++value) {
    if (!term.condition.holds(piece_base(program_.geometry, piece, value))) continue;
    double* const entry = table.data() + 2 * (64 * static_cast<std::size_t>(piece) + value);
    const Complex product = Complex(entry[0], entry[1]) * factor;
    entry[0] = product.real();
    entry[1] = product.imag();
  }
}

template <typename T>
MicroOp DiagonalWriter<T>::diagonal_op(const Table& table) {
  MicroOp op;
  op.kind = Micro::kDiagonal;
  op.vectors = table.vectors;
  op.group_mask = table.group_mask;
  op.table_stride = table.stride;
  op.data = table.data;
  return op;
}

template <typename T>
void DiagonalWriter<T>::emit(const std::vector<Term>& terms, bool last) {
  std::vector<Term> fixed, linear, conditional;
  for (const Term& term : terms) {
    (term.condition.always() ? fixed : separable(term) ? linear : conditional).push_back(term);
  }
  if (!fixed.empty()) {
    Index touched = 0;
    for (const Term& term : fixed) touched |= term.bits();
    bool groups = false;
    for_each_bit(touched, [&](unsigned bit) {
      const auto tile_bit = static_cast<Bit>(bit);
      groups |= !placement_.is_lane(tile_bit) && placement_.register_of(tile_bit) < 0;
    });
    if (linear.empty() || groups) {
      const MicroOp op = diagonal_op(write_table(fixed, false, 1));
      if (op.vectors != 0) program_.ops.push_back(op);
      fixed.clear();
    }
  }
  if (!linear.empty()) emit_tile_diagonal(linear, fixed, last);
  while (!conditional.empty()) {
    const TileCondition condition = conditional.front().condition;
    std::vector<Term> same;
    std::erase_if(conditional, [&](const Term& term) {
      if (!(term.condition == condition)) return false;
      same.push_back(term);
      return true;
    });
    MicroOp op = diagonal_op(write_table(same, false, condition.share()));
    op.tile_mask = condition.mask;
    op.tile_value = condition.value;
    op.parity_mask = condition.parity_mask;
    if (op.vectors != 0) program_.ops.push_back(op);
  }
}

/// A product of one entry a piece: phases of single tile bits that the tile's number decides, times `fixed` phases.
template <typename T>
void DiagonalWriter<T>::emit_tile_diagonal(const std::vector<Term>& terms, const std::vector<Term>& fixed, bool last) {
  TileDiagonal diagonal;
  diagonal.vectors = 0;
  Index touched = 0;
  for (const Term& term : terms) touched |= term.mask;
  for_each_bit(touched, [&](unsigned bit) {
    const auto tile_bit = static_cast<Bit>(bit);
    const int b = placement_.register_of(tile_bit);
    if (placement_.is_lane(tile_bit)) {
      diagonal.vectors = 0xff;
    } else if (b < 0) {
      diagonal.groups = true;
    } else {
      for (unsigned i = 0; i < 8; ++i) diagonal.vectors |= static_cast<std::uint8_t>((i >> b & 1) << i);
    }
  });
  if (!fixed.empty()) {
    const Table table = write_table(fixed, true, 1);
    diagonal.fixed = true;
    diagonal.fixed_data = table.data;
    diagonal.vectors = static_cast<std::uint8_t>(diagonal.vectors | table.vectors);
  }
  write_pieces(terms, diagonal);
  MicroOp op;
  op.data = program_.tile_diagonals.size();
  op.kind = Micro::kTileDiagonal;
  op.vectors = diagonal.vectors;
  if (op.vectors != 0) program_.ops.push_back(op);
  op.kind = Micro::kGroupFactor;
  if (diagonal.groups && last) program_.ops.push_back(op);
  program_.tile_diagonals.push_back(diagonal);
}

template <typename T>
void DiagonalWriter<T>::write_pieces(const std::vector<Term>& terms, TileDiagonal& diagonal) {
  const std::size_t lanes = std::size_t{1} << placement_.lane_bits;
  const std::size_t group = std::size_t{1} << placement_.register_bits;
  const std::size_t groups = diagonal.groups ? program_.vectors() >> placement_.register_bits : 0;
  const std::size_t reals = (2 * lanes + 2 * group + 2 * groups + lanes - 1) / lanes * lanes;
  diagonal.entry_reals = static_cast<std::uint32_t>(reals);
  diagonal.pieces_data = program_.coefficients.size();
  program_.coefficients.resize(diagonal.pieces_data + reals * 64 * static_cast<std::size_t>(program_.pieces));
  T* entry = program_.coefficients.data() + diagonal.pieces_data;

  // Where each tile bit stands among lanes, register combinations and groups.
  std::vector<int> place(placement_.position.size(), -1);  // lane bit, 100 + register bit, or 200 + group bit
  for (std::size_t bit = 0; bit < place.size(); ++bit) {
    const auto tile_bit = static_cast<Bit>(bit);
    const int b = placement_.register_of(tile_bit), vector_bit = placement_.position[bit] - placement_.lane_bits;
    int below = 0;
    for (int r = 0; r < placement_.register_bits; ++r) below += placement_.registers[r] < vector_bit;
    place[bit] = vector_bit < 0 ? placement_.position[bit] : b >= 0 ? 100 + b : 200 + vector_bit - below;
  }
  const int value_bits = static_cast<int>(count_bits(program_.geometry.tile_mask));
  std::vector<double> angle(place.size());
  std::vector<Complex> factor(place.size());
  const auto mean_square = [](const std::vector<Complex>& values) {
    double squares = 0;
    for (const Complex c : values) squares += rounded_square<T>(c);
    return values.empty() ? 1 : squares / static_cast<double>(values.size());
  };
  for (int piece = 0; piece < program_.pieces; ++piece) {
    const int used = std::clamp(value_bits - kPieceBits * piece, 0, kPieceBits);
    double squares = 0;  // of an entry's products, added up over the values
    for (Index value = 0; value < 64; ++value, entry += reals) {
      if (value >> used != 0) continue;  // no tile has this number
      std::fill(angle.begin(), angle.end(), 0.0);
      for (const Term& term : terms) {
        if (piece_of(term.condition) != piece) continue;
        if (!term.condition.holds(piece_base(program_.geometry, piece, value))) continue;
        angle[static_cast<std::size_t>(std::countr_zero(term.mask))] += term.angle;
      }
      for (std::size_t bit = 0; bit < angle.size(); ++bit) factor[bit] = std::polar(1.0, angle[bit]);
      auto product = [&](int first, std::size_t index) {
        Complex all(1);
        for (std::size_t bit = 0; bit < place.size(); ++bit) {
          const int at = place[bit] - first;
          if (at >= 0 && at < 100 && (index >> at & 1) != 0) all *= factor[bit];
        }
        return all;
      };
      std::vector<Complex> by_lane, by_register, by_group;
      for (std::size_t lane = 0; lane < lanes; ++lane) by_lane.push_back(product(0, lane));
      for (std::size_t i = 0; i < group; ++i) by_register.push_back(product(100, i));
      for (std::size_t i = 0; i < groups; ++i) by_group.push_back(product(200, i));
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        entry[lane] = static_cast<T>(by_lane[lane].real());
        entry[lanes + lane] = static_cast<T>(by_lane[lane].imag());
      }
      for (std::size_t i = 0; i < group + groups; ++i) {
        const Complex c = i < group ? by_register[i] : by_group[i - group];
        entry[2 * lanes + 2 * i] = static_cast<T>(c.real());
        entry[2 * lanes + 2 * i + 1] = static_cast<T>(c.imag());
      }
      squares += mean_square(by_lane) * mean_square(by_register) * mean_square(by_group);
    }
    program_.keep_norm(squares / std::ldexp(1.0, used), 1);
  }
}

/// A table over the bits that `terms` touch: for every value of the touched bits outside registers and lanes, the
/// vectors of a group (those alone that are not 1 everywhere, unless `all_vectors`).
template <typename T>
typename DiagonalWriter<T>::Table DiagonalWriter<T>::write_table(const std::vector<Term>& terms, bool all_vectors,
                                                                 double share) {
  const int lane_bits = placement_.lane_bits, register_bits = placement_.register_bits;
  Index touched = 0;
  for (const Term& term : terms) touched |= term.bits();
  // factors[x]: product over the terms inside x, by the transform that adds up subsets, here multiplying; then those of
  // parities.
  const unsigned bits = count_bits(touched);
  std::vector<Complex> factors(bit_mask(bits), Complex(1));
  for (const Term& term : terms) {
    if (term.parity == 0) factors[extract_bits(term.mask, touched)] *= std::polar(1.0, term.angle);
  }
  for (unsigned bit = 0; bit < bits; ++bit) {
    for (Index x = 0; x < factors.size(); ++x) {
      if (test_bit(x, bit)) factors[x] *= factors[x ^ bit_mask(bit)];
    }
  }
  for (const Term& term : terms) {
    if (term.parity == 0) continue;
    const Index ones = extract_bits(term.mask, touched), parity = extract_bits(term.parity, touched);
    const Complex factor = std::polar(1.0, term.angle);
    for (Index x = 0; x < factors.size(); ++x) {
      if ((x & ones) == ones && odd_parity(x & parity)) factors[x] *= factor;
    }
  }
  double squares = 0;
  for (const Complex f : factors) squares += rounded_square<T>(f);
  program_.keep_norm(squares / static_cast<double>(factors.size()), share);
  // Positions: lanes, then register combinations, then the touched vector bits of the groups, ascending.
  std::vector<std::pair<int, unsigned>> groups;  // vector bit, place among the touched bits
  std::vector<Index> lane_part(std::size_t{1} << lane_bits), register_part(std::size_t{1} << register_bits);
  unsigned place = 0;
  for_each_bit(touched, [&](unsigned bit) {
    const auto tile_bit = static_cast<Bit>(bit);
    const int position = placement_.position[bit], b = placement_.register_of(tile_bit);
    if (position < lane_bits) {
      for (Index lane = 0; lane < lane_part.size(); ++lane) lane_part[lane] |= (lane >> position & 1) << place;
    } else if (b >= 0) {
      for (Index i = 0; i < register_part.size(); ++i) register_part[i] |= (i >> b & 1) << place;
    } else {
      groups.emplace_back(position - lane_bits, place);
    }
    ++place;
  });
  std::sort(groups.begin(), groups.end());
  std::vector<Index> group_part(bit_mask(static_cast<unsigned>(groups.size())));
  Table table;
  for (std::size_t j = 0; j < groups.size(); ++j) {
    table.group_mask |= 1u << groups[j].first;
    for (Index g = 0; g < group_part.size(); ++g) group_part[g] |= (g >> j & 1) << groups[j].second;
  }
  for (std::size_t i = 0; i < register_part.size(); ++i) {
    bool one = true;
    for (const Index g : group_part) {
      for (const Index lane : lane_part) one &= factors[g | register_part[i] | lane] == Complex(1);
    }
    if (!one) table.vectors = static_cast<std::uint8_t>(table.vectors | 1u << i);
  }
  const std::size_t lanes = lane_part.size();
  const std::size_t kept = all_vectors ? register_part.size() : static_cast<std::size_t>(std::popcount(table.vectors));
  table.stride = static_cast<std::uint32_t>(kept * 2 * lanes);
  table.data = program_.coefficients.size();
  for (const Index g : group_part) {
    for (std::size_t i = 0; i < register_part.size(); ++i) {
      if (!all_vectors && (table.vectors >> i & 1) == 0) continue;
      const Index base = g | register_part[i];
      for (const Index lane : lane_part) program_.coefficients.push_back(static_cast<T>(factors[base | lane].real()));
      for (const Index lane : lane_part) program_.coefficients.push_back(static_cast<T>(factors[base | lane].imag()));
    }
  }
  return table;
}

template class DiagonalWriter<float>;
template class DiagonalWriter<double>;

}  // namespace qsim::cpu
