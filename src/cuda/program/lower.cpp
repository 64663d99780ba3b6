// Geometry of a tile, then its epochs one by one.
#include "cuda/program/lower.h"

#include <algorithm>
#include <optional>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "cuda/program/items.h"
#include "cuda/program/phases.h"
#include "cuda/program/schedule.h"
#include "cuda/program/thread_order.h"
#include "cuda/tile/addresses.h"
#include "cuda/tile/work.h"
#include "kernels/cuda/sweep.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr int kTilesBits = 9;  // as many tiles (2^this) as keep a large GPU busy come before larger tiles

Index active_mask(const std::vector<Bit>& bits) {
  Index mask = 0;
  for (const Bit bit : bits) {
    if (bit != kPhantom) mask |= bit_mask(bit);
  }
  return mask;
}

class Lowering {
 public:
  Lowering(const Sweep& sweep, const LowerOptions& options, Blocks blocks, std::uint32_t trial)
      : sweep_(sweep), options_(options), blocks_(blocks), trial_(trial) {}

  /// `items`: of these blocks; made where there are none yet.
  TileProgram lower(std::optional<ItemList>& items) {
    program_.precision = options_.precision;
    program_.register_bits = options_.register_bits;
    program_.reads = sweep_.reads;
    program_.sums_bits = options_.sums_bits;
    program_.open = is_open(sweep_);
    program_.light = blocks_ == Blocks::kLight;
    program_.choice = {static_cast<std::uint8_t>(blocks_), trial_};
    choose_bits();
    set_births();
    if (!items) items = make_items(sweep_, coordinate_of_, blocks_, options_.precision);
    const ItemList& list = *items;
    ScheduleLimits limits{program_.bits, options_.register_bits, live_coordinates(),
                          low_coordinates(program_, program_.active), low_coordinates(program_, program_.store)};
    limits.trial = trial_;
    limits.lane_blocks =
        blocks_ == Blocks::kLanes && static_cast<int>(count_bits(limits.usable)) >= options_.register_bits + kLanePair;
    program_.wide = options_.lanes && std::ranges::any_of(sweep_.ops, [](const PlanOp& op) {
                      return op.form == Form::kMatrix && op.target_count == 3;
                    });
    if (program_.wide) limits.in_registers = 2;
    const std::vector<EpochPlan> plans = schedule(list, limits);
    for (const EpochPlan& plan : plans) add_epoch(list, plan);
    finish_layout(list.frame);
    order_threads(program_, lanes_);
    for (std::size_t e = 0; e < plans.size(); ++e) fill_epoch(list, plans[e], program_.epochs[e]);
    split_tile_factors(program_, options_.angle_share);
    set_start_factors();
    multiply(program_, Complex(list.scale));
    return std::move(program_);
  }

