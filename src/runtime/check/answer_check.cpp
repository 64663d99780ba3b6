// Sums are compensated, so that what they differ by is the answers'.
#include "runtime/check/answer_check.h"

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "base/bits.h"
#include "base/text.h"
#include "device/numbers/compensated.h"
#include "document/outcomes.h"
#include "qsim/error.h"
#include "runtime/read_out/answers.h"

namespace qsim {
namespace {

/// What two sums over one state may differ by: rounding of double sums, half a unit for each amplitude where sums are
/// integers, and single precision where a sweep has summed what it stored.
double allowed_between(const DistributedState& state) {
  const double relative = state.precision == Precision::kDouble ? 1e-11 : 1e-5;
  return relative + std::ldexp(1.0, static_cast<int>(state.qubits) - 63);
}

[[noreturn]] void refuse(const std::string& what, double found, const std::string& other, double expected,
                         double allowed) {
  throw VerificationError(what + " " + format_number(found) + " where " + other + " " + format_number(expected) +
                          " (a difference of " + format_number(std::abs(found - expected)) + ", rounding allows " +
                          format_number(allowed) + "): the result is wrong and is not shown");
}

class AnswerCheck {
 public:
  AnswerCheck(const Answers& answers, std::span<const Register> registers, double drift, double between)
      : answers_(answers), registers_(registers), drift_(drift + between), between_(between) {}

  void check(const TerminalMeasurements& terminal) {
    check_sum("the weights of the branches add up to", answers_.weight + answers_.branches_left_out, 1, between_);
    const std::vector<double> none;
    for (Qubit qubit = 0; const double value : answers_.marginals ? *answers_.marginals : none) {
      require_probability(value, [&] { return "the marginal of qubit " + std::to_string(qubit); });
      first_of_qubit_[qubit++] = {value, "the marginals"};
    }
    if (answers_.probabilities) {
      for (const QubitProbabilities& joint : *answers_.probabilities) check_joint(joint.qubits, joint.values);
    }
    if (answers_.distribution) check_distribution(terminal);
    if (answers_.expectation) {
      for (const ExpectationValue& sum : *answers_.expectation) {
        for (const PauliTermValue& term : sum.terms) check_expectation(term.value);
      }
    }
  }

 private:
  void check_sum(const std::string& what, double found, double expected, double allowed) const {
    if (!(std::abs(found - expected) <= allowed)) refuse(what, found, "they should make", expected, allowed);
  }

  /// `name` is called where there is something to say.
  template <typename Name>
  void require_probability(double value, const Name& name) const {
    if (value >= 0 && value <= 1 + drift_) return;
    throw VerificationError(name() + " is " + format_number(value) +
                            ", which is no probability: the result is wrong and is not shown");
  }

  void check_expectation(double value) const {
    if (std::abs(value) <= 1 + drift_) return;
    throw VerificationError("a product of Pauli operators has the expectation value " + format_number(value) +
                            ": the result is wrong and is not shown");
  }

  void check_joint(const std::vector<Qubit>& list, const std::vector<double>& values) {
    // By the low and by the high half of the places: two additions for a value, not one for each of its bits.
    const std::size_t low_bits = list.size() / 2;
    std::vector<CompensatedSum> low(std::size_t{1} << low_bits), high(values.size() >> low_bits);
    for (std::size_t value = 0; value < values.size(); ++value) {
      require_probability(values[value], [&] { return "joint probability number " + std::to_string(value); });
      low[value & (low.size() - 1)].add(values[value]);
      high[value >> low_bits].add(values[value]);
    }
    CompensatedSum total;
    std::vector<CompensatedSum> ones(list.size());
    for (std::size_t place = 0; place < low.size(); ++place) {
      total.add(low[place]);
      for_each_bit(place, [&](unsigned j) { ones[j].add(low[place]); });
    }
    for (std::size_t place = 0; place < high.size(); ++place) {
      for_each_bit(place, [&](unsigned j) { ones[low_bits + j].add(high[place]); });
    }
    check_sum("joint probabilities add up to", total.value(), answers_.weight, drift_);
    for (std::size_t j = 0; j < list.size(); ++j) compare(list[j], ones[j].value(), "joint probabilities", 0);
  }

  /// A terminal measurement gives its bit the value of its qubit in every branch. Bits of registers without a name, the
  /// last ones, are in no outcome.
  void check_distribution(const TerminalMeasurements& terminal) {
    const Outcomes<double>& outcomes = *answers_.distribution;
    CompensatedSum total;
    std::vector<CompensatedSum> ones(terminal.kept().size());
    for (const auto& [words, probability] : outcomes) {
      require_probability(probability, [&, of = words] { return "outcome " + bits_text(of, registers_); });
      total.add(probability);
      for (std::size_t i = 0; i < ones.size(); ++i) {
        const Clbit bit = terminal.kept()[i].second;
        if (bit < outcomes.bits && test_bit(words[bit / 64], bit % 64)) ones[i].add(probability);
      }
    }
    check_sum("the outcomes' probabilities add up to", total.value() + answers_.outcomes_left_out, answers_.weight,
              drift_);
    for (std::size_t i = 0; i < ones.size(); ++i) {
      if (terminal.kept()[i].second >= outcomes.bits) continue;
      compare(terminal.kept()[i].first, ones[i].value(), "the distribution", answers_.outcomes_left_out);
    }
  }

  /// `found` as the probability of 1 of `qubit`, against the first read-out that said one.
  void compare(Qubit qubit, double found, const char* source, double left_out) {
    const auto [first, is_new] = first_of_qubit_.try_emplace(qubit, found, source);
    const double allowed = between_ + left_out;
    if (is_new || std::abs(found - first->second.first) <= allowed) return;
    refuse("P(qubit " + std::to_string(qubit) + " = 1) by " + source + " is", found,
           std::string("by ") + first->second.second + " it is", first->second.first, allowed);
  }

  const Answers& answers_;
  const std::span<const Register> registers_;
  const double drift_, between_;
  std::map<Qubit, std::pair<double, const char*>> first_of_qubit_;
};

}  // namespace

void require_drawable(double found, double expected, double drift, std::uint32_t qubits) {
  // Units of 2^-62, half of one for each amplitude.
  const double allowed = drift + std::ldexp(1.0, static_cast<int>(qubits) - 63) / expected;
  if (std::abs(found / expected - 1) <= allowed) return;
  throw VerificationError("the probabilities to draw from add up to " + format_number(found / expected) +
                          " (rounding allows " + format_number(allowed) + "): the result is wrong and is not shown");
}

void check_answers(const Answers& answers, const Circuit& circuit, const TerminalMeasurements& terminal,
                   const DistributedState& state, double drift) {
  const bool exact = answers.marginals || answers.probabilities || answers.distribution || answers.expectation;
  if (exact) AnswerCheck(answers, circuit.cregs(), drift, allowed_between(state)).check(terminal);
}

}  // namespace qsim
