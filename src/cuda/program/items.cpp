// Sweep operations to items: 2x2 unitaries become a scaled rotation between phases, parities and negated controls
// become plain terms, uncontrolled flips move to the end of the sweep.
#include "cuda/program/items.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/bits.h"
#include "base/numbers/bit_products.h"
#include "base/numbers/rounding.h"
#include "cuda/factor/canonical.h"
#include "cuda/factor/gauge.h"
#include "cuda/program/blocks.h"
#include "plan/matrix_forms.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

/// Rotations divide by a cosine of at least 2^-1/2, and so amplitudes grow in the tile. Items on one coordinate keep
/// their order and others need not: each coordinate's share is bounded, so that in no order the 13 of a tile together
/// leave the range of the numbers (2^71 and 2^527). Past the bound an item takes the share in.
double largest_growth(Precision precision) { return precision == Precision::kDouble ? 0x1p40 : 0x1p5; }

class ItemMaker {
 public:
  ItemMaker(const Sweep& sweep, const std::vector<int>& coordinate_of, Precision precision)
      : sweep_(sweep), coordinate_of_(coordinate_of), precision_(precision) {}

  ItemList make(Blocks blocks) {
    read_operations();
    take_in_neighbours(list_, blocks);
    if (blocks == Blocks::kCanonical) decompose();
    // In double lanes are chosen by what whole blocks take as they are.
    divide_out(list_, blocks, blocks == Blocks::kLight || precision_ == Precision::kSingle);
    bound_growth();
    return std::move(list_);
  }

 private:
  void read_operations() {
    for (const PlanOp& op : sweep_.ops) {
      switch (op.form) {
        case Form::kPhases:
          for (std::uint32_t t = 0; t < op.data_count; ++t) {
            is_open_ = sweep_.phases[op.data_begin + t].open != 0;
            add_phase(op, sweep_.phases[op.data_begin + t]);
          }
          is_open_ = false;
          break;
        case Form::kFlip:
          add_flip(op);
          break;
        case Form::kMatrix:
          add_matrix(op);
          break;
      }
    }
    for_each_bit(frame_, [&](unsigned bit) { list_.frame |= 1u << coordinate(bit); });
  }

  /// What the item multiplies the size of the amplitudes by.
  static double growth_of(const Item& item) {
    if (item.kind == Item::Kind::kRotate) return std::hypot(1.0, item.tangent);
    if (item.kind != Item::Kind::kMatrix || item.control_mask != 0 || !item.guard.always()) return 1;
    double norm = 0;
    for (const Complex entry : item.matrix) norm += std::norm(entry);
    return std::sqrt(norm / std::ldexp(1.0, static_cast<int>(item.targets.size())));
  }

  void bound_growth() {
    struct Growth {
      double total = 1, most = 1;  // and what it may be with other numbers
    };
    std::array<Growth, kMaxTileBits> growth;
    for (Item& item : list_.items) {
      const double own = growth_of(item);
      const bool turns = item.open && item.kind == Item::Kind::kRotate;
      if (own == 1 && !turns) continue;
      auto& [total, most] = growth[item.targets[0]];
      total *= own;
      most *= turns ? std::numbers::sqrt2 : own;
      if (most <= largest_growth(precision_)) continue;
      if (item.kind == Item::Kind::kRotate) {
        const std::array<Complex, 4> matrix = rotation_matrix(item.rotation, item.tangent);
        item.kind = Item::Kind::kMatrix;
        item.matrix.assign(matrix.begin(), matrix.end());
      }
      for (Complex& entry : item.matrix) entry /= total;
      list_.scale *= total;
      total = most = 1;
    }
  }

  /// Blocks whose targets both go on into another block become rotations, phases and a sparse matrix; the other block
  /// takes in the local factors to their left.
  void decompose() {
    std::vector<Item> items;
    items.swap(list_.items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      Item& item = items[i];
      if (is_pair_block(item)) {
        for (const std::uint8_t target : item.targets) {
          if (waiting_[target]) take_in(list_, item, *waiting_[target], false);
          waiting_[target].reset();
        }
        if (goes_on(items, i, item.targets[0]) && goes_on(items, i, item.targets[1])) {
          if (const std::optional<Canonical> parts = canonical_form(item.matrix)) {
            add_canonical(item, *parts);
            continue;
          }
        }
      }
      list_.items.push_back(std::move(item));
    }
  }