 private:
  /// The plan's active bits, more bits where tiles would be small, phantoms where there are too few.
  void choose_bits() {
    Index births = 0;
    for (const Birth& birth : sweep_.births) births |= bit_mask(birth.bit);
    const Index unborn_after = sweep_.unborn & ~births;
    const Index planned = active_mask(sweep_.active);
    const Index born = low_mask(options_.local_bits) & ~unborn_after;
    Index spare = born & ~planned & ~options_.outside;
    const int total = static_cast<int>(count_bits(born & ~options_.outside));
    const int least = options_.register_bits + kWarpBits;
    int wanted = std::clamp(total - kTilesBits, least, options_.max_bits);
    Index active = planned;
    for (; static_cast<int>(count_bits(active)) < wanted && spare != 0; spare &= spare - 1) {
      active |= spare & (~spare + 1);
    }
    if (static_cast<int>(count_bits(active)) > options_.max_bits) {
      throw UsageError("a sweep has " + std::to_string(count_bits(active)) +
                       " active bits; this GPU backend's tiles have at most " + std::to_string(options_.max_bits) +
                       ": plan with `tile_bits` " + std::to_string(options_.max_bits) + " or less");
    }
    for_each_bit(active, [&](unsigned bit) { program_.active.push_back(static_cast<Bit>(bit)); });
    program_.tile_bits = born & ~active;
    while (static_cast<int>(program_.active.size()) < least) program_.active.push_back(kPhantom);
    program_.bits = static_cast<int>(program_.active.size());
    program_.store = program_.active;
    if (!sweep_.reach.empty()) program_.reach.resize(program_.active.size());
    coordinate_of_.assign(options_.local_bits, -1);
    for (std::size_t i = 0; i < program_.active.size(); ++i) {
      const Bit bit = program_.active[i];
      if (bit == kPhantom || test_bit(unborn_after, bit)) program_.dead |= 1u << i;
      if (bit == kPhantom) continue;
      coordinate_of_[bit] = static_cast<int>(i);
      const auto found = std::find(sweep_.active.begin(), sweep_.active.end(), bit);
      const auto at = static_cast<std::size_t>(found - sweep_.active.begin());
      if (found != sweep_.active.end()) program_.store[i] = sweep_.store[at];
      if (!sweep_.reach.empty()) program_.reach[i] = found != sweep_.active.end() ? sweep_.reach[at] : bit_mask(bit);
    }
  }

  void set_births() {
    for (const Birth& birth : sweep_.births) {
      const int coordinate = coordinate_of_[birth.bit];
      if (coordinate >= 0)
        program_.births |= 1u << coordinate;
      else if (sweep_.reads)
        program_.zero_tiles |= bit_mask(birth.bit);
      else
        program_.start_tile.push_back(birth);
    }
  }

  Coordinate live_coordinates() const {
    Coordinate live = static_cast<Coordinate>(low_mask(static_cast<unsigned>(program_.bits))) & ~program_.dead;
    for (int i = program_.bits - 1; static_cast<int>(count_bits(live)) < options_.register_bits; --i) live |= 1u << i;
    return live;
  }

  static AffineMap identity_map() {
    AffineMap map;
    for (unsigned i = 0; i < kMaxTileBits; ++i) map.column[i] = 1u << i;
    return map;
  }

  void add_epoch(const ItemList& list, const EpochPlan& plan) {
    Epoch epoch;
    if (plan.exchanged) {
      epoch = exchanged(program_.epochs.back(), plan.lanes);
    } else {
      for_each_bit(plan.lanes, [&](unsigned i) { epoch.thread.push_back(static_cast<std::uint8_t>(i)); });
      for (std::uint8_t i = 0; i < program_.bits; ++i) {
        if ((plan.lanes >> i & 1) == 0) (plan.reg >> i & 1 ? epoch.reg : epoch.thread).push_back(i);
      }
    }
    epoch.map = identity_map();
    for (const std::uint32_t index : plan.folded) fold(list.items[index], epoch.map);
    program_.epochs.push_back(std::move(epoch));
    lanes_.push_back(plan.lanes);
  }

  /// Places of an epoch that has `lanes` on the lowest lanes; what was there goes to their registers.
  static Epoch exchanged(const Epoch& before, Coordinate lanes) {
    Epoch epoch;
    epoch.reg = before.reg;
    epoch.thread = before.thread;
    epoch.exchanged = true;
    for (int b = 0; b < kLanePair; ++b) {
      std::uint8_t& place = epoch.thread[static_cast<std::size_t>(b)];
      if (lanes >> place & 1) continue;
      std::swap(place,
                *std::find_if(epoch.reg.begin(), epoch.reg.end(), [&](std::uint8_t i) { return lanes >> i & 1; }));
    }
    return epoch;
  }

  /// v_target ^= control, after what the map already does.
  static void fold(const Item& flip, AffineMap& map) {
    const unsigned target = flip.targets[0];
    if (flip.control_mask == 0) {
      map.guarded.emplace_back(flip.guard, 1u << target);
      return;
    }
    const unsigned control = log2_exact(flip.control_mask);
    for (Coordinate& column : map.column) column ^= (column >> control & 1u) << target;
    map.offset ^= (map.offset >> control & 1u) << target;
    for (auto& [guard, offset] : map.guarded) offset ^= (offset >> control & 1u) << target;
    if (flip.control_value == 0) map.offset ^= 1u << target;
  }

