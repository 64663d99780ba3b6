// Columns of linear maps over GF(2).
#include "cuda/addresses.h"

#include <random>

#include "base/bits.h"

namespace qsim::cuda {
namespace {

Index place(Coordinate v, const std::vector<Bit>& bits) {
  Index index = 0;
  for_each_bit(v, [&](unsigned i) {
    if (bits[i] != kPhantom) index |= bit_mask(bits[i]);
  });
  return index;
}

unsigned rank_of(std::vector<Coordinate> rows) {
  unsigned rank = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] == 0) continue;
    ++rank;
    const Coordinate low = rows[i] & (~rows[i] + 1);
    for (std::size_t k = i + 1; k < rows.size(); ++k) {
      if ((rows[k] & low) != 0) rows[k] ^= rows[i];
    }
  }
  return rank;
}

/// Bank of each vector: bit m = parity of (functional m & vector).
std::vector<Coordinate> banks(const std::vector<Coordinate>& vectors, const std::vector<Coordinate>& functionals) {
  std::vector<Coordinate> result;
  for (const Coordinate v : vectors) {
    Coordinate bank = 0;
    for (std::size_t m = 0; m < functionals.size(); ++m) {
      bank |= static_cast<Coordinate>(odd_parity(v & functionals[m])) << m;
    }
    result.push_back(bank);
  }
  return result;
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
  IndexColumns columns;
  for (const std::uint8_t i : first.thread) columns.thread.push_back(place(1u << i & ~program.births, program.active));
  for (const std::uint8_t i : first.reg) columns.slot.push_back(place(1u << i & ~program.births, program.active));
  return columns;
}

IndexColumns store_columns(const TileProgram& program) {
  const Epoch& last = program.epochs.back();
  IndexColumns columns;
  for (const std::uint8_t i : last.thread) columns.thread.push_back(place(last.map.column[i], program.store));
  for (const std::uint8_t i : last.reg) columns.slot.push_back(place(last.map.column[i], program.store));
  columns.offset = place(last.map.offset, program.store);
  for (const auto& [guard, offset] : last.map.guarded)
    columns.guarded.emplace_back(guard, place(offset, program.store));
  return columns;
}

std::vector<Coordinate> conflict_free_columns(const TileProgram& program, const std::vector<Coordinate>& first,
                                              const std::vector<Coordinate>& second) {
  // A shared-memory access is served 128 bytes at a time: 8 or 16 neighbouring threads must meet different banks.
  const std::size_t width = program.precision == Precision::kDouble ? 3 : 4;
  const auto bits = static_cast<std::size_t>(program.bits);
  const auto head = [&](const std::vector<Coordinate>& columns) {
    return std::vector<Coordinate>(columns.begin(),
                                   columns.begin() + static_cast<std::ptrdiff_t>(std::min(width, columns.size())));
  };
  const std::vector<Coordinate> a = head(first), b = head(second);
  std::vector<Coordinate> functionals;
  std::mt19937 random(12345);
  // Two subspaces of one dimension always have a common complement, so this ends; the count is a guard only.
  for (int trial = 0; trial < 10000; ++trial) {
    functionals.clear();
    for (std::size_t m = 0; m < width; ++m) {
      functionals.push_back(static_cast<Coordinate>(random() & (low_mask(static_cast<unsigned>(bits)))));
    }
    if (rank_of(functionals) == width && rank_of(banks(a, functionals)) == a.size() &&
        rank_of(banks(b, functionals)) == b.size()) {
      break;
    }
  }
  // Further rows complete the map to an invertible one.
  std::vector<Coordinate> rows = functionals;
  for (std::size_t i = 0; i < bits && rows.size() < bits; ++i) {
    rows.push_back(1u << i);
    if (rank_of(rows) != rows.size()) rows.pop_back();
  }
  std::vector<Coordinate> columns(bits);
  for (std::size_t i = 0; i < bits; ++i) {
    for (std::size_t r = 0; r < rows.size(); ++r) columns[i] |= (rows[r] >> i & 1u) << r;
  }
  return columns;
}

Regroup regroup_columns(const TileProgram& program, std::size_t e) {
  const Epoch& from = program.epochs[e];
  const Epoch& to = program.epochs[e + 1];
  std::vector<Coordinate> write, read;
  for (const std::uint8_t i : from.thread) write.push_back(from.map.column[i]);
  for (const std::uint8_t i : to.thread) read.push_back(1u << i);
  const std::vector<Coordinate> columns = conflict_free_columns(program, write, read);
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
  return regroup;
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
