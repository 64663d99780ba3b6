// A block's price by the numbers in it, and by what its neighbours take where they stay beside it.
#include "cuda/program/blocks.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "cuda/factor/gauge.h"
#include "cuda/factor/light_pair.h"
#include "cuda/tile/work.h"

namespace qsim::cuda {
namespace {

constexpr double kTermNumbers = 1;  // of a matrix on two targets, that a phase beside it may save

/// A dense block of two or three targets that is done everywhere.
bool is_block(const Item& item) {
  return item.kind == Item::Kind::kMatrix && (item.targets.size() == 2 || item.targets.size() == 3) &&
         item.control_mask == 0 && item.guard.always();
}

/// What acts within the block's targets alone.
bool fits(const Item& item, const Item& block) {
  if (((item.moves | item.looks) & ~block.moves) != 0) return false;
  if (item.kind == Item::Kind::kTerm) return item.term.tile_mask == 0 && item.term.tile_parity == 0;
  if (item.kind == Item::Kind::kRotate) return true;
  return item.kind == Item::Kind::kMatrix && item.targets.size() == 1 && item.control_mask == 0 && item.guard.always();
}

/// Entry of the item's operator between coordinates r and c of the block's targets.
Complex entry(const Item& item, const Item& block, std::size_t r, std::size_t c) {
  const auto spread = [&](std::size_t value) {
    Coordinate v = 0;
    for (std::size_t t = 0; t < block.targets.size(); ++t)
      v |= static_cast<Coordinate>(value >> t & 1) << block.targets[t];
    return v;
  };
  const Coordinate row = spread(r), column = spread(c);
  if (((row ^ column) & ~item.moves) != 0) return 0;
  if (item.kind == Item::Kind::kTerm) {
    const Term& term = item.term;
    const bool holds = (row & term.mask) == term.value && (!term.has_parity || odd_parity(row & term.parity));
    return holds ? std::polar(1.0, term.angle) : Complex(1);
  }
  const unsigned target = item.targets[0];
  const std::size_t at = (row >> target & 1) * 2 + (column >> target & 1);
  if (item.kind == Item::Kind::kMatrix) return item.matrix[at];
  return rotation_matrix(item.rotation, item.tangent)[at] / std::hypot(1.0, item.tangent);
}

std::vector<Complex> product_with(const Item& block, const Item& item, bool after) {
  const std::size_t order = std::size_t{1} << block.targets.size();
  std::vector<Complex> product(order * order);
  for (std::size_t r = 0; r < order; ++r) {
    for (std::size_t c = 0; c < order; ++c) {
      Complex sum = 0;
      for (std::size_t k = 0; k < order; ++k) {
        sum += after ? entry(item, block, r, k) * block.matrix[k * order + c]
                     : block.matrix[r * order + k] * entry(item, block, k, c);
      }
      product[r * order + c] = sum;
    }
  }
  return product;
}

/// Numbers of a block that its neighbour takes by itself.
double saved_by(const Item& item) {
  if (item.kind == Item::Kind::kRotate) return kRotationNumbers;
  return item.kind == Item::Kind::kMatrix ? 2 * matrix_numbers(item.matrix, 2) : kTermNumbers;
}

/// What a block takes in next.
class Neighbours {
 public:
  Neighbours(ItemList& list, Blocks blocks) : list_(list), blocks_(blocks), gone_(list.items.size(), false) {}

  void run() {
    std::vector<Item>& items = list_.items;
    for (std::size_t b = 0; b < items.size(); ++b) {
      if (!is_block(items[b])) continue;
      const bool light = blocks_ == Blocks::kLight && is_pair_block(items[b]);
      if (light) weight_ = light_parts(items[b].matrix, true).weight;
      moved_ = looked_ = 0;
      for (std::size_t i = b + 1; i < items.size() && (items[b].moves & ~moved_) != 0; ++i) visit(b, i, true, light);
      moved_ = looked_ = 0;
      for (std::size_t i = b; i-- > 0 && (items[b].moves & ~moved_) != 0;) visit(b, i, false, light);
    }
    std::vector<Item> kept;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!gone_[i]) kept.push_back(std::move(items[i]));
    }
    items = std::move(kept);
  }

 private:
  bool free(const Item& item) const { return (item.moves & (moved_ | looked_)) == 0 && (item.looks & moved_) == 0; }

  void visit(std::size_t b, std::size_t i, bool after, bool light) {
    if (gone_[i]) return;
    Item& block = list_.items[b];
    const Item& item = list_.items[i];
    if (fits(item, block) && free(item) && (!light || pays(block, item, after))) {
      take_in(list_, block, item, after);
      gone_[i] = true;
      return;
    }
    moved_ |= item.moves;
    looked_ |= item.looks;
  }

  bool pays(const Item& block, const Item& item, bool after) {
    const double weight = light_parts(product_with(block, item, after), true).weight;
    if (weight > weight_ + saved_by(item)) return false;
    weight_ = weight;
    return true;
  }

