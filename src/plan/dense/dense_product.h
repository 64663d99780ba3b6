// The matrix of many steps on few wires.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plan/element/sweep_elements.h"

namespace qsim {

/// The product of `steps`, first one first, all on `wires`: 2^w x 2^w, row-major, bit j of an index is the j-th lowest
/// wire. `parts_of(steps, w)` may name disjoint lists of steps on fewer wires, each of which may run at the place of
/// its last one: their products are taken first.
using PartsOfProduct = std::vector<std::vector<std::size_t>> (*)(const std::vector<Element>& steps, int wires);
std::vector<Complex> product_of(std::vector<Element> steps, Index wires, PartsOfProduct parts_of);

/// Step by step: of those so far.
class GrowingProduct {
 public:
  explicit GrowingProduct(Index wires);
  ~GrowingProduct();
  void multiply(const Element& step);
  /// To 4^wires entries.
  void copy_to(std::span<Complex> matrix) const;

 private:
  std::unique_ptr<class RowProduct> rows_;
};

/// The same of elements[members[0]], elements[members[1]], ..., one after the other.
std::vector<Complex> product_of(std::span<const Element> elements, std::span<const std::size_t> members, Index wires);

/// True when the matrix takes a vector to where the steps take it one after the other, up to rounding. The vector's
/// entries are fixed, of modulus 1 and of no pattern.
bool does_what_steps_do(std::span<const Complex> matrix, std::span<const Element> steps, Index wires);

}  // namespace qsim
