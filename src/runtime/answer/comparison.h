// Two walks through a program held against each other.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "document/outcomes.h"
#include "document/result.h"
#include "qsim/error.h"

namespace qsim {

/// Holds answers of two walks against each other: VerificationError.
class Comparison {
 public:
  /// `registers`: of the circuit, for messages.
  Comparison(double allowed, std::span<const Register> registers) : allowed_(allowed), registers_(registers) {}

  void compare(const std::string& what, double first, double second) const {
    if (is_near(first, second)) return;
    throw VerificationError(what + " is " + format_number(first) + ", and " + format_number(second) +
                            " by a second walk that does one operation at a time (a difference of " +
                            format_number(std::abs(first - second)) + ", rounding allows " + format_number(allowed_) +
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
  void compare(const Outcomes<double>& first, const Outcomes<double>& second) const {
    visit_both(first, second, [this](OutcomeWords words, double in_first, double in_second) {
      if (is_near(in_first, in_second)) return;
      compare("the probability of " + bits_text(words, registers_), in_first, in_second);
    });
  }
  void compare(const VariableResults& first, const VariableResults& second) const {
    if (!first.distribution) return;
    const auto& one = *first.distribution;
    const auto& other = second.distribution.value();
    const auto of = [](const auto& all, const VariableValues& outcome) {
      const auto found = all.find(outcome);
      return found == all.end() ? 0 : found->second;
    };
    const std::string what = "the joint probability of variables";
    for (const auto& [outcome, share] : one) compare(what, share, of(other, outcome));
    for (const auto& [outcome, share] : other) compare(what, of(one, outcome), share);
  }

 private:
  bool is_near(double first, double second) const { return std::abs(first - second) <= allowed_; }

  static std::vector<double> strings(const std::vector<ExpectationValue>& sums) {
    std::vector<double> values;
    for (const ExpectationValue& sum : sums) {
      for (const PauliTermValue& term : sum.terms) values.push_back(term.value);
    }
    return values;
  }

  double allowed_;
  std::span<const Register> registers_;
};

}  // namespace qsim