  static Coordinate mask_of(const std::vector<std::uint8_t>& coordinates) {
    Coordinate mask = 0;
    for (const std::uint8_t i : coordinates) mask |= 1u << i;
    return mask;
  }

  /// Adds an epoch without work that brings `wanted` from registers to lanes by an exchange; false where none does.
  bool exchange_for_stores(Coordinate wanted) {
    const Epoch& last = program_.epochs.back();
    const Coordinate held = lanes_.back(), missing = wanted & mask_of(last.reg);
    if (wanted == ~Coordinate{0} || held == 0 || !last.map.identity() || count_bits(missing) > kLanePair) return false;
    // Those that stay: of the two on lanes first what is wanted there.
    Coordinate lanes = missing;
    for (const Coordinate from : {held & wanted, held & ~wanted}) {
      for_each_bit(from, [&](unsigned i) {
        if (count_bits(lanes) < kLanePair) lanes |= 1u << i;
      });
    }
    Coordinate others = wanted & ~lanes;
    if ((others & held) != 0) return false;
    if (head_of(program_, program_.epochs.size() - 1) == 0)
      others |= low_coordinates(program_, program_.active) & ~lanes_[0];
    if (static_cast<int>(count_bits(others)) > kWarpBits - kLanePair) return false;
    program_.epochs.push_back(exchanged(last, lanes));
    program_.epochs.back().map = identity_map();
    lanes_.push_back(lanes);
    return true;
  }

  /// Adds an epoch without work where the last one could not store whole lines.
  void finish_layout(Coordinate frame) {
    const std::size_t last = program_.epochs.size() - 1;
    const Coordinate lanes = store_lanes(program_);
    Coordinate needed = lanes & ~lanes_[last];
    if (head_of(program_, last) == 0) needed |= low_coordinates(program_, program_.active) & ~lanes_[0];
    const bool fits = lanes != ~Coordinate{0} && (mask_of(program_.epochs[last].reg) & lanes) == 0 &&
                      static_cast<int>(count_bits(needed)) <= kWarpBits - (lanes_[last] == 0 ? 0 : kLanePair);
    if (!fits && !exchange_for_stores(lanes)) {
      Epoch epoch;
      const Coordinate low = low_coordinates(program_, program_.store);
      Coordinate candidates = live_coordinates() & ~low;
      for (int i = program_.bits - 1; count_bits(candidates) < static_cast<unsigned>(options_.register_bits); --i) {
        candidates |= 1u << i;
      }
      Coordinate reg = 0;
      for (int i = program_.bits - 1; count_bits(reg) < static_cast<unsigned>(options_.register_bits); --i) {
        reg |= candidates & 1u << i;
      }
      for (std::uint8_t i = 0; i < program_.bits; ++i) (reg >> i & 1 ? epoch.reg : epoch.thread).push_back(i);
      epoch.map = identity_map();
      program_.epochs.push_back(std::move(epoch));
      lanes_.push_back(0);
    }
    program_.epochs.back().map.offset ^= frame;
  }

  void fill_epoch(const ItemList& list, const EpochPlan& plan, Epoch& epoch) {
    for (const std::vector<std::uint32_t>& step : plan.steps) {
      if (list.items[step.front()].kind == Item::Kind::kTerm) {
        std::vector<Term> terms;
        for (const std::uint32_t index : step) terms.push_back(list.items[index].term);
        lower_phases(terms, options_.lookups, program_, epoch);
        continue;
      }
      TileOp layer;
      layer.kind = TileOpKind::kRotate;
      bool any = false;
      for (const std::uint32_t index : step) {
        const Item& item = list.items[index];
        if (item.kind != Item::Kind::kRotate) continue;
        const std::size_t slot = slot_of(epoch, item.targets[0]);
        layer.rotation[slot] = item.rotation;
        layer.tangent[slot] = item.tangent;
        if (item.open) layer.open |= 1u << slot;
        any = true;
      }
      if (any) epoch.ops.push_back(layer);
      for (const std::uint32_t index : step) {
        if (list.items[index].kind != Item::Kind::kRotate) add_matrix(list.items[index], epoch);
      }
    }
  }

