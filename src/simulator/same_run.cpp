// Circuits and options compared between ranks before the first step that depends on them.
#include <algorithm>
#include <string>
#include <vector>

#include "base/ranks/agreement.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "runtime/check/question_check.h"
#include "simulator/settings.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

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

/// What all ranks must be told alike. Left out is what may be a rank's own: its devices, threads, memory and paths.
std::vector<Fact> option_facts(const RunOptions& options) {
  const auto number = [](auto value) { return std::to_string(static_cast<long long>(value)); };
  std::vector<Fact> facts = facts_of(read_outs_of(options));
  const std::vector<Fact> of_run{
      {"backend", std::string(name_of(options.backend))},
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
      {"profile", number(!options.profile_path.empty())},
      {"pictures", number(options.pictures)},
      {"warm-ups", number(options.warm_ups)},
      {"repeats", number(options.repeats)}};
  facts.insert(facts.begin(), of_run.begin(), of_run.end());
  return facts;
}

/// Hosts whose mathematical libraries differ read angles and matrices differently.
std::vector<double> numbers_of(const Circuit& circuit) {
  std::vector<double> numbers;
  for (const Operation& op : circuit.operations()) {
    const std::span<const double> params = circuit.params(op);
    numbers.insert(numbers.end(), params.begin(), params.end());
  }
  return numbers;
}

}  // namespace

void require_same_run(const Circuit& circuit, const RunOptions& options, Communicator& communicator) {
  if (communicator.size() == 1) return;
  std::vector<Fact> facts = option_facts(options);
  const std::vector<Fact> of_circuit = circuit_facts(circuit);
  facts.insert(facts.end(), of_circuit.begin(), of_circuit.end());
  require_same(communicator, facts);
  require_same_numbers(communicator, numbers_of(circuit), "the circuit's angles and matrices");
}

}  // namespace qsim
