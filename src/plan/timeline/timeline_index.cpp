// Which diagonals stand at which gap of a timeline.
#include <bit>

#include "base/bits.h"
#include "plan/timeline/timeline.h"

namespace qsim {

void Timeline::index_gaps() {
  gap_begin.resize(wires);
  for (std::uint32_t wire = 0; wire < wires; ++wire) gap_begin[wire].assign(line[wire].size() + 2, 0);
  const auto for_each_gap = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < diagonals.size(); ++i) {
      std::uint64_t at = diagonals[i].gaps_begin;
      for (Index rest = diagonals[i].wires(); rest != 0; rest &= rest - 1)
        visit(gap_begin[static_cast<std::size_t>(std::countr_zero(rest))], gaps[at++], i);
    }
  };
  for_each_gap([](auto& begin, std::uint32_t gap, std::uint32_t) { ++begin[gap + 1]; });
  std::uint32_t total = 0;
  for (auto& begin : gap_begin) {
    for (auto& entry : begin) entry = total += entry;
  }
  gap_items.resize(total);
  auto next = gap_begin;
  for_each_gap([&](auto& begin, std::uint32_t gap, std::uint32_t id) {
    const auto wire = static_cast<std::size_t>(&begin - gap_begin.data());
    gap_items[next[wire][gap]++] = id;
  });
}

std::uint32_t Timeline::gap_of(const Diagonal& diagonal, std::uint32_t wire) const {
  const auto below = popcount(diagonal.wires() & (bit_mask(wire) - 1));
  return gaps[diagonal.gaps_begin + static_cast<std::uint64_t>(below)];
}

}  // namespace qsim
