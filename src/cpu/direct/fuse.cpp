#include "cpu/direct/fuse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/numbers/complex.h"

namespace qsim::cpu {
namespace {

/// A matrix on one or two bits, row-major; bit j of its index is bits[j], the lower one first.
struct Small {
  std::array<Bit, 2> bits{};
  unsigned count = 0;
  std::array<Complex, 16> entries{};

  Index order() const { return bit_mask(count); }
  Index mask() const { return bit_mask(bits[0]) | bit_mask(bits[count - 1]); }
  Complex& at(Index row, Index column) { return entries[row * order() + column]; }
  const Complex& at(Index row, Index column) const { return entries[row * order() + column]; }

  static Small identity(Index mask) {
    Small made;
    made.count = count_bits(mask) > 1 ? 2 : 1;
    made.bits = {static_cast<Bit>(std::countr_zero(mask)), static_cast<Bit>(std::bit_width(mask) - 1)};
    for (Index i = 0; i < made.order(); ++i) made.at(i, i) = 1;
    return made;
  }
  /// A mask over the state's bits as one over the index's; others are left out.
  Index local(Index state_mask) const {
    Index found = state_mask >> bits[0] & 1;
    if (count == 2) found |= (state_mask >> bits[1] & 1) << 1;
    return found;
  }
  std::span<const Complex> matrix() const { return {entries.data(), order() * order()}; }
};

Index support(const Sweep& sweep, const PlanOp& op) {
  Index mask = op.control_mask | op.target_mask();
  if (op.form == Form::kPhases) {
    for (std::uint32_t t = 0; t < op.data_count; ++t) mask |= sweep.phases[op.data_begin + t].mask;
  }
  return mask;
}

/// The operation on the bits that it names, one or two.
Small small_of(const Sweep& sweep, const PlanOp& op) {
  Small made = Small::identity(support(sweep, op));
  const Index control_mask = made.local(op.control_mask), control_value = made.local(op.control_value);
  std::array<Index, 4> offset{};  // of the targets' values in the index
  const Index order = bit_mask(op.target_count);
  for (Index v = 0; v < order; ++v) {
    for (unsigned j = 0; j < op.target_count; ++j) {
      if (test_bit(v, j)) offset[v] |= made.local(bit_mask(op.targets[j]));
    }
  }
  for (Index index = 0; index < made.order(); ++index) {
    if ((index & control_mask) != control_value) continue;
    switch (op.form) {
      case Form::kPhases: {
        double angle = 0;
        for (std::uint32_t t = 0; t < op.data_count; ++t) {
          const PhaseTerm& term = sweep.phases[op.data_begin + t];
          const Index mask = made.local(term.mask);
          if (term.parity ? odd_parity(index & mask) : (index & mask) == mask) angle += term.angle;
        }
        made.at(index, index) = std::polar(1.0, angle);
        break;
      }
      case Form::kFlip:
        made.at(index, index) = 0;
        made.at(index ^ offset[1], index) = 1;
        break;
      case Form::kMatrix: {
        if ((index & offset[order - 1]) != 0) break;
        const Complex* const entries = sweep.matrices.data() + op.data_begin;
        for (Index row = 0; row < order; ++row) {
          for (Index column = 0; column < order; ++column)
            made.at(index | offset[row], index | offset[column]) = entries[row * order + column];
        }
        break;
      }
    }
  }
  return made;
}

/// What `first` becomes when `then`, whose bits are among those of `first`, comes after it.
void multiply(const Small& then, Small& first) {
  const Index order = first.order();
  const Small before = first;
  if (then.count == first.count) {
    for (Index row = 0; row < order; ++row) {
      for (Index column = 0; column < order; ++column) {
        Complex sum = 0;
        for (Index i = 0; i < order; ++i) sum += times(then.at(row, i), before.at(i, column));
        first.at(row, column) = sum;
      }
    }
    return;
  }
  const Index bit = first.local(bit_mask(then.bits[0]));
  for (Index row = 0; row < order; ++row) {
    const Index mine = (row & bit) != 0 ? 1 : 0, low = row & ~bit, high = row | bit;
    for (Index column = 0; column < order; ++column)
      first.at(row, column) =
          times(then.at(mine, 0), before.at(low, column)) + times(then.at(mine, 1), before.at(high, column));
  }
}

// What a trip costs for each vector of the state: its loads, stores and multiplications.
constexpr double kPair = 12, kRealPair = 8, kQuad = 20, kFlipped = 4, kTurned = 6;

double matrix_cost(std::span<const Complex> entries) {
  if (entries.size() > 4) return kQuad;
  return std::ranges::all_of(entries, [](Complex c) { return c.imag() == 0; }) ? kRealPair : kPair;
}

double cost_of(const Sweep& sweep, const PlanOp& op) {
  const double share = std::ldexp(1.0, -static_cast<int>(count_bits(op.control_mask)));
  switch (op.form) {
    case Form::kFlip:
      return kFlipped * share;
    case Form::kPhases: {
      double cost = 0;
      for (std::uint32_t t = 0; t < op.data_count; ++t) {
        const PhaseTerm& term = sweep.phases[op.data_begin + t];
        cost += kTurned * (term.parity ? 1 : std::ldexp(1.0, -static_cast<int>(count_bits(term.mask))));
      }
      return cost * share;
    }
    case Form::kMatrix:
      return matrix_cost({sweep.matrices.data() + op.data_begin, op.data_count}) * share;
  }
  return 0;
}

class Fuser {
 public:
  explicit Fuser(const Sweep& sweep) : sweep_(sweep), made_(sweep), next_(sweep.ops.size(), kNone) {
    made_.ops.clear();
    open_.fill(kNone);
    blocks_.reserve(sweep.ops.size());
  }

