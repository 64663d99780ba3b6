// Which diagonals stand at which slot of a timeline.
#include <bit>

#include "base/bits.h"
#include "plan/timeline/timeline.h"

namespace qsim {

void Timeline::index_slots() {
  slot_begin.resize(wires);
  for (std::uint32_t wire = 0; wire < wires; ++wire) slot_begin[wire].assign(line[wire].size() + 2, 0);
  const auto for_each_slot = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < diagonals.size(); ++i) {
      std::uint64_t at = diagonals[i].slots_begin;
      for (Index rest = diagonals[i].wires(); rest != 0; rest &= rest - 1)
        visit(slot_begin[static_cast<std::size_t>(std::countr_zero(rest))], slots[at++], i);
    }
  };
  for_each_slot([](auto& begin, std::uint32_t slot, std::uint32_t) { ++begin[slot + 1]; });
  std::uint32_t total = 0;
  for (auto& begin : slot_begin) {
    for (auto& entry : begin) entry = total += entry;
  }
  slot_items.resize(total);
  auto next = slot_begin;
  for_each_slot([&](auto& begin, std::uint32_t slot, std::uint32_t id) {
    const auto wire = static_cast<std::size_t>(&begin - slot_begin.data());
    slot_items[next[wire][slot]++] = id;
  });
}

std::uint32_t Timeline::slot_of(const Diagonal& diagonal, std::uint32_t wire) const {
  const auto below = popcount(diagonal.wires() & (bit_mask(wire) - 1));
  return slots[diagonal.slots_begin + static_cast<std::uint64_t>(below)];
}

}  // namespace qsim