  static std::size_t slot_of(const Epoch& epoch, std::uint8_t coordinate) {
    const auto found = std::find(epoch.reg.begin(), epoch.reg.end(), coordinate);
    if (found == epoch.reg.end()) throw Error("coordinate is not in a register");
    return static_cast<std::size_t>(found - epoch.reg.begin());
  }

  void add_matrix(const Item& item, Epoch& epoch) const {
    TileOp op;
    op.guard = item.guard;
    if (item.targets.size() == 2 && (mask_of(epoch.reg) & item.moves) == 0) {
      op.kind = TileOpKind::kLanes;
      op.matrix = item.matrix;
      if (epoch.thread[0] != item.targets[0]) swap_matrix_bits(op.matrix);
      epoch.ops.push_back(std::move(op));
      return;
    }
    if (item.targets.size() > 2) {
      op.kind = TileOpKind::kDense;
      op.targets = item.targets;
      op.matrix = item.matrix;
      op.control_mask = item.control_mask;
      op.control_value = item.control_value;
      epoch.ops.push_back(std::move(op));
      return;
    }
    std::uint32_t target_slots = 0, control_slots = 0, control_bits = 0;
    for (std::size_t j = 0; j < epoch.reg.size(); ++j) {
      control_slots |= (item.control_mask >> epoch.reg[j] & 1u) << j;
      control_bits |= (item.control_value >> epoch.reg[j] & 1u) << j;
    }
    for (std::size_t i = 0; i < epoch.thread.size(); ++i) {
      op.thread_mask |= (item.control_mask >> epoch.thread[i] & 1u) << i;
      op.thread_value |= (item.control_value >> epoch.thread[i] & 1u) << i;
    }
    for (const std::uint8_t target : item.targets) target_slots |= 1u << slot_of(epoch, target);
    for (std::uint32_t j = 0; j < 1u << epoch.reg.size(); ++j) {
      if ((j & target_slots) == 0 && (j & control_slots) == control_bits) op.set |= 1u << j;
    }
    const auto first = static_cast<std::uint8_t>(slot_of(epoch, item.targets[0]));
    op.slots[0] = first;
    op.matrix = item.matrix;
    op.kind = item.kind == Item::Kind::kFlip ? TileOpKind::kSwap : TileOpKind::kMatrix1;
    if (item.targets.size() == 2) {
      op.kind = TileOpKind::kMatrix2;
      op.slots[1] = static_cast<std::uint8_t>(slot_of(epoch, item.targets[1]));
      if (op.slots[0] > op.slots[1]) {
        std::swap(op.slots[0], op.slots[1]);
        swap_matrix_bits(op.matrix);
      }
    }
    epoch.ops.push_back(std::move(op));
  }

