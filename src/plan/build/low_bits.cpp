#include "plan/build/low_bits.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace qsim {

void put_low(Layout& layout, const std::vector<Qubit>& wanted, Bit low) {
  std::vector<Qubit> wire_at = layout.qubit_at();
  for (std::size_t bit = 0; bit < std::min<std::size_t>(wanted.size(), low); ++bit) {
    const Qubit here = wire_at[bit], wire = wanted[bit];
    std::swap(wire_at[bit], wire_at[layout.bit_of[wire]]);
    std::swap(layout.bit_of[here], layout.bit_of[wire]);
  }
}

std::vector<Qubit> low_order(const Layout& layout, std::vector<Qubit> wanted, Bit low) {
  const std::vector<Qubit> wire_at = layout.qubit_at();
  if (wanted.size() > low) wanted.resize(low);
  std::vector<std::optional<Qubit>> order(low);
  for (Bit bit = 0; bit < low; ++bit) {
    const auto found = std::ranges::find(wanted, wire_at[bit]);
    if (found == wanted.end()) continue;
    order[bit] = wire_at[bit];
    wanted.erase(found);
  }
  auto next = wanted.begin();
  for (Bit bit = 0; bit < low && next != wanted.end(); ++bit) {
    if (!order[bit]) order[bit] = *next++;
  }
  while (!order.empty() && !order.back()) order.pop_back();
  std::vector<Qubit> wires;
  for (std::size_t bit = 0; bit < order.size(); ++bit) wires.push_back(order[bit].value_or(wire_at[bit]));
  return wires;
}

}  // namespace qsim
