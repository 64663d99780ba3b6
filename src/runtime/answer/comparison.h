// Two walks through a program held against each other.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "document/result.h"
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

  void compare(const std::vector<double>& first, const std::vector<double>& second) const {
    compare("marginal", first, second);
  }
  void compare(const std::vector<QubitProbabilities>& first, const std::vector<QubitProbabilities>& second) const {
    for (std::size_t i = 0; i < first.size(); ++i) {
      compare("joint probability", first[i].values, second.at(i).values);
    }
  }
  void compare(const std::vector<ExpectationValue>& first, const std::vector<ExpectationValue>& second) const {
    compare("expectation value", strings(first), strings(second));
  }
  void compare(const std::map<std::string, double>& first, const std::map<std::string, double>& second) const {
    compare(first, second, [](const std::string& bits) { return "the probability of " + bits; });
  }
  void compare(const VariableResults& first, const VariableResults& second) const {
    if (!first.distribution) return;
    compare(*first.distribution, second.distribution.value(),
            [](const VariableValues&) { return std::string("the joint probability of variables"); });
  }

 private:
  static std::vector<double> strings(const std::vector<ExpectationValue>& sums) {
    std::vector<double> values;
    for (const ExpectationValue& sum : sums) {
      for (const PauliTermValue& term : sum.terms) values.push_back(term.value);
    }
    return values;
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

  double allowed_;
};

}  // namespace qsim
