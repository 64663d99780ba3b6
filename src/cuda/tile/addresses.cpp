// Columns of linear maps over GF(2).
#include "cuda/tile/addresses.h"

#include <algorithm>

#include "base/bits.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

Index place(Coordinate v, const std::vector<Bit>& bits) {
  Index index = 0;
  for_each_bit(v, [&](unsigned i) {
    if (bits[i] != kPhantom) index |= bit_mask(bits[i]);
  });
  return index;
}

// Where a coordinate lies in memory: at the bits that it flips, or at its place among `bits`.
Index in_memory(Coordinate v, const TileProgram& program, const std::vector<Bit>& bits) {
  if (program.reach.empty()) return place(v, bits);
  Index index = 0;
  for_each_bit(v, [&](unsigned i) { index ^= program.reach[i]; });
  return index;
}

IndexColumns store_columns_at(const TileProgram& program, const auto& place_of) {
  const Epoch& last = program.epochs.back();
  IndexColumns columns;
  for (const std::uint8_t i : last.thread) columns.thread.push_back(place_of(last.map.column[i]));
  for (const std::uint8_t i : last.reg) columns.slot.push_back(place_of(last.map.column[i]));
  columns.offset = place_of(last.map.offset);
  for (const auto& [guard, offset] : last.map.guarded) columns.guarded.emplace_back(guard, place_of(offset));
  return columns;
}

constexpr std::size_t kLaneBits = 5;

/// Whether each thread (`first_bit` 0) or each warp (kLaneBits) stores only to places that it alone has loaded.
bool stores_to_own_places(const TileProgram& program, std::size_t first_bit) {
  const Epoch& first = program.epochs.front();
  const Epoch& last = program.epochs.back();
  Index owners = 0;  // places that tell whose an amplitude is when it is loaded
  for (std::size_t i = first_bit; i < first.thread.size(); ++i) {
    if (program.births >> first.thread[i] & 1) return false;  // several threads read the place of 0
    owners |= place(1u << first.thread[i], program.active);
  }
  // By the active bits, whatever they reach: those tell the places of a tile apart.
  const IndexColumns store = store_columns_at(program, [&](Coordinate v) { return place(v, program.store); });
  for (const Index column : store.slot) {
    if ((column & owners) != 0) return false;
  }
  for (std::size_t i = 0; i < last.thread.size(); ++i) {
    const Index own = i < first_bit ? 0 : place(1u << first.thread[i], program.active);
    if ((store.thread[i] & owners) != own) return false;
  }
  for (const auto& [guard, offset] : store.guarded) {
    if ((offset & owners) != 0) return false;
  }
  return (store.offset & owners) == 0;
}

std::vector<std::pair<std::uint8_t, std::uint8_t>> exchanges_between(const Epoch& from, const Epoch& to) {
  std::vector<std::pair<std::uint8_t, std::uint8_t>> exchanges;
  Epoch trial = from;
  for (std::uint8_t bit = 0; bit < kLanePair; ++bit) {
    if (from.thread[bit] == to.thread[bit]) continue;
    const auto slot = std::find(trial.reg.begin(), trial.reg.end(), to.thread[bit]);
    if (slot == trial.reg.end()) break;
    std::swap(*slot, trial.thread[bit]);
    exchanges.emplace_back(bit, static_cast<std::uint8_t>(slot - trial.reg.begin()));
  }
  if (!from.map.identity() || trial.reg != to.reg || trial.thread != to.thread)
    throw Error("epochs are no exchange of lanes and registers");
  return exchanges;
}

}  // namespace

std::vector<BitRun> runs_of(Index places) {
  std::vector<BitRun> runs;
  unsigned number_bit = 0;
  for_each_bit(places, [&](unsigned bit) {
    const auto shift = static_cast<std::uint8_t>(bit - number_bit);
    if (runs.empty() || runs.back().shift != shift) runs.push_back({0, shift});
    runs.back().mask |= bit_mask(number_bit++);
  });
  return runs;
}