  static void swap_matrix_bits(std::vector<Complex>& matrix) {
    const std::vector<Complex> old = matrix;
    constexpr std::size_t kSwapped[4] = {0, 2, 1, 3};
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 4; ++c) matrix[r * 4 + c] = old[kSwapped[r] * 4 + kSwapped[c]];
    }
  }

  /// Factors of the births inside the tile, by the first epoch's threads and registers.
  void set_start_factors() {
    const Epoch& first = program_.epochs.front();
    for (auto& slot : program_.start_register) slot = {Complex(1), Complex(1)};
    program_.start_scaled = !sweep_.reads || program_.births != 0;
    if (!sweep_.reads) program_.start_constant = sweep_.start_scale;
    if (program_.births == 0) return;
    std::vector<Complex> table(std::size_t{1} << first.thread.size(), Complex(1));
    bool by_thread = false;
    for (const Birth& birth : sweep_.births) {
      const int coordinate = coordinate_of_[birth.bit];
      if (coordinate < 0) continue;
      const auto slot = std::find(first.reg.begin(), first.reg.end(), coordinate);
      if (slot != first.reg.end()) {
        program_.start_register[static_cast<std::size_t>(slot - first.reg.begin())] = birth.factor;
        continue;
      }
      const auto bit = std::find(first.thread.begin(), first.thread.end(), coordinate) - first.thread.begin();
      for (std::size_t t = 0; t < table.size(); ++t) table[t] *= birth.factor[t >> bit & 1];
      by_thread = true;
    }
    if (!by_thread) return;
    constexpr std::size_t kLanes = std::size_t{1} << kWarpBits;
    bool separable = table.size() > kLanes;
    for (std::size_t t = 0; t < table.size() && separable; ++t)
      separable = is_tiny(table[t] - table[t % kLanes] * table[t - t % kLanes]);
    program_.start_table = static_cast<int>(program_.tables.size());
    program_.tables.push_back(std::move(table));
    program_.separable.push_back(separable);
  }

  const Sweep& sweep_;
  const LowerOptions& options_;
  const Blocks blocks_;
  const std::uint32_t trial_;
  TileProgram program_;
  std::vector<int> coordinate_of_;
  std::vector<Coordinate> lanes_;  // of each epoch: what the schedule wants on its lowest lanes
};

}  // namespace

// Sweeps of blocks take 0.63 to 0.71 of the work on lanes. Sweeps with a few blocks among other steps took longer than
// counted there: 77 to 97 % of the work, 2 to 6 % more time.
constexpr double kLanesWorth = 0.76;

LowerOptions lower_options(std::uint32_t local_bits, Precision precision) {
  LowerOptions options;
  options.precision = precision;
  options.local_bits = local_bits;
  options.register_bits = precision == Precision::kDouble ? register_bits(double{}) : register_bits(float{});
  options.max_bits = options.register_bits + kMaxThreadBits;
  return options;
}

LowerOptions kernel_options(std::uint32_t local_bits, Precision precision) {
  LowerOptions options = lower_options(local_bits, precision);
  options.canonical = options.lookups = true;
  options.angle_share = std::size_t{1} << kWarpBits;
  options.lanes = precision == Precision::kDouble;
  return options;
}

TileProgram lower_sweep(const Sweep& sweep, const LowerOptions& options) {
  std::optional<ItemList> items;
  if (options.choice) {
    return Lowering(sweep, options, static_cast<Blocks>(options.choice->blocks), options.choice->trial).lower(items);
  }
  const bool any_blocks = std::any_of(sweep.ops.begin(), sweep.ops.end(), [](const PlanOp& op) {
    return op.form == Form::kMatrix && op.target_count == 2 && op.control_mask == 0;
  });
  Blocks form = Blocks::kWhole;
  TileProgram best = Lowering(sweep, options, form, 0).lower(items);
  const auto try_form = [&](Blocks blocks, double worth) {
    std::optional<ItemList> own;
    TileProgram program = Lowering(sweep, options, blocks, 0).lower(own);
    if (work_of(program) >= worth * work_of(best)) return;
    best = std::move(program);
    form = blocks;
    items = std::move(own);
  };
  if (any_blocks && options.canonical) try_form(Blocks::kCanonical, 1);
  if (any_blocks && options.lanes) try_form(Blocks::kLanes, kLanesWorth);
  if (any_blocks && options.canonical) try_form(Blocks::kLight, 1);
  for (std::uint32_t trial = 1; trial < options.trials; ++trial) {
    TileProgram program = Lowering(sweep, options, form, trial).lower(items);
    if (work_of(program) < work_of(best)) best = std::move(program);
  }
  return best;
}

}  // namespace qsim::cuda
