// Geometry of a tile, then its epochs one by one.
#include "cuda/program/lower.h"

#include <algorithm>

#include "base/bits.h"
#include "cuda/program/items.h"
#include "cuda/program/phases.h"
#include "cuda/program/schedule.h"
#include "cuda/tile/addresses.h"
#include "cuda/tile/work.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr int kWarpBits = 5;
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
  Lowering(const Sweep& sweep, const LowerOptions& options) : sweep_(sweep), options_(options) {}

  TileProgram lower() {
    program_.precision = options_.precision;
    program_.register_bits = options_.register_bits;
    program_.reads = sweep_.reads;
    program_.sums_bits = options_.sums_bits;
    choose_bits();
    set_births();
    const ItemList list = make_items(sweep_, coordinate_of_, options_.canonical, options_.precision);
    ScheduleLimits limits{program_.bits, options_.register_bits, live_coordinates(), low_coordinates(program_.active)};
    const std::vector<EpochPlan> plans = schedule(list, limits);
    for (const EpochPlan& plan : plans) add_epoch(list, plan);
    finish_layout(list.frame);
    order_threads();
    for (std::size_t e = 0; e < plans.size(); ++e) fill_epoch(list, plans[e], program_.epochs[e]);
    set_start_factors();
    multiply(program_, Complex(list.scale));
    return std::move(program_);
  }

 private:
  unsigned line_bits() const { return options_.precision == Precision::kDouble ? 3 : 4; }  // 128 bytes

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
    coordinate_of_.assign(options_.local_bits, -1);
    for (std::size_t i = 0; i < program_.active.size(); ++i) {
      const Bit bit = program_.active[i];
      if (bit == kPhantom || test_bit(unborn_after, bit)) program_.dead |= 1u << i;
      if (bit == kPhantom) continue;
      coordinate_of_[bit] = static_cast<int>(i);
      const auto found = std::find(sweep_.active.begin(), sweep_.active.end(), bit);
      if (found != sweep_.active.end()) {
        program_.store[i] = sweep_.store[static_cast<std::size_t>(found - sweep_.active.begin())];
      }
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

  /// Coordinates whose places are neighbours within a memory line.
  Coordinate low_coordinates(const std::vector<Bit>& places) const {
    Coordinate low = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] < line_bits()) low |= 1u << i;
    }
    return low;
  }

  static AffineMap identity_map() {
    AffineMap map;
    for (unsigned i = 0; i < kMaxTileBits; ++i) map.column[i] = 1u << i;
    return map;
  }

  void add_epoch(const ItemList& list, const EpochPlan& plan) {
    Epoch epoch;
    for (std::uint8_t i = 0; i < program_.bits; ++i) (plan.reg >> i & 1 ? epoch.reg : epoch.thread).push_back(i);
    epoch.map = identity_map();
    for (const std::uint32_t index : plan.folded) fold(list.items[index], epoch.map);
    program_.epochs.push_back(std::move(epoch));
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

  /// Coordinates that must be among a warp's lanes for stores of whole lines; all-ones when no choice of lanes will do.
  Coordinate store_lanes(const Epoch& last) const {
    Coordinate lanes = 0;
    for (int i = 0; i < program_.bits; ++i) {
      if (program_.store[static_cast<std::size_t>(i)] >= line_bits() || program_.dead >> i & 1) continue;
      for (int source = 0; source < program_.bits; ++source) {
        const Coordinate column = last.map.column[static_cast<std::size_t>(source)];
        if ((column >> i & 1) == 0) continue;
        if (column != 1u << i) return ~Coordinate{0};
        lanes |= 1u << source;
      }
    }
    return lanes;
  }

  static Coordinate mask_of(const std::vector<std::uint8_t>& coordinates) {
    Coordinate mask = 0;
    for (const std::uint8_t i : coordinates) mask |= 1u << i;
    return mask;
  }

  /// Adds an epoch without work where the last one could not store whole lines.
  void finish_layout(Coordinate frame) {
    const Coordinate lanes = store_lanes(program_.epochs.back());
    Coordinate needed = lanes;
    if (program_.epochs.size() == 1) needed |= low_coordinates(program_.active);
    const bool fits = lanes != ~Coordinate{0} && (mask_of(program_.epochs.back().reg) & lanes) == 0 &&
                      count_bits(needed) <= kWarpBits;
    if (!fits) {
      Epoch epoch;
      const Coordinate low = low_coordinates(program_.store);
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
    }
    program_.epochs.back().map.offset ^= frame;
  }

  /// Lanes first hold what memory accesses need; between, threads keep their warps and lanes meet different banks.
  void order_threads() {
    const auto move_front = [](Epoch& epoch, Coordinate wanted) {
      std::stable_partition(epoch.thread.begin(), epoch.thread.end(), [&](std::uint8_t i) { return wanted >> i & 1; });
    };
    std::vector<Epoch>& epochs = program_.epochs;
    Epoch& last = epochs.back();
    const Coordinate load_lanes = low_coordinates(program_.active), lanes = store_lanes(last);
    std::stable_sort(last.thread.begin(), last.thread.end(),
                     [&](std::uint8_t a, std::uint8_t b) { return program_.store[a] < program_.store[b]; });
    move_front(last, lanes);
    move_front(epochs.front(), load_lanes);
    choose_banks();
    for (std::size_t e = 0; e < epochs.size(); ++e) {
      const Coordinate fixed = (e == 0 ? load_lanes : 0) | (e + 1 == epochs.size() ? lanes : 0);
      choose_warps(e, fixed);
      if (fixed == 0) choose_lanes(epochs[e]);
    }
  }

  /// Different banks for the first epoch's lanes and for the last one's; all banks spread over the other coordinates.
  void choose_banks() {
    const unsigned width = bank_bits(options_.precision), banks = 1u << width;
    std::array<int, 16> used{};
    const auto assign = [&](const Epoch& epoch) {
      std::vector<Coordinate> taken;
      for (unsigned m = 0; m < width; ++m) {
        const std::uint8_t bank = program_.bank[epoch.thread[m]];
        if (bank != 0) taken.push_back(bank);
      }
      for (unsigned m = 0; m < width; ++m) {
        std::uint8_t& bank = program_.bank[epoch.thread[m]];
        for (std::uint8_t trial = 1; bank == 0 && trial < banks; ++trial) {
          taken.push_back(trial);
          if (used[trial] == 0 && independent(taken))
            bank = trial;
          else
            taken.pop_back();
        }
        if (bank != 0) ++used[bank];
      }
    };
    assign(program_.epochs.front());
    assign(program_.epochs.back());
    for (int i = 0; i < program_.bits; ++i) {
      std::uint8_t& bank = program_.bank[static_cast<std::size_t>(i)];
      if (bank != 0) continue;
      bank = static_cast<std::uint8_t>(std::min_element(used.begin() + 1, used.begin() + banks) - used.begin());
      ++used[bank];
    }
  }

  /// Puts at the warps' bits what was there an epoch before, or else what stays with the threads an epoch later.
  void choose_warps(std::size_t e, Coordinate fixed_lanes) {
    std::vector<Epoch>& epochs = program_.epochs;
    std::vector<std::uint8_t>& threads = epochs[e].thread;
    if (threads.size() <= kWarpBits) return;
    const auto warps = static_cast<std::ptrdiff_t>(threads.size() - kWarpBits);
    const auto place = [&](const std::vector<std::uint8_t>& wanted) {
      std::vector<std::uint8_t> order;
      for (const std::uint8_t i : threads) {
        if (std::find(wanted.begin(), wanted.end(), i) == wanted.end()) order.push_back(i);
      }
      order.insert(order.end(), wanted.begin(), wanted.end());
      threads = order;
    };
    if (e > 0) {
      const std::vector<std::uint8_t>& before = epochs[e - 1].thread;
      const std::vector<std::uint8_t> wanted(before.end() - warps, before.end());
      const bool all = std::all_of(wanted.begin(), wanted.end(), [&](std::uint8_t i) {
        return (fixed_lanes >> i & 1) == 0 && std::find(threads.begin(), threads.end(), i) != threads.end();
      });
      if (all) return place(wanted);
    }
    if (e + 1 == epochs.size()) return;
    std::vector<std::uint8_t> wanted;
    const std::vector<std::uint8_t>& after = epochs[e + 1].thread;
    for (const std::uint8_t i : threads) {
      const bool stays = std::find(after.begin(), after.end(), i) != after.end();
      if (stays && (fixed_lanes >> i & 1) == 0 && static_cast<std::ptrdiff_t>(wanted.size()) < warps)
        wanted.push_back(i);
    }
    if (static_cast<std::ptrdiff_t>(wanted.size()) == warps) place(wanted);
  }

  /// Lowest lanes with independent banks, before and after the epoch's permutation where that is possible.
  void choose_lanes(Epoch& epoch) const {
    const unsigned width = bank_bits(options_.precision);
    const auto bank_of = [&](Coordinate v) {
      Coordinate bank = 0;
      for (int i = 0; i < program_.bits; ++i) {
        if (v >> i & 1) bank ^= program_.bank[static_cast<std::size_t>(i)];
      }
      return bank;
    };
    std::vector<Coordinate> read, write;
    unsigned chosen = 0;
    for (std::size_t i = 0; i < kWarpBits && i < epoch.thread.size() && chosen < width; ++i) {
      read.push_back(bank_of(1u << epoch.thread[i]));
      write.push_back(bank_of(epoch.map.column[epoch.thread[i]]));
      if (independent(read) && independent(write)) {
        std::rotate(epoch.thread.begin() + chosen, epoch.thread.begin() + static_cast<std::ptrdiff_t>(i),
                    epoch.thread.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        ++chosen;
      } else {
        read.pop_back();
        write.pop_back();
      }
    }
  }

  void fill_epoch(const ItemList& list, const EpochPlan& plan, Epoch& epoch) {
    for (const std::vector<std::uint32_t>& step : plan.steps) {
      if (list.items[step.front()].kind == Item::Kind::kTerm) {
        std::vector<Term> terms;
        for (const std::uint32_t index : step) terms.push_back(list.items[index].term);
        lower_phases(terms, program_, epoch);
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
      if (op.slots[0] > op.slots[1]) swap_matrix_bits(op);
    }
    epoch.ops.push_back(std::move(op));
  }

  static void swap_matrix_bits(TileOp& op) {
    std::swap(op.slots[0], op.slots[1]);
    const std::vector<Complex> old = op.matrix;
    constexpr std::size_t kSwapped[4] = {0, 2, 1, 3};
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t c = 0; c < 4; ++c) op.matrix[r * 4 + c] = old[kSwapped[r] * 4 + kSwapped[c]];
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
    program_.start_table = static_cast<int>(program_.tables.size());
    program_.tables.push_back(std::move(table));
  }

  const Sweep& sweep_;
  const LowerOptions& options_;
  TileProgram program_;
  std::vector<int> coordinate_of_;
};

}  // namespace

TileProgram lower_sweep(const Sweep& sweep, const LowerOptions& options) {
  TileProgram program = Lowering(sweep, options).lower();
  const bool blocks = std::any_of(sweep.ops.begin(), sweep.ops.end(), [](const PlanOp& op) {
    return op.form == Form::kMatrix && op.target_count == 2 && op.control_mask == 0;
  });
  if (!options.canonical || !blocks) return program;
  LowerOptions as_they_are = options;
  as_they_are.canonical = false;
  TileProgram other = Lowering(sweep, as_they_are).lower();
  return work_of(other) < work_of(program) ? other : program;
}

}  // namespace qsim::cuda
