#include "support/corpus_variables.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace qsim::test {
namespace {

// A text of the corpus as number: true, false and bit strings too.
double number_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true" ? 1 : 0;
  return std::stod(text);
}

std::vector<double> numbers_of(std::span<const Scalar> values) {
  std::vector<double> numbers;
  for (const Scalar& value : values) {
    if (value.type.kind == ScalarKind::kComplex) {
      numbers.insert(numbers.end(), {value.parts[0], value.parts[1]});
    } else {
      numbers.push_back(real_value(value));
    }
  }
  return numbers;
}

}  // namespace

bool has_values(const CorpusVariables& wanted, const std::vector<FlowOutput>& variables,
                const std::vector<Scalar>& values, double tolerance) {
  std::span<const Scalar> left(values);
  for (const FlowOutput& variable : variables) {
    const std::span<const Scalar> own = left.first(variable.values.size());
    left = left.subspan(own.size());
    const auto at = wanted.values.find(variable.name);
    if (at == wanted.values.end()) continue;
    const std::vector<double> numbers = numbers_of(own);
    if (numbers.size() != at->second.size()) return false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double value = number_of(at->second[i]);
      if (std::abs(numbers[i] - value) > tolerance * std::max(1.0, std::abs(value))) return false;
    }
  }
  return true;
}

void add_probability(const std::vector<CorpusVariables>& wanted, const std::vector<FlowOutput>& variables,
                     const std::vector<Scalar>& values, double tolerance, double probability,
                     std::vector<double>& found) {
  const auto match = std::ranges::find_if(
      wanted, [&](const CorpusVariables& each) { return has_values(each, variables, values, tolerance); });
  if (match != wanted.end()) found[static_cast<std::size_t>(match - wanted.begin())] += probability;
}

std::string text_of(const CorpusVariables& wanted) {
  std::string text;
  for (const auto& [name, values] : wanted.values) {
    text += ' ' + name + '=';
    for (const std::string& value : values) text += value + ',';
  }
  return text.substr(0, 300);
}

}  // namespace qsim::test
