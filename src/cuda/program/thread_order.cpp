// Lanes for whole lines of memory, warps that stay together, banks.
#include "cuda/program/thread_order.h"

#include <algorithm>
#include <array>

#include "base/bits.h"
#include "cuda/tile/addresses.h"

namespace qsim::cuda {
namespace {

constexpr unsigned line_bits(Precision precision) { return precision == Precision::kDouble ? 3 : 4; }  // 128 bytes

class ThreadOrder {
 public:
  ThreadOrder(TileProgram& program, const std::vector<Coordinate>& decided) : program_(program), decided_(decided) {}

  /// Lanes first hold what memory accesses need; between, threads keep their warps and lanes meet different banks.
  void order() {
    std::vector<Epoch>& epochs = program_.epochs;
    const auto move_front = [&](std::size_t e, Coordinate wanted) {
      std::stable_partition(epochs[e].thread.begin() + decided(e), epochs[e].thread.end(),
                            [&](std::uint8_t i) { return wanted >> i & 1; });
    };
    const std::size_t last = head_of(program_, epochs.size() - 1);
    const Coordinate load_lanes = low_coordinates(program_, program_.active), lanes = store_lanes(program_);
    std::stable_sort(epochs[last].thread.begin() + decided(last), epochs[last].thread.end(),
                     [&](std::uint8_t a, std::uint8_t b) { return program_.store[a] < program_.store[b]; });
    move_front(last, lanes);
    move_front(0, load_lanes);
    follow(last);
    follow(0);
    choose_banks();
    for (std::size_t e = 0; e < epochs.size(); e = tail_of(e) + 1) {
      const Coordinate fixed = (e == 0 ? load_lanes : 0) | (e == last ? lanes : 0);
      choose_warps(e, fixed | decided_[e]);
      if (fixed == 0) choose_lanes(e);
      follow(e);
    }
  }

 private:
  std::size_t tail_of(std::size_t e) const {
    while (e + 1 < program_.epochs.size() && program_.epochs[e + 1].exchanged) ++e;
    return e;
  }
  /// Bits of a thread's number that are decided.
  std::ptrdiff_t decided(std::size_t e) const { return decided_[e] == 0 ? 0 : kLanePair; }

  /// Epochs that exchange lanes have their other threads where the first of them has.
  void follow(std::size_t head) {
    for (std::size_t e = head + 1; e <= tail_of(head); ++e) {
      const std::vector<std::uint8_t>& threads = program_.epochs[head].thread;
      std::copy(threads.begin() + kLanePair, threads.end(), program_.epochs[e].thread.begin() + kLanePair);
    }
  }

  /// Different banks for the lanes that write first and for those that read last, and for pairs of lanes that have been
  /// decided on; all banks spread over the other coordinates.
  void choose_banks() {
    const unsigned width = bank_bits(program_.precision), banks = 1u << width;
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
    assign(program_.epochs[tail_of(0)]);
    assign(program_.epochs[head_of(program_, program_.epochs.size() - 1)]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(program_.bits); ++i) {
      std::uint8_t& bank = program_.bank[i];
      if (bank != 0) continue;
      std::array<int, 16> price = used;
      for (const std::uint8_t partner : lane_partners(static_cast<std::uint8_t>(i)))
        price[program_.bank[partner]] += program_.bits;
      bank = static_cast<std::uint8_t>(std::min_element(price.begin() + 1, price.begin() + banks) - price.begin());
      ++used[bank];
    }
  }

  /// Coordinates that are beside coordinate i on decided lanes when these write or read the tile.
  std::vector<std::uint8_t> lane_partners(std::uint8_t i) const {
    std::vector<std::uint8_t> partners;
    for (std::size_t e = 0; e < program_.epochs.size(); ++e) {
      if (decided_[e] == 0 || (head_of(program_, e) != e && tail_of(e) != e)) continue;
      const std::vector<std::uint8_t>& thread = program_.epochs[e].thread;
      if (thread[0] == i) partners.push_back(thread[1]);
      if (thread[1] == i) partners.push_back(thread[0]);
    }
    return partners;
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
    const std::size_t next = tail_of(e) + 1;
    if (next == epochs.size()) return;
    std::vector<std::uint8_t> wanted;
    const std::vector<std::uint8_t>& after = epochs[next].thread;
    for (const std::uint8_t i : threads) {
      const bool stays = std::find(after.begin() + decided(next), after.end(), i) != after.end();
      if (stays && (fixed_lanes >> i & 1) == 0 && static_cast<std::ptrdiff_t>(wanted.size()) < warps)
        wanted.push_back(i);
    }
    if (static_cast<std::ptrdiff_t>(wanted.size()) == warps) place(wanted);
  }

  /// Lowest lanes with independent banks, when the tile is read and, after the permutation, when it is written, where
  /// that is possible. Of epochs that exchange lanes the first one reads and the last one writes.
  void choose_lanes(std::size_t e) {
    Epoch& epoch = program_.epochs[e];
    const Epoch& last = program_.epochs[tail_of(e)];
    const unsigned width = bank_bits(program_.precision);
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
      const std::uint8_t leaving = static_cast<std::ptrdiff_t>(i) < decided(e) ? last.thread[i] : epoch.thread[i];
      read.push_back(bank_of(1u << epoch.thread[i]));
      write.push_back(bank_of(last.map.column[leaving]));
      if (independent(read) && independent(write)) {
        std::rotate(epoch.thread.begin() + chosen, epoch.thread.begin() + static_cast<std::ptrdiff_t>(i),
                    epoch.thread.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        ++chosen;
      } else {
        if (static_cast<std::ptrdiff_t>(i) < decided(e)) ++chosen;
        read.pop_back();
        write.pop_back();
      }
    }
  }

  TileProgram& program_;
  const std::vector<Coordinate>& decided_;
};

}  // namespace

Coordinate low_coordinates(const TileProgram& program, const std::vector<Bit>& places) {
  Coordinate low = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < line_bits(program.precision)) low |= 1u << i;
  }
  return low;
}

Coordinate store_lanes(const TileProgram& program) {
  const Epoch& last = program.epochs.back();
  Coordinate lanes = 0;
  for (int i = 0; i < program.bits; ++i) {
    if (program.store[static_cast<std::size_t>(i)] >= line_bits(program.precision) || program.dead >> i & 1) continue;
    for (int source = 0; source < program.bits; ++source) {
      const Coordinate column = last.map.column[static_cast<std::size_t>(source)];
      if ((column >> i & 1) == 0) continue;
      if (column != 1u << i) return ~Coordinate{0};
      lanes |= 1u << source;
    }
  }
  return lanes;
}

std::size_t head_of(const TileProgram& program, std::size_t e) {
  while (program.epochs[e].exchanged) --e;
  return e;
}

void order_threads(TileProgram& program, const std::vector<Coordinate>& decided) {
  ThreadOrder(program, decided).order();
}

}  // namespace qsim::cuda