  /// Whether what comes after item i on the coordinate is a block.
  static bool goes_on(const std::vector<Item>& items, std::size_t i, std::uint8_t coordinate) {
    while (++i < items.size()) {
      if (((items[i].moves | items[i].looks) >> coordinate & 1) != 0) return is_pair_block(items[i]);
    }
    return false;
  }

  void add_canonical(const Item& block, const Canonical& parts) {
    for (std::size_t b = 0; b < 2; ++b) {
      add_rotation(list_, local_item(block.targets[b], parts.right[b]));
      waiting_[block.targets[b]] = local_item(block.targets[b], parts.left[b]);
    }
    list_.scale *= std::complex<long double>(parts.scale * std::polar(1.0, parts.z));
    add_odd_phase(block.targets[0], block.targets[1], -2 * parts.z);
    // Rows 0 and 3 are [c0, i s0; i s0, c0], rows 1 and 2 [c1, i s1; i s1, c1]; the larger cosine is divided out.
    const double minus = parts.x - parts.y, plus = parts.x + parts.y;
    const double divisor = std::max(std::cos(minus), std::cos(plus));
    const auto cleaned = [&](double value) { return is_tiny(value) ? 0.0 : value / divisor; };
    const double c[2] = {cleaned(std::cos(minus)), cleaned(std::cos(plus))};
    const double s[2] = {cleaned(std::sin(minus)), cleaned(std::sin(plus))};
    list_.scale *= divisor;
    if (s[0] == 0 && s[1] == 0) return;  // both cosines are 1 then
    Item item;
    item.kind = Item::Kind::kMatrix;
    item.targets = block.targets;
    item.moves = block.moves;
    item.matrix.assign(16, 0);
    for (std::size_t r = 0; r < 4; ++r) {
      const std::size_t pair = r == 0 || r == 3 ? 0 : 1;
      item.matrix[r * 4 + r] = c[pair];
      item.matrix[r * 4 + (3 - r)] = Complex(0, s[pair]);
    }
    list_.items.push_back(std::move(item));
  }

  /// exp(i angle) where the two coordinates differ.
  void add_odd_phase(unsigned a, unsigned b, double angle) {
    if (is_tiny(angle)) return;
    add_bit_phase(list_, a, std::polar(1.0, angle));
    add_bit_phase(list_, b, std::polar(1.0, angle));
    add_both_phase(list_, a, b, -2 * angle);
  }

  unsigned coordinate(unsigned bit) const {
    const int found = bit < coordinate_of_.size() ? coordinate_of_[bit] : -1;
    if (found < 0) throw Error("sweep acts on bit " + std::to_string(bit) + ", which is not active");
    return static_cast<unsigned>(found);
  }

  /// Splits a mask over index bits into its coordinates and its bits outside the tile.
  void split(Index mask, Coordinate& inside, Index& outside) const {
    inside = 0;
    outside = 0;
    for_each_bit(mask, [&](unsigned bit) {
      if (bit < coordinate_of_.size() && coordinate_of_[bit] >= 0)
        inside |= 1u << coordinate_of_[bit];
      else
        outside |= bit_mask(bit);
    });
  }

  void add_phase(const PlanOp& op, const PhaseTerm& term) {
    const Index control_value = op.control_value ^ (frame_ & op.control_mask);
    if (term.parity) {
      double angle = term.angle;
      if (odd_parity(term.mask & frame_)) {
        add_term(op.control_mask, control_value, 0, angle);
        angle = -angle;
      }
      add_parity(op.control_mask, control_value, term.mask, angle);
      return;
    }
    if (!op.may_meet(term.mask)) return;  // before the frame
    const Index value = control_value | (term.mask & ~frame_);
    add_term(op.control_mask | term.mask, value & (op.control_mask | term.mask), 0, term.angle);
  }

  void add_parity(Index mask, Index value, Index parity, double angle) {
    if (odd_parity(parity & mask & value)) {
      add_term(mask, value, 0, angle);
      angle = -angle;
    }
    parity &= ~mask;
    constexpr unsigned kMostExpanded = 2;
    if (count_bits(parity) > kMostExpanded) return add_term(mask, value, parity, angle);
    for_each_product_of_parity(parity, [&](Index ones, std::int64_t weight) {
      add_term(mask | ones, value | ones, 0, static_cast<double>(weight) * angle);
    });
  }

