// Names for long polynomials. What a ladder of gates computes on a qubit, from what it computed on others, has a
// polynomial of the inputs that grows with every rung, and is taken back rung by rung. With a variable of its own for
// what is long, each rung is short, and what takes it back has the same name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bits.h"
#include "optimizer/sums/boolean.h"

namespace qsim {

class NamedPolynomials {
 public:
  /// The names: bits that no variable may have.
  Wide names() const { return names_; }

  /// The polynomial, with a name for what stands beside the same of the variables `open`, but for 1, where that is many
  /// products. A new name is a bit that is not in `taken`; where there is none, the polynomial stays long.
  Boolean<Wide> shortened(const Boolean<Wide>& polynomial, Wide open, Wide taken);

  /// What is in these variables when names are read as what they stand for.
  Wide holds(Wide variables) const;

  /// Puts what names stand for in their place, and adds the products that were written to `work`. False where there
  /// are more than `most` in the end, or far more on the way.
  bool write_out(Boolean<Wide>& polynomial, std::size_t most, std::uint64_t& work) const;

  /// Forgets the names that are not in `used`, nor in what those stand for.
  void forget_all_but(Wide used);

 private:
  struct Name {
    Wide bit = 0;
    Boolean<Wide> polynomial;  // of inputs and earlier names
    Wide holds = 0;
  };

  /// Nothing where there is no bit for it.
  std::optional<Wide> name_of(const Boolean<Wide>& polynomial, Wide taken);

  std::vector<Name> list_;  // in the order in which they were given
  Wide names_ = 0;
};

}  // namespace qsim
