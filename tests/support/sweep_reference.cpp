// Reference sweeps on whole vectors: no tile, no table, nothing of the product but index arithmetic.
#include "support/sweep_reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/bits.h"
#include "plan/sixteenths.h"

namespace qsim::test {
namespace {

void apply(const Sweep& sweep, const PlanOp& op, std::vector<Complex>& v) {
  const std::vector<Complex> before = v;
  for (Index i = 0; i < v.size(); ++i) {
    if ((i & op.control_mask) != op.control_value) continue;
    if (op.form == Form::kPhases) {
      double angle = 0;
      for (std::uint32_t t = op.data_begin; t < op.data_begin + op.data_count; ++t) {
        const PhaseTerm& term = sweep.phases[t];
        const bool on = term.parity ? odd_parity(i & term.mask) : (i & term.mask) == term.mask;
        if (on) angle += term.angle;
      }
      v[i] = before[i] * std::polar(1.0, angle);
    } else if (op.form == Form::kFlip) {
      v[i] = before[i ^ bit_mask(op.targets[0])];
    } else {
      const Index order = bit_mask(op.target_count);
      Index row = 0, rest = i;
      for (unsigned j = 0; j < op.target_count; ++j) {
        row |= (i >> op.targets[j] & 1) << j;
        rest &= ~bit_mask(op.targets[j]);
      }
      Complex sum = 0;
      for (Index column = 0; column < order; ++column) {
        Index from = rest;
        for (unsigned j = 0; j < op.target_count; ++j) from |= (column >> j & 1) << op.targets[j];
        sum += sweep.matrices[op.data_begin + row * order + column] * before[from];
      }
      v[i] = sum;
    }
  }
}

std::vector<Bit> sample(PhiloxSequence& random, std::vector<Bit> from, std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) std::swap(from[j], from[j + random.below(from.size() - j)]);
  from.resize(count);
  return from;
}

/// Kinds of matrix that a backend may treat apart: general, rotations, Hadamard, diagonal, permutation.
std::vector<Complex> random_matrix(PhiloxSequence& random, unsigned targets) {
  const std::size_t order = std::size_t{1} << targets;
  const double c = std::cos(random.uniform(0, 7)), s = std::sqrt(1 - c * c), r = std::sqrt(0.5);
  const Complex i(0, 1);
  const std::uint64_t kind = random.below(8);
  if (targets == 1 && kind == 0) return {r, r, r, -r};
  if (targets == 1 && kind == 1) return {c, -s, s, c};
  if (targets == 1 && kind == 2) return {c, -i * s, -i * s, c};
  if (targets == 1 && kind == 3) return {0, -i, i, 0};
  if (kind == 4) {  // a permutation with phases
    std::vector<Complex> matrix(order * order);
    const std::size_t shift = random.below(order);
    for (std::size_t row = 0; row < order; ++row) {
      matrix[row * order + (row ^ shift)] = std::polar(1.0, random.uniform(0, 7));
    }
    return matrix;
  }
  return random_unitary(random, order);
}

void add_controls(PhiloxSequence& random, PlanOp& op, const std::vector<Bit>& free) {
  if (free.empty() || random.below(2) == 0) return;
  const std::size_t most = random.below(8) == 0 ? free.size() : std::min<std::size_t>(free.size(), 3);
  for (const Bit bit : sample(random, free, 1 + random.below(most))) {
    op.control_mask |= bit_mask(bit);
    if (random.below(3) != 0) op.control_value |= bit_mask(bit);
  }
}

void add_operation(PhiloxSequence& random, const SweepShape& shape, const std::vector<Bit>& targets, Sweep& sweep) {
  std::vector<Bit> all(shape.bits + shape.global_bits);
  std::iota(all.begin(), all.end(), Bit{0});
  PlanOp op;
  op.gates = 1;
  const std::uint64_t kind = shape.permutes    ? (shape.phases && random.below(3) == 0 ? 2 : 0)
                             : targets.empty() ? 2
                             : shape.phases    ? 2 * random.below(2)
                                               : random.below(3);
  if (kind == 2) {
    op.form = Form::kPhases;
    op.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
    op.data_count = static_cast<std::uint32_t>(random.below(6));
    for (std::uint32_t t = 0; t < op.data_count; ++t) {
      PhaseTerm term;
      term.parity = random.below(3) == 0;
      const std::size_t most = shape.phases ? all.size() : std::min<std::size_t>(all.size(), 4);
      for (const Bit bit : sample(random, all, random.below(most + 1))) {
        if (!shape.affine) term.mask |= bit_mask(bit);
      }
      term.angle = random.uniform(-4, 4);
      if (shape.permutes) term.angle = std::numbers::pi / 8 * (static_cast<double>(random.below(41)) - 20);
      sweep.phases.push_back(term);
    }
  } else {
    op.form = kind == 0 ? Form::kFlip : Form::kMatrix;
    const std::size_t most = std::min<std::size_t>(targets.size(), static_cast<std::size_t>(shape.max_targets));
    // Two times in three on one or two targets, as most operations are.
    const std::size_t count =
        kind == 0 ? 1 : 1 + random.below(random.below(3) == 0 ? most : std::min<std::size_t>(most, 2));
    op.target_count = static_cast<std::uint8_t>(count);
    const std::vector<Bit> chosen = sample(random, targets, count);
    std::copy(chosen.begin(), chosen.end(), op.targets.begin());
    std::erase_if(all, [&](Bit bit) { return std::find(chosen.begin(), chosen.end(), bit) != chosen.end(); });
    if (kind == 1) {
      const std::vector<Complex> matrix = random_matrix(random, op.target_count);
      op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
      op.data_count = static_cast<std::uint32_t>(matrix.size());
      sweep.matrices.insert(sweep.matrices.end(), matrix.begin(), matrix.end());
    }
  }
  add_controls(random, op, all);
  const std::uint32_t most_controls = op.form == Form::kFlip ? 1 : 0;
  while (shape.affine && count_bits(op.control_mask) > most_controls) op.control_mask &= op.control_mask - 1;
  op.control_value &= op.control_mask;
  if (shape.permutes && op.form == Form::kPhases) {
    for (PhaseTerm& term : std::span(sweep.phases).subspan(op.data_begin, op.data_count))
      if (is_of_all(op, term)) term.angle = random.uniform(-4, 4);
  }
  sweep.ops.push_back(op);
}

/// Chooses what is unborn before and what is born here.
void add_births(PhiloxSequence& random, const SweepShape& shape, Sweep& sweep) {
  for (Bit bit = 0; bit < shape.bits + shape.global_bits; ++bit) {
    if (shape.reads && random.below(2) == 0) continue;
    if (bit < shape.bits) sweep.unborn |= bit_mask(bit);
    const bool active = std::find(sweep.active.begin(), sweep.active.end(), bit) != sweep.active.end();
    const bool permuting_write = shape.permutes && !shape.reads;  // which bears all
    if (!permuting_write && random.below(4) == 0) continue;
    Birth birth;
    birth.bit = bit;
    if (active || !shape.reads) {
      const double angle = random.uniform(0, 7);
      birth.factor = {Complex(std::cos(angle)), std::polar(std::sin(angle), random.uniform(0, 7))};
      if (random.below(4) == 0) birth.factor = {Complex(1), Complex(0)};
      if (permuting_write && random.below(4) == 0) birth.factor = {Complex(0), std::polar(1.0, angle)};
      if (permuting_write && random.below(4) == 0)
        birth.factor[0] = birth.factor[1] = std::polar(std::sqrt(0.5), angle);
    }
    sweep.births.push_back(birth);
  }
}

/// A product of additions of one mask to another, and bits outside the tile.
void add_reach(PhiloxSequence& random, const SweepShape& shape, Sweep& sweep) {
  Index active = 0;
  for (const Bit bit : sweep.active) active |= bit_mask(bit);
  for (const Bit bit : sweep.active) sweep.reach.push_back(bit_mask(bit));
  for (std::size_t step = 0; step < 2 * sweep.active.size() && sweep.active.size() > 1; ++step) {
    const std::size_t to = random.below(sweep.active.size()), from = random.below(sweep.active.size());
    if (to != from) sweep.reach[to] ^= sweep.reach[from];
  }
  for (Index& mask : sweep.reach) mask ^= random.below(bit_mask(shape.bits)) & ~active;
}

/// Where memory has what operations see at `index`.
Index place_of(const Sweep& sweep, Index index) {
  Index place = index;
  for (std::size_t j = 0; j < sweep.active.size(); ++j)
    if (test_bit(index, sweep.active[j])) place ^= bit_mask(sweep.active[j]) ^ reach_of(sweep, j);
  return place;
}

}  // namespace