  Sweep run() {
    for (std::uint32_t i = 0; i < sweep_.ops.size(); ++i) add(i);
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) close(block);
    return std::move(made_);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct Block {
    Small product;
    double cost = 0;                            // of its operations one by one
    std::uint32_t first = kNone, last = kNone;  // of them; next_ has those between
    bool is_open = true;

    bool is_alone() const { return first == last; }
  };

  void append(Block& block, std::uint32_t first, std::uint32_t last) {
    (block.first == kNone ? block.first : next_[block.last]) = first;
    block.last = last;
  }

  void add(std::uint32_t number) {
    const PlanOp& op = sweep_.ops[number];
    const Index bits = support(sweep_, op);
    if (bits == 0 || count_bits(bits) > 2) {
      for_each_bit(bits, [&](unsigned bit) { close(open_[bit]); });
      made_.ops.push_back(op);
      return;
    }
    Block& block = blocks_[block_of(bits)];
    multiply(small_of(sweep_, op), block.product);
    block.cost += cost_of(sweep_, op);
    append(block, number, number);
  }

  /// The open block that has all of these one or two bits, made where there is none.
  std::uint32_t block_of(Index bits) {
    const auto low = static_cast<unsigned>(std::countr_zero(bits)),
               high = static_cast<unsigned>(std::bit_width(bits)) - 1;
    const std::uint32_t known = open_[low];
    if (known != kNone && (blocks_[known].product.mask() & bits) == bits) return known;
    // Blocks of one bit become part of the new one, others end.
    Block made;
    made.product = Small::identity(bits);
    for (const unsigned bit : {low, high}) {
      const std::uint32_t one = open_[bit];
      if (one == kNone || !blocks_[one].is_open) continue;
      if (blocks_[one].product.count == 2) {
        close(one);
        continue;
      }
      Block& part = blocks_[one];
      multiply(part.product, made.product);
      made.cost += part.cost;
      append(made, part.first, part.last);
      part.is_open = false;
    }
    const auto number = static_cast<std::uint32_t>(blocks_.size());
    blocks_.push_back(std::move(made));
    open_[low] = open_[high] = number;
    return number;
  }

  void close(std::uint32_t number) {
    if (number == kNone || !std::exchange(blocks_[number].is_open, false)) return;
    const Block& block = blocks_[number];
    for_each_bit(block.product.mask(), [&](unsigned bit) { open_[bit] = kNone; });
    const bool pair = block.product.count == 1;
    const std::span<const Complex> entries = block.product.matrix();
    if (block.is_alone() || block.cost <= matrix_cost(entries)) {
      for (std::uint32_t op = block.first; op != kNone; op = next_[op]) made_.ops.push_back(sweep_.ops[op]);
      return;
    }
    PlanOp op;
    op.form = Form::kMatrix;
    op.target_count = static_cast<std::uint8_t>(block.product.count);
    op.targets[0] = block.product.bits[0];
    op.targets[1] = pair ? Bit{0} : block.product.bits[1];
    op.data_begin = static_cast<std::uint32_t>(made_.matrices.size());
    op.data_count = static_cast<std::uint32_t>(entries.size());
    made_.matrices.insert(made_.matrices.end(), entries.begin(), entries.end());
    made_.ops.push_back(op);
  }

  const Sweep& sweep_;
  Sweep made_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t> next_;       // of each operation, the one after it in its block
  std::array<std::uint32_t, 64> open_{};  // of each bit, the block that waits on it
};

}  // namespace

Sweep fused(const Sweep& sweep) { return Fuser(sweep).run(); }

}  // namespace qsim::cpu