  ItemList& list_;
  const Blocks blocks_;
  std::vector<bool> gone_;
  Coordinate moved_ = 0, looked_ = 0;  // by what stays between the block and the item
  double weight_ = 0;                  // of a light block
};

/// diag(phases), bit 0 of whose index is coordinate `a`.
void add_pair_phases(ItemList& list, unsigned a, unsigned b, const std::array<Complex, 4>& phases) {
  list.scale *= std::complex<long double>(phases[0]);
  add_bit_phase(list, a, phases[1] / phases[0]);
  add_bit_phase(list, b, phases[2] / phases[0]);
  add_both_phase(list, a, b, std::arg(phases[3] * phases[0] / (phases[1] * phases[2])));
}

/// The block as its lightest parts; one that lanes could do, where `full` ones have parts.
void add_block(ItemList& list, Item item, bool columns, bool full) {
  std::optional<SidePhases> parts;
  if (full || !item.lane_block()) parts = light_parts(item.matrix, columns).sides;
  if (!parts) {
    list.items.push_back(std::move(item));
    return;
  }
  const unsigned a = item.targets[0], b = item.targets[1];
  long double norm = 0;
  for (const Complex entry : parts->matrix) norm += std::norm(std::complex<long double>(entry));
  norm = std::sqrt(norm / 4);
  list.scale *= scale_beside(parts->scale, norm, norm);
  add_pair_phases(list, a, b, parts->columns);
  item.matrix = parts->matrix;
  list.items.push_back(std::move(item));
  add_pair_phases(list, a, b, parts->rows);
}

}  // namespace

bool is_pair_block(const Item& item) { return is_block(item) && item.targets.size() == 2; }

void take_in_neighbours(ItemList& list, Blocks blocks) { Neighbours(list, blocks).run(); }

void take_in(ItemList& list, Item& block, const Item& item, bool after) {
  if (item.kind == Item::Kind::kRotate) list.scale *= std::hypot(1.0L, static_cast<long double>(item.tangent));
  block.matrix = product_with(block, item, after);
  block.open = block.open || item.open;
}

void divide_out(ItemList& list, Blocks blocks, bool full) {
  std::vector<Item> items;
  items.swap(list.items);
  for (Item& item : items) {
    if (!is_pair_block(item)) {
      list.items.push_back(std::move(item));
    } else if (blocks != Blocks::kLight) {
      add_block(list, std::move(item), false, full);
    } else {
      const TurnedPair turned = turned_pair(item.matrix);
      const std::array<std::uint8_t, 2> targets{item.targets[0], item.targets[1]};
      for (std::size_t b = 0; b < 2; ++b) {
        if (turned.right[b]) add_rotation(list, local_item(targets[b], *turned.right[b]));
      }
      item.matrix = turned.matrix;
      add_block(list, std::move(item), true, full);
      for (std::size_t b = 0; b < 2; ++b) {
        if (turned.left[b]) add_rotation(list, local_item(targets[b], *turned.left[b]));
      }
    }
  }
}

Item local_item(std::uint8_t target, const std::array<Complex, 4>& matrix) {
  Item item;
  item.kind = Item::Kind::kMatrix;
  item.targets = {target};
  item.moves = 1u << target;
  item.matrix.assign(matrix.begin(), matrix.end());
  return item;
}

void add_rotation(ItemList& list, Item item) {
  const Gauge gauge = find_gauge(item.matrix);
  if (!recomposes(product_of(gauge), item.matrix)) {
    list.items.push_back(std::move(item));
    return;
  }
  const long double norm = std::hypot(1.0L, static_cast<long double>(gauge.tangent));
  list.scale *= scale_beside(gauge.scale, norm, norm);
  const unsigned target = item.targets[0];
  add_bit_phase(list, target, gauge.pre);
  if (item.open || gauge.tangent != 0 || gauge.rotation >= Rotation::kRealSwap ||
      gauge.rotation == Rotation::kRealMinus) {
    item.kind = Item::Kind::kRotate;
    item.rotation = gauge.rotation;
    item.tangent = gauge.tangent;
    item.matrix.clear();
    list.items.push_back(std::move(item));
  }
  add_bit_phase(list, target, gauge.post);
}

void add_bit_phase(ItemList& list, unsigned coordinate, Complex factor) {
  if (is_one(factor)) return;
  Item item;
  item.kind = Item::Kind::kTerm;
  item.term.mask = item.term.value = item.looks = 1u << coordinate;
  item.term.angle = std::arg(factor);
  list.items.push_back(std::move(item));
}

void add_both_phase(ItemList& list, unsigned a, unsigned b, double angle) {
  if (is_tiny(angle)) return;
  Item item;
  item.kind = Item::Kind::kTerm;
  item.term.mask = item.term.value = item.looks = 1u << a | 1u << b;
  item.term.angle = angle;
  list.items.push_back(std::move(item));
}

}  // namespace qsim::cuda
