// The angles of a circuit that are open, each distinct one once.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "qsim/circuit.h"

namespace qsim {

/// Angles that are the same sum for all values of the parameters are one. The circuit must outlive this.
class OpenAngles {
 public:
  /// The constant, and multiples of parameters that are added to it.
  struct Open {
    double constant = 0;
    std::span<const Circuit::OpenTerm> terms;
  };

  explicit OpenAngles(const Circuit& circuit);

  std::size_t size() const { return angles_.size(); }
  const Open& operator[](std::size_t number) const { return angles_[number]; }
  /// The angles with these values, as Circuit::bind() has them. UsageError for one that is not finite.
  std::vector<double> bound(std::span<const double> values) const;
  /// Angles that nothing can be told of: no two of them, nor sums and differences of a few, are the same or a simple
  /// part of a turn.
  std::vector<double> generic(std::uint64_t seed) const;

  /// The number of angle `param` of the circuit (as Circuit::open_terms() counts); -1: it is fixed.
  std::int64_t number(std::uint64_t param) const {
    const auto found = number_.find(param);
    return found == number_.end() ? -1 : static_cast<std::int64_t>(found->second);
  }

 private:
  std::vector<Open> angles_;
  std::map<std::uint64_t, std::uint32_t> number_;
};

}  // namespace qsim