  void add_term(Index mask, Index value, Index parity, double angle) {
    if (angle == 0) return;
    constexpr unsigned kMostExpanded = 3;
    const Index zeros = mask & ~value;
    if (zeros != 0 && parity == 0 && count_bits(zeros) <= kMostExpanded) {
      for_each_product(mask, value, [&](Index ones, int sign) { add_term(ones, ones, 0, sign * angle); });
      return;
    }
    if (mask == 0 && parity == 0) {
      list_.scale *= std::complex<long double>(std::polar(1.0, angle));
      return;
    }
    Item item;
    item.kind = Item::Kind::kTerm;
    Term& term = item.term;
    Index outside_value = 0;
    split(mask, term.mask, term.tile_mask);
    split(value, term.value, outside_value);
    term.tile_value = outside_value;
    split(parity, term.parity, term.tile_parity);
    term.has_parity = parity != 0;
    term.open = is_open_;
    term.angle = angle;
    item.looks = term.mask | term.parity;
    list_.items.push_back(std::move(item));
  }

  void set_controls(Item& item, const PlanOp& op) const {
    const Index value = op.control_value ^ (frame_ & op.control_mask);
    split(op.control_mask, item.control_mask, item.guard.mask);
    split(value, item.control_value, item.guard.value);
    item.looks = item.control_mask;
  }

  void add_flip(const PlanOp& op) {
    if (op.control_mask == 0) {
      (void)coordinate(op.targets[0]);
      frame_ ^= bit_mask(op.targets[0]);
      return;
    }
    Item item;
    item.kind = Item::Kind::kFlip;
    set_controls(item, op);
    item.targets = {static_cast<std::uint8_t>(coordinate(op.targets[0]))};
    item.moves = 1u << item.targets[0];
    list_.items.push_back(std::move(item));
  }

  void add_matrix(const PlanOp& op) {
    Item item;
    item.kind = Item::Kind::kMatrix;
    set_controls(item, op);
    std::size_t flipped = 0;
    for (std::size_t t = 0; t < op.target_count; ++t) {
      item.targets.push_back(static_cast<std::uint8_t>(coordinate(op.targets[t])));
      item.moves |= 1u << item.targets[t];
      if (test_bit(frame_, op.targets[t])) flipped |= std::size_t{1} << t;
    }
    const std::size_t order = std::size_t{1} << op.target_count;
    item.matrix.resize(order * order);
    for (std::size_t r = 0; r < order; ++r) {
      for (std::size_t c = 0; c < order; ++c) {
        item.matrix[r * order + c] = sweep_.matrices[op.data_begin + (r ^ flipped) * order + (c ^ flipped)];
      }
    }
    item.open = op.open != 0;
    if (op.target_count == 1 && op.control_mask == 0) return add_rotation(list_, std::move(item));
    list_.items.push_back(std::move(item));
  }

  const Sweep& sweep_;
  const std::vector<int>& coordinate_of_;
  const Precision precision_;
  ItemList list_;
  bool is_open_ = false;                                   // the phase that is being read
  Index frame_ = 0;                                        // index bits flipped so far, to be flipped at the end
  std::array<std::optional<Item>, kMaxTileBits> waiting_;  // local factors that no block has taken in yet
};

}  // namespace

bool Item::lane_block() const {
  if (kind != Kind::kMatrix || targets.size() != 2 || control_mask != 0 || !guard.always()) return false;
  constexpr int kFewestNumbers = 21;  // of 32: registers take half an instruction an amplitude for each, lanes ten
  return real_entries(matrix) >= kFewestNumbers;
}

bool Item::foldable() const {
  if (kind != Kind::kFlip) return false;
  const unsigned controls = count_bits(control_mask);
  return controls == 0 || (controls == 1 && guard.always());
}

bool commute(const Item& a, const Item& b) {
  if ((a.moves & b.looks) != 0 || (b.moves & a.looks) != 0) return false;
  return (a.moves & b.moves) == 0 || (a.kind == Item::Kind::kFlip && b.kind == Item::Kind::kFlip);
}

ItemList make_items(const Sweep& sweep, const std::vector<int>& coordinate_of, Blocks blocks, Precision precision) {
  return ItemMaker(sweep, coordinate_of, precision).make(blocks);
}

}  // namespace qsim::cuda
