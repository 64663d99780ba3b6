// Shorter networks of CX gates, by clearing the matrix of their map.
#include "optimizer/cx_network.h"

#include <algorithm>
#include <array>

#include "base/bits.h"

namespace qsim {
namespace {

constexpr unsigned kMostPlaces = 64;

// A matrix over GF(2), by rows and by columns, that is cleared to a permutation.
class Clearing {
 public:
  Clearing(std::span<const Cx> gates, unsigned places) : places_(places) {
    for (unsigned j = 0; j < places; ++j) rows_[j] = bit_mask(j);
    for (const Cx& gate : gates) rows_[gate.target] ^= rows_[gate.control];
    for (unsigned j = 0; j < places; ++j)
      for_each_bit(rows_[j], [&](unsigned column) { columns_[column] |= bit_mask(j); });
  }

  bool is_permutation() const {
    return std::all_of(rows_.begin(), rows_.begin() + places_, [](Index row) { return is_power_of_two(row); });
  }

  std::size_t gates() const { return before_.size() + after_.size(); }

  // The one operation that leaves the fewest ones; false when every operation leaves as many or more.
  bool add_best() {
    int best = 0;
    Cx gate;
    bool at_end = true;
    for (unsigned target = 0; target < places_; ++target) {
      const int row = popcount(rows_[target]), column = popcount(columns_[target]);
      for (unsigned control = 0; control < places_; ++control) {
        if (control == target) continue;
        if (const int change = popcount(rows_[target] ^ rows_[control]) - row; change < best) {
          best = change;
          gate = {control, target};
          at_end = true;
        }
        // a column operation adds the target's column to the control's
        if (const int change = popcount(columns_[target] ^ columns_[control]) - column; change < best) {
          best = change;
          gate = {target, control};
          at_end = false;
        }
      }
    }
    if (best == 0) return false;
    if (at_end) {
      add_row(gate);
    } else {
      add_column(gate);
    }
    return true;
  }

  // Leaves one 1 in the column with the fewest beyond one, that of its shortest row.
  void clear_column() {
    unsigned chosen = places_;
    for (unsigned column = 0; column < places_; ++column) {
      const unsigned ones = count_bits(columns_[column]);
      if (ones > 1 && (chosen == places_ || ones < count_bits(columns_[chosen]))) chosen = column;
    }
    unsigned pivot = places_;
    for_each_bit(columns_[chosen], [&](unsigned row) {
      if (pivot == places_ || count_bits(rows_[row]) < count_bits(rows_[pivot])) pivot = row;
    });
    for_each_bit(columns_[chosen] & ~bit_mask(pivot), [&](unsigned row) { add_row({pivot, row}); });
  }

  // What was added at the end undoes the network from there, so it is read backwards.
  CxNetwork network() const {
    CxNetwork result{before_, {}, {after_.rbegin(), after_.rend()}};
    for (unsigned j = 0; j < places_; ++j) result.from.push_back(log2_exact(rows_[j]));
    return result;
  }

 private:
  void add_row(const Cx& gate) {
    for_each_bit(rows_[gate.control], [&](unsigned column) { columns_[column] ^= bit_mask(gate.target); });
    rows_[gate.target] ^= rows_[gate.control];
    after_.push_back(gate);
  }
  void add_column(const Cx& gate) {
    for_each_bit(columns_[gate.target], [&](unsigned row) { rows_[row] ^= bit_mask(gate.control); });
    columns_[gate.control] ^= columns_[gate.target];
    before_.push_back(gate);
  }

  unsigned places_;
  std::array<Index, kMostPlaces> rows_{}, columns_{};
  std::vector<Cx> before_, after_;
};

}  // namespace

std::optional<CxNetwork> shorter_network(std::span<const Cx> gates, unsigned places, std::uint64_t& steps) {
  Clearing clearing(gates, places);
  const std::uint64_t step = std::uint64_t{places} * places;
  while (!clearing.is_permutation()) {
    if (steps < step) return std::nullopt;
    steps -= step;
    if (!clearing.add_best()) clearing.clear_column();
    if (clearing.gates() >= gates.size()) return std::nullopt;
  }
  return clearing.network();
}

bool same_map(std::span<const Cx> gates, const CxNetwork& network, unsigned places) {
  using Rows = std::vector<Index>;  // which places each place is the parity of
  const auto run = [](std::span<const Cx> list, Rows& rows) {
    for (const Cx& gate : list) rows[gate.target] ^= rows[gate.control];
  };
  Rows wanted(places);
  for (unsigned j = 0; j < places; ++j) wanted[j] = bit_mask(j);
  Rows before = wanted;
  run(gates, wanted);
  run(network.before, before);
  Rows made(places);
  for (unsigned j = 0; j < places; ++j) made[j] = before[network.from[j]];
  run(network.after, made);
  return made == wanted;
}

}  // namespace qsim
