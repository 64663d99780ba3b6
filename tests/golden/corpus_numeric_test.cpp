// Every program of the shared corpus with a numerical answer, simulated, against that answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "qsim/qasm.h"
#include "simulator/simulator.h"
#include "support/corpus.h"
#include "support/corpus_variables.h"
#include "support/outcomes.h"
#include "support/simulate.h"
#include "support/test_backend.h"

namespace qsim::test {
namespace {

constexpr std::uint32_t kMaxSharedQubits = 12;  // circuits up to this size are run on several ranks as well
constexpr std::size_t kShards = 8;

Index index_of(const std::string& bits) {
  Index index = 0;
  for (const char c : bits) index = 2 * index + (c == '1' ? 1 : 0);
  return index;
}

PauliString pauli_of(const std::string& letters) {
  PauliString pauli;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Index bit = Index{1} << (letters.size() - 1 - i);
    if (letters[i] == 'X' || letters[i] == 'Y') pauli.x |= bit;
    if (letters[i] == 'Z' || letters[i] == 'Y') pauli.z |= bit;
  }
  return pauli;
}

/// The strings whose expectations the answer holds, and those expectations.
struct Observables {
  PauliSum sum;
  std::vector<double> expected;
  void add(const PauliString& pauli, double value) {
    sum.terms.push_back({1, pauli});
    expected.push_back(value);
  }
};

Observables observables_of(const CorpusState& state) {
  Observables observables;
  for (std::size_t q = 0; q < state.x1.size(); ++q) observables.add({Index{1} << q, 0}, state.x1[q]);
  for (std::size_t q = 0; q < state.y1.size(); ++q) observables.add({Index{1} << q, Index{1} << q}, state.y1[q]);
  for (std::size_t q = 0; q < state.z1.size(); ++q) observables.add({0, Index{1} << q}, state.z1[q]);
  for (const CorpusMask& mask : state.zmask) observables.add({0, mask.mask}, mask.value);
  for (const CorpusPauli& pauli : state.pauli) observables.add(pauli_of(pauli.letters), pauli.value);
  return observables;
}

void expect_amplitudes(const CorpusState& expected, const std::vector<AmplitudeEntry>& found, double tolerance) {
  ASSERT_EQ(found.size(), expected.top.size());
  ASSERT_GT(std::abs(found[0].value), 1e-6) << "the most probable amplitude is missing";
  const Complex first = expected.top.front().value;
  const Complex phase = std::abs(found[0].value) / found[0].value * (first / std::abs(first));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].index, index_of(expected.top[i].bits));
    EXPECT_NEAR(std::abs(found[i].value * phase - expected.top[i].value), 0, tolerance) << expected.top[i].bits;
    EXPECT_NEAR(found[i].probability, expected.top[i].probability, tolerance) << expected.top[i].bits;
  }
}

void expect_distribution(const CorpusClassical& expected, const std::map<std::string, double>& found,
                         double tolerance) {
  std::map<std::string, double> by_bits;
  double total = 0;
  std::vector<double> p1(expected.bits, 0), masks(expected.zmask.size(), 0);
  for (const auto& [bits, probability] : found) {
    ASSERT_EQ(bits.size(), expected.bits);
    by_bits[bits] = probability;
    total += probability;
    for (unsigned bit = 0; bit < expected.bits; ++bit) p1[bit] += bits[bits.size() - 1 - bit] == '1' ? probability : 0;
    for (std::size_t m = 0; expected.bits <= 64 && m < masks.size(); ++m) {
      masks[m] += std::popcount(index_of(bits) & expected.zmask[m].mask) % 2 == 0 ? probability : -probability;
    }
  }
  EXPECT_NEAR(total, expected.total, tolerance);
  for (const auto& [bits, probability] : expected.top) EXPECT_NEAR(by_bits[bits], probability, tolerance) << bits;
  for (unsigned bit = 0; bit < expected.p1.size(); ++bit) EXPECT_NEAR(p1[bit], expected.p1[bit], tolerance) << bit;
  for (std::size_t m = 0; expected.bits <= 64 && m < masks.size(); ++m) {
    EXPECT_NEAR(masks[m], expected.zmask[m].value, tolerance) << "classical mask " << expected.zmask[m].mask;
  }
}