Index unborn_after(const Sweep& sweep) {
  Index unborn = sweep.unborn;
  for (const Birth& birth : sweep.births) unborn &= ~bit_mask(birth.bit);
  return unborn;
}

std::vector<Complex> reference_sweep(const Sweep& sweep, ChunkView chunk, std::uint32_t bits,
                                     const std::vector<Complex>& memory) {
  const Index still = unborn_after(sweep);
  // What is in other shards comes from there where nothing has been written yet.
  const bool everywhere = sweep.permutes() && !sweep.reads;
  std::uint32_t whole = bits;
  for (const Birth& birth : sweep.births) whole = std::max<std::uint32_t>(whole, birth.bit + 1u);
  std::vector<Complex> v(bit_mask(everywhere ? whole : bits));
  for (Index i = 0; i < v.size(); ++i) {
    v[i] = sweep.reads ? memory[place_of(sweep, i) & ~sweep.unborn] : sweep.start_scale;
    for (const Birth& birth : sweep.births) v[i] *= birth.factor[i >> birth.bit & 1];
    if ((i & still) != 0) v[i] = 0;
  }
  for (const PlanOp& op : sweep.ops) apply(sweep, op, v);
  std::vector<Complex> after = memory;
  if (everywhere) {
    for (Index i = 0; i < after.size(); ++i) after[i] = v[sweep.above | i];
    return after;
  }
  for (Index i = 0; i < v.size(); ++i) {
    if ((i & still) != 0 || (i & chunk.mask) != chunk.value) continue;
    Index to = i;
    for (const Bit bit : sweep.active) to &= ~bit_mask(bit);
    for (std::size_t j = 0; j < sweep.active.size(); ++j) to |= (i >> sweep.active[j] & 1) << sweep.store[j];
    after[sweep.reach.empty() ? to : place_of(sweep, i)] = v[i];
  }
  return after;
}

