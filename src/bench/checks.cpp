#include "bench/checks.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bench/names.h"
#include "document/result.h"
#include "simulator/simulator.h"

namespace qsim::bench {
namespace {

double rounding(Precision precision, std::uint64_t depth) {
  const double levels = static_cast<double>(std::max<std::uint64_t>(1, depth));
  return precision == Precision::kDouble ? 1e-12 * levels : 1e-5 * std::sqrt(levels);
}

/// Passed only when the difference is a number and small.
BenchCheck compared(const std::string& name, std::size_t values, double difference, double allowed) {
  return {name, difference <= allowed,
          std::to_string(values) + " values, largest difference " + short_number(difference) + ", allowed " +
              short_number(allowed)};
}

/// The larger of the two; what is not a number stays.
double worse(double largest, double difference) {
  return std::isnan(largest) || difference <= largest ? largest : difference;
}

void check_reference(const Workload& workload, Precision precision, const Results& results,
                     std::vector<BenchCheck>& checks) {
  const Reference& reference = *workload.reference;
  const double slack = precision == Precision::kDouble ? reference.tolerance : std::max(reference.tolerance, 1e-5);
  double difference = 0;
  for (std::size_t q = 0; q < reference.marginals.size(); ++q) {
    difference = worse(difference, std::abs(results.marginals->at(q) - reference.marginals[q]));
  }
  for (std::size_t i = 0; i < reference.amplitudes.size(); ++i) {
    const Complex distance = results.amplitudes->at(i).value - reference.amplitudes[i];
    difference = worse(difference, std::abs(distance.real()));
    difference = worse(difference, std::abs(distance.imag()));
  }
  checks.push_back(compared("reference", reference.marginals.size() + reference.amplitudes.size(), difference, slack));
}

void check_observable(const Workload& workload, Precision precision, const Results& results,
                      std::vector<BenchCheck>& checks) {
  const std::vector<PauliTermValue>& terms = results.expectation->front().terms;
  double difference = 0;
  for (std::size_t i = 0; i < workload.observable_terms.size(); ++i) {
    difference = worse(difference, std::abs(terms.at(i).coefficient * terms[i].value - workload.observable_terms[i]));
  }
  checks.push_back(compared("reference", workload.observable_terms.size(), difference,
                            precision == Precision::kDouble ? 0.51e-6 : 1e-4));
}

}  // namespace

void request_read_outs(const Workload& workload, Start start, RunOptions& options) {
  if (workload.observable) options.expectation = {*workload.observable};
  if (workload.reference && !workload.reference->marginals.empty()) options.marginals = true;
  if (start == Start::kZero) options.amplitude_indices = workload.indices;
}

std::vector<BenchCheck> check_results(const Workload& workload, Start start, Precision precision,
                                      const Results& results) {
  std::vector<BenchCheck> checks;
  if (start != Start::kZero) return checks;
  if (workload.amplitude) {
    checks.push_back(check_closed_form(workload.indices.size() == 2 ? "two amplitudes" : "closed form",
                                       workload.amplitude, *results.amplitudes, precision, workload.circuit.depth()));
  }
  if (workload.statistics)
    checks.push_back(check_statistics(*results.amplitudes, workload.circuit.qubits(), *workload.statistics));
  if (workload.reference) check_reference(workload, precision, results, checks);
  if (!workload.observable_terms.empty()) check_observable(workload, precision, results, checks);
  return checks;
}

BenchCheck check_closed_form(const std::string& name, const ClosedForm& expected,
                             const std::vector<AmplitudeEntry>& amplitudes, Precision precision, std::uint64_t depth) {
  double largest = 0, difference = 0;
  for (const AmplitudeEntry& entry : amplitudes) {
    const Complex wanted = expected(entry.index);
    largest = std::max(largest, std::abs(wanted));
    difference = worse(difference, std::abs(entry.value - wanted));
  }
  return compared(name, amplitudes.size(), difference, largest * rounding(precision, depth));
}

BenchCheck check_statistics(const std::vector<AmplitudeEntry>& amplitudes, std::uint32_t qubits, double excess) {
  const double count = static_cast<double>(amplitudes.size());
  double mean = 0, square = 0, above = 0;
  for (const AmplitudeEntry& entry : amplitudes) {
    const double share = std::ldexp(std::norm(entry.value), static_cast<int>(qubits));
    mean += share / count;
    square += share * share / count;
    above += share > 1 ? 1 / count : 0.0;
  }
  // Six standard deviations of the sample, and what circuits of this depth are still away from random.
  const double root = std::sqrt(count), of_square = 6 * std::sqrt(20.0) / root;
  const bool passed = std::abs(mean - 1) <= 6 / root + 0.02 && square >= 1.7 - of_square &&
                      square <= 2 + excess + of_square &&
                      std::abs(above - 1 / std::numbers::e) <= 6 * 0.49 / root + 0.1 * excess;
  return {"Porter-Thomas", passed,
          "mean " + short_number(mean) + " (1), second moment " + short_number(square) + " (2), above the mean " +
              short_number(above) + " (0.37)"};
}

}  // namespace qsim::bench
