// Operations of a circuit as drawn items, and columns that take them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "picture/circuit/layout.h"

namespace qsim::picture {

constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 22;  // columns times wires
constexpr std::size_t kMostName = 40;                          // characters of a name

/// UnsupportedError for a drawing beyond kMostPlaces.
[[noreturn]] void too_large(const std::string& what);

/// Labels of the qubits and the classical registers. UnsupportedError as draw().
CircuitLayout empty_layout(const Circuit& circuit);

/// `take` gets an item for each of the operations [begin, end), one for a gate with the X around its controls.
void for_each_item(const Circuit& circuit, std::size_t begin, std::size_t end, const std::string& pi,
                   const std::function<void(Item)>& take);

/// Puts items into columns, each as far to the left as its wires allow.
class Columns {
 public:
  explicit Columns(CircuitLayout& layout) : layout_(layout), free_(layout.labels.size()) {}
  /// Takes every wire from the item's first to its last cell. UnsupportedError as draw().
  void place(Item item);

 private:
  CircuitLayout& layout_;
  std::vector<std::size_t> free_;  // of each wire, the first column with room
};

}  // namespace qsim::picture
