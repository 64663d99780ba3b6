// Circuits and options compared between ranks before the first step that depends on them.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/ranks/agreement.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "simulator/settings.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

/// How many, and a digest that stands for them.
template <typename T>
std::string digest_text(const std::vector<T>& words) {
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(T));
  return std::to_string(words.size()) + " with digest " + std::to_string(xxh3(bytes));
}

std::string registers_text(const std::vector<Register>& registers) {
  std::string text;
  for (const Register& one : registers) text += one.name + "[" + std::to_string(one.size) + "] ";
  return text;
}

void append_operation(const Circuit& circuit, const Operation& op, std::vector<std::uint64_t>& words) {
  words.insert(words.end(), {static_cast<std::uint64_t>(op.kind), static_cast<std::uint64_t>(op.gate), op.controls,
                             op.targets, static_cast<std::uint64_t>(op.condition + 1), circuit.params(op).size()});
  for (const Qubit qubit : circuit.controls(op)) words.push_back(qubit);
  for (const Qubit qubit : circuit.targets(op)) words.push_back(qubit);
  if (op.kind == OpKind::kPauliRotation) {
    for (const std::uint32_t letter : circuit.letters(op)) words.push_back(letter);
  }
  if (op.kind == OpKind::kMeasure) words.push_back(circuit.clbit(op));
}

void append_condition(const Condition& condition, std::vector<std::uint64_t>& words) {
  words.insert(words.end(), {condition.creg, condition.value, condition.negated ? 1u : 0u, condition.high.size()});
  words.insert(words.end(), condition.high.begin(), condition.high.end());
}

std::vector<Fact> circuit_facts(const Circuit& circuit) {
  std::vector<std::uint64_t> operations, conditions;
  for (const Operation& op : circuit.operations()) append_operation(circuit, op, operations);
  for (const Condition& condition : circuit.conditions()) append_condition(condition, conditions);
  return {{"quantum registers", registers_text(circuit.qregs())},
          {"classical registers", registers_text(circuit.cregs())},
          {"number of operations", std::to_string(circuit.operations().size())},
          {"conditions", digest_text(conditions)},
          {"operations", digest_text(operations)}};
}

std::string optional_text(const auto& value, const char* otherwise) {
  return value ? std::to_string(*value) : otherwise;
}

std::vector<std::uint64_t> pauli_words(const std::vector<PauliSum>& sums) {
  std::vector<std::uint64_t> words;
  for (const PauliSum& sum : sums) {
    words.push_back(sum.terms.size());
    for (const PauliTerm& term : sum.terms) words.insert(words.end(), {term.pauli.x, term.pauli.z});
  }
  return words;
}

std::vector<std::uint64_t> probability_words(const std::vector<std::vector<Qubit>>& lists) {
  std::vector<std::uint64_t> words;
  for (const std::vector<Qubit>& list : lists) {
    words.push_back(list.size());
    words.insert(words.end(), list.begin(), list.end());
  }
  return words;
}

/// What all ranks must be told alike. Left out is what may be a rank's own: its devices, threads, memory and paths.
std::vector<Fact> option_facts(const RunOptions& options) {
  const auto number = [](auto value) { return std::to_string(static_cast<long long>(value)); };
  return {{"backend", std::string(name_of(options.backend))},
          {"precision", number(options.precision)},
          {"shots", optional_text(options.shots, "by default")},
          {"seed", optional_text(options.seed, "to be drawn")},
          {"start state", number(options.start)},
          {"seed of the start state", options.start == Start::kRandom ? std::to_string(options.start_seed) : "none"},
          {"planner", number(options.strategy)},
          {"tile", optional_text(options.tile_bits, "by default")},
          {"known zeros", number(options.known_zeros)},
          {"exchange", number(options.exchange)},
          {"verify", number(options.verify)},
          {"jit", std::string(name_of(options.jit))},
          {"reproducible", number(options.reproducible)},
          {"marginals", number(options.marginals)},
          {"distribution", number(options.distribution)},
          {"probabilities", digest_text(probability_words(options.probabilities))},
          {"amplitudes", number(options.amplitudes_requested)},
          {"amplitude indices", digest_text(options.amplitude_indices)},
          {"most probable amplitudes", number(options.top)},
          {"expectation values", digest_text(pauli_words(options.expectation))},
          {"state file", number(!options.statevector_path.empty())},
          {"profile", number(!options.profile_path.empty())},
          {"pictures", number(options.pictures)},
          {"iterations", std::to_string(options.max_iterations)},
          {"warm-ups", number(options.warm_ups)},
          {"repeats", number(options.repeats)}};
}

/// Angles and matrices may differ by rounding: hosts whose mathematical libraries differ read them differently.
void require_same_numbers(const Circuit& circuit, Communicator& communicator) {
  std::vector<double> mine;
  for (const Operation& op : circuit.operations()) {
    const std::span<const double> params = circuit.params(op);
    mine.insert(mine.end(), params.begin(), params.end());
  }
  std::vector<double> first = mine;
  communicator.broadcast(std::as_writable_bytes(std::span(first)), 0);
  const auto differs = [](double a, double b) { return std::abs(a - b) > 1e-9 * (1 + std::abs(a)); };
  together(communicator, [&] {
    const auto [there, here] =
        std::mismatch(first.begin(), first.end(), mine.begin(), [&](double a, double b) { return !differs(a, b); });
    if (there == first.end()) return;
    throw CommunicatorError("ranks were started differently: number " + std::to_string(there - first.begin() + 1) +
                                " of the circuit's angles and matrices is " + std::to_string(*there) +
                                " on rank 0, and " + std::to_string(*here) + " on rank " +
                                std::to_string(communicator.rank()),
                            communicator.rank(), "start every rank with the same program, circuit and options");
  });
}

}  // namespace

void require_same_run(const Circuit& circuit, const RunOptions& options, Communicator& communicator) {
  if (communicator.size() == 1) return;
  std::vector<Fact> facts = option_facts(options);
  const std::vector<Fact> of_circuit = circuit_facts(circuit);
  facts.insert(facts.end(), of_circuit.begin(), of_circuit.end());
  require_same(communicator, facts);
  require_same_numbers(circuit, communicator);
}

}  // namespace qsim