Sweep random_sweep(PhiloxSequence& random, const SweepShape& shape) {
  Sweep sweep;
  std::vector<Bit> all(shape.bits);
  std::iota(all.begin(), all.end(), Bit{0});
  sweep.active = sample(random, all, shape.active);
  std::sort(sweep.active.begin(), sweep.active.end());
  sweep.reads = shape.reads;
  if (!shape.reads) sweep.start_scale = std::polar(1.0, random.uniform(0, 7));
  if (shape.births || !shape.reads) add_births(random, shape, sweep);
  // Bits that are unborn afterwards keep their place and are no target.
  const Index still = unborn_after(sweep);
  std::vector<Bit> movable = shape.permutes ? all : sweep.active;
  std::erase_if(movable, [&](Bit bit) { return test_bit(still, bit); });
  std::vector<Bit> moved = random.below(2) == 0 ? movable : sample(random, movable, movable.size());
  sweep.store = sweep.active;
  for (Bit& bit : sweep.store) {
    const auto at = std::find(movable.begin(), movable.end(), bit);
    if (at != movable.end()) bit = moved[static_cast<std::size_t>(at - movable.begin())];
  }
  if (shape.reach) {
    sweep.store = sweep.active;
    add_reach(random, shape, sweep);
  }
  if (shape.permutes) {
    // All of the shard, or as much as some flips need.
    if (movable.empty()) sweep.unborn &= ~bit_mask(0), movable = {0};
    for (const Bit bit : movable) sweep.bundle |= bit_mask(bit);
    for (Bit bit = 0; bit < shape.global_bits; ++bit) movable.push_back(static_cast<Bit>(shape.bits + bit));
    sweep.above = random.below(bit_mask(shape.global_bits)) << shape.bits;
    if (shape.reads && random.below(2) == 0) {
      const std::vector<Bit> some = sample(random, movable, 1 + random.below(movable.size()));
      sweep.bundle = 0;
      for (const Bit bit : some) sweep.bundle |= bit_mask(bit);
      movable = sample(random, some, 1 + random.below(some.size()));
    }
  }
  for (std::uint32_t j = 0; j < shape.operations; ++j) add_operation(random, shape, movable, sweep);
  return sweep;
}

std::vector<Complex> random_state(PhiloxSequence& random, std::uint32_t bits) {
  std::vector<Complex> v(bit_mask(bits));
  double norm = 0;
  for (Complex& a : v) {
    const auto [re, im] = random.gaussian_pair();
    a = Complex(re, im);
    norm += std::norm(a);
  }
  for (Complex& a : v) a /= std::sqrt(norm);
  return v;
}

std::vector<Complex> random_unitary(PhiloxSequence& random, std::size_t order) {
  std::vector<Complex> m(order * order);
  for (std::size_t row = 0; row < order; ++row) {
    Complex* const r = m.data() + row * order;
    for (std::size_t c = 0; c < order; ++c) {
      const auto [re, im] = random.gaussian_pair();
      r[c] = Complex(re, im);
    }
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough
      for (std::size_t other = 0; other < row; ++other) {
        const Complex* const o = m.data() + other * order;
        Complex overlap = 0;
        for (std::size_t c = 0; c < order; ++c) overlap += std::conj(o[c]) * r[c];
        for (std::size_t c = 0; c < order; ++c) r[c] -= overlap * o[c];
      }
    }
    double norm = 0;
    for (std::size_t c = 0; c < order; ++c) norm += std::norm(r[c]);
    for (std::size_t c = 0; c < order; ++c) r[c] /= std::sqrt(norm);
  }
  return m;
}

}  // namespace qsim::test
