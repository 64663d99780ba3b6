// Two walks through a program held against each other.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "qsim/error.h"

namespace qsim {

/// Holds answers of two walks against each other: VerificationError.
class Comparison {
 public:
  explicit Comparison(double allowed) : allowed_(allowed) {}

  void compare(const std::string& what, double first, double second) const {
    const double difference = std::abs(first - second);
    if (difference <= allowed_) return;
    throw VerificationError(what + " is " + format_number(first) + ", and " + format_number(second) +
                            " by a second walk that does one operation at a time (a difference of " +
                            format_number(difference) + ", rounding allows " + format_number(allowed_) +
                            "): the result is wrong and is not shown");
  }

  void compare(const std::string& what, const std::vector<double>& first, const std::vector<double>& second) const {
    if (first.size() != second.size()) throw Error("two walks have different numbers of answers for one read-out");
    for (std::size_t i = 0; i < first.size(); ++i) {
      compare(what + " number " + std::to_string(i), first[i], second[i]);
    }
  }

  /// Probabilities of outcomes; `name` says which one an outcome is.
  template <typename Map, typename Name>
  void compare(const Map& first, const Map& second, const Name& name) const {
    const auto of = [](const Map& all, const auto& outcome) {
      const auto found = all.find(outcome);
      return found == all.end() ? 0 : found->second;
    };
    for (const auto& [outcome, share] : first) compare(name(outcome), share, of(second, outcome));
    for (const auto& [outcome, share] : second) compare(name(outcome), of(first, outcome), share);
  }

 private:
  double allowed_;
};

}  // namespace qsim