void expect_variables(const CorpusProgram& program, const VariableResults& results) {
  const std::vector<CorpusVariables>& wanted = program.answer->variables;
  std::vector<double> found(wanted.size());
  for (const auto& [values, probability] : results.distribution.value()) {
    add_probability(wanted, results.variables, values, std::max(program.tolerance, 1e-9), probability, found);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(wanted[i].probability, found[i], program.tolerance) << text_of(wanted[i]);
  }
}

/// Of a program that measurements steer, averages over its branches are asked for and no amplitudes.
void expect_answer(const CorpusProgram& program, const Circuit& circuit, int ranks) {
  const CorpusAnswer& answer = *program.answer;
  const double tolerance = program.tolerance;
  SCOPED_TRACE(std::to_string(ranks) + " ranks");
  RunOptions options = run_options();
  options.shots = 0;
  options.distribution = (answer.classical && answer.classical->bits > 0) || has_variables(circuit);
  Observables observables;
  const bool amplitudes = answer.state && circuit.measurements_are_terminal();
  if (answer.state) {
    observables = observables_of(*answer.state);
    if (amplitudes) {
      options.amplitudes_requested = true;
      for (const CorpusAmplitude& entry : answer.state->top) options.amplitude_indices.push_back(index_of(entry.bits));
    }
    options.marginals = true;
    if (!observables.expected.empty()) options.expectation.push_back(observables.sum);
  }
  const Result result = simulate(circuit, options, ranks);
  if (answer.state) {
    if (amplitudes) {
      EXPECT_NEAR(result.verification.norm.value(), answer.state->norm, tolerance);
      expect_amplitudes(*answer.state, result.results.amplitudes.value(), tolerance);
    }
    for (std::size_t q = 0; q < answer.state->z1.size(); ++q) {
      EXPECT_NEAR(result.results.marginals.value()[q], (1 - answer.state->z1[q]) / 2, tolerance) << "qubit " << q;
    }
    for (std::size_t i = 0; i < observables.expected.size(); ++i) {
      const PauliTermValue& term = result.results.expectation.value()[0].terms[i];
      EXPECT_NEAR(term.value, observables.expected[i], tolerance) << term.pauli;
    }
  }
  if (answer.classical && answer.classical->bits > 0) {
    expect_distribution(*answer.classical, by_text(result.results.distribution.value()), tolerance);
  }
  if (!answer.variables.empty()) expect_variables(program, result.results.variables.value());
}

/// The programs with numbers, those of one shard.
std::vector<const CorpusProgram*> numeric_programs(std::size_t shard) {
  std::vector<const CorpusProgram*> programs;
  std::size_t number = 0;
  for (const auto* corpus : {&corpus_programs(), &corpus3_programs()}) {
    for (const CorpusProgram& program : *corpus) {
      if (program.answer && number++ % kShards == shard) programs.push_back(&program);
    }
  }
  return programs;
}

class CorpusNumbers : public testing::TestWithParam<std::size_t> {};

TEST_P(CorpusNumbers, AreMetByEveryProgram) {
  if (corpus_programs().empty()) GTEST_SKIP() << "the shared corpus is not here (set QSIM_SHARED)";
  std::size_t checked = 0;
  for (const CorpusProgram* program : numeric_programs(GetParam())) {
    SCOPED_TRACE(program->path);
    Circuit circuit;
    try {
      QasmOptions options;
      options.parameters = program->answer->inputs;
      circuit = parse_qasm_file(program->file, nullptr, options).circuit;
    } catch (const Error& error) {
      EXPECT_NE(program->verdict, CorpusVerdict::kAccept) << error.what();
      continue;  // unspecified: refusing it is a documented choice
    }
    try {
      expect_answer(*program, circuit, 1);
      if (circuit.qubits() >= 3 && circuit.qubits() <= kMaxSharedQubits) {
        expect_answer(*program, circuit, 4);
      }
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    ++checked;
  }
  EXPECT_GE(checked, 20u);
}

INSTANTIATE_TEST_SUITE_P(Shard, CorpusNumbers, testing::Range<std::size_t>(0, kShards));

}  // namespace
}  // namespace qsim::test