IndexColumns load_columns(const TileProgram& program) {
  const Epoch& first = program.epochs.front();
  const auto column = [&](std::uint8_t i) { return in_memory(1u << i & ~program.births, program, program.active); };
  IndexColumns columns;
  for (const std::uint8_t i : first.thread) columns.thread.push_back(column(i));
  for (const std::uint8_t i : first.reg) columns.slot.push_back(column(i));
  return columns;
}

IndexColumns store_columns(const TileProgram& program) {
  return store_columns_at(program, [&](Coordinate v) { return in_memory(v, program, program.store); });
}

bool independent(const std::vector<Coordinate>& vectors) {
  return linearly_independent({vectors.begin(), vectors.end()});
}

std::vector<Coordinate> place_columns(const TileProgram& program) {
  const unsigned width = bank_bits(program.precision);
  const auto bits = static_cast<unsigned>(program.bits);
  std::vector<Coordinate> rows;
  for (unsigned m = 0; m < width; ++m) {
    Coordinate row = 0;
    for (unsigned i = 0; i < bits; ++i) row |= (program.bank[i] >> m & 1u) << i;
    rows.push_back(row);
  }
  // Unit rows complete the map to an invertible one.
  for (unsigned i = 0; i < bits && rows.size() < bits; ++i) {
    rows.push_back(1u << i);
    if (!independent(rows)) rows.pop_back();
  }
  std::vector<Coordinate> columns(bits);
  for (unsigned i = 0; i < bits; ++i) {
    for (std::size_t r = 0; r < rows.size(); ++r) columns[i] |= (rows[r] >> i & 1u) << r;
  }
  return columns;
}

Regroup regroup_columns(const TileProgram& program, std::size_t e) {
  const Epoch& from = program.epochs[e];
  const Epoch& to = program.epochs[e + 1];
  const std::vector<Coordinate> columns = place_columns(program);
  const auto address = [&](Coordinate v) {
    Coordinate sum = 0;
    for_each_bit(v, [&](unsigned i) { sum ^= columns[i]; });
    return sum;
  };
  Regroup regroup;
  for (const std::uint8_t i : from.thread) regroup.write_thread.push_back(address(from.map.column[i]));
  for (const std::uint8_t i : from.reg) regroup.write_slot.push_back(address(from.map.column[i]));
  for (const std::uint8_t i : to.thread) regroup.read_thread.push_back(address(1u << i));
  for (const std::uint8_t i : to.reg) regroup.read_slot.push_back(address(1u << i));
  regroup.offset = address(from.map.offset);
  for (const auto& [guard, offset] : from.map.guarded) regroup.guarded.emplace_back(guard, address(offset));
  regroup.own_places = from.map.identity();
  regroup.within_warp = regroup.own_places;
  for (std::size_t i = kLaneBits; i < from.thread.size(); ++i) {
    regroup.within_warp = regroup.within_warp && from.thread[i] == to.thread[i];
  }
  if (to.exchanged) regroup.exchanges = exchanges_between(from, to);
  return regroup;
}

StoreWait store_wait(const TileProgram& program) {
  if (!program.reads) return StoreWait::kNone;
  for (std::size_t e = 0; e + 1 < program.epochs.size(); ++e) {
    if (!regroup_columns(program, e).within_warp) return StoreWait::kNone;  // the block has met after its loads
  }
  if (!stores_to_own_places(program, kLaneBits)) return StoreWait::kBlock;
  const bool warps_met = program.epochs.size() > 1;
  return warps_met || stores_to_own_places(program, 0) ? StoreWait::kNone : StoreWait::kWarp;
}

std::uint32_t dead_threads(const TileProgram& program, const Epoch& epoch) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < epoch.thread.size(); ++i) mask |= (program.dead >> epoch.thread[i] & 1u) << i;
  return mask;
}

std::uint32_t dead_registers(const TileProgram& program, const Epoch& epoch) {
  std::uint32_t slots = 0, set = 0;
  for (std::size_t j = 0; j < epoch.reg.size(); ++j) slots |= (program.dead >> epoch.reg[j] & 1u) << j;
  for (std::uint32_t j = 0; j < 1u << epoch.reg.size(); ++j) {
    if ((j & slots) != 0) set |= 1u << j;
  }
  return set;
}

}  // namespace qsim::cuda
