// The parser against every program of the shared corpus, and the circuits it makes against the reference answers.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "support/corpus.h"
#include "support/dense.h"

namespace qsim {
namespace {

using test::CorpusAnswer;
using test::CorpusClass;
using test::CorpusProgram;
using test::CorpusVerdict;

constexpr unsigned kMaxDenseQubits = 12;
constexpr double kTolerance = 1e-10;

#define NEED_CORPUS() \
  if (test::corpus_programs().empty()) GTEST_SKIP() << "the shared corpus is not here (set QSIM_SHARED)"

std::vector<const CorpusProgram*> category(const std::string& name) {
  std::vector<const CorpusProgram*> found;
  for (const CorpusProgram& program : test::corpus_programs()) {
    if (program.category == name) found.push_back(&program);
  }
  return found;
}

std::vector<Diagnostic> check(const CorpusProgram& program) {
  QasmOptions options;
  options.file = program.file;
  return check_qasm(test::read_file(program.file), options);
}

ExitCode exit_code(const CorpusProgram& program) {
  try {
    parse_qasm_file(program.file);
    return ExitCode::kOk;
  } catch (const Error& error) {
    return error.code();
  }
}

std::size_t index_of(const std::string& bits) {
  std::size_t index = 0;
  for (const char c : bits) index = 2 * index + (c == '1' ? 1 : 0);
  return index;
}

void expect_state(const test::CorpusState& expected, const dense::State& state, const std::string& path) {
  ASSERT_FALSE(expected.top.empty()) << path;
  const std::complex<double> first = state[index_of(expected.top.front().bits)];
  ASSERT_GT(std::abs(first), 1e-6) << path << ": the most probable amplitude is missing";
  const std::complex<double> phase = std::abs(first) / first;
  for (const test::CorpusAmplitude& each : expected.top) {
    EXPECT_NEAR(0, std::abs(each.value - phase * state[index_of(each.bits)]), kTolerance) << path << ' ' << each.bits;
  }
  for (const test::CorpusMask& each : expected.zmask) {
    double sum = 0;
    for (std::size_t i = 0; i < state.size(); ++i) {
      sum += std::popcount(i & each.mask) % 2 == 0 ? std::norm(state[i]) : -std::norm(state[i]);
    }
    EXPECT_NEAR(each.value, sum, kTolerance) << path << " zmask " << each.mask;
  }
  for (const test::CorpusPauli& each : expected.pauli) {
    std::size_t flips = 0, signs = 0;
    std::complex<double> factor = 1;
    for (std::size_t q = 0; q < each.letters.size(); ++q) {
      const char letter = each.letters[each.letters.size() - 1 - q];
      if (letter == 'X' || letter == 'Y') flips |= std::size_t{1} << q;
      if (letter == 'Z' || letter == 'Y') signs |= std::size_t{1} << q;
      if (letter == 'Y') factor *= std::complex<double>(0, 1);
    }
    std::complex<double> sum = 0;
    for (std::size_t i = 0; i < state.size(); ++i) {
      const double sign = std::popcount(i & signs) % 2 == 0 ? 1 : -1;
      sum += std::conj(state[i ^ flips]) * state[i] * sign;
    }
    EXPECT_NEAR(each.value, (factor * sum).real(), kTolerance) << path << ' ' << each.letters;
  }
}

void expect_classical(const test::CorpusClassical& expected, const std::map<std::uint64_t, double>& distribution,
                      const std::string& path) {
  double total = 0;
  for (const auto& [bits, probability] : distribution) total += probability;
  EXPECT_NEAR(expected.total, total, kTolerance) << path;
  for (const auto& [bits, probability] : expected.top) {
    const auto found = distribution.find(index_of(bits));
    EXPECT_NEAR(probability, found == distribution.end() ? 0 : found->second, kTolerance) << path << ' ' << bits;
  }
}

// Branching programs cost 2^(measurements) in the dense reference.
bool cheap(const Circuit& circuit) {
  const auto branches = std::ranges::count_if(circuit.operations(), [](const Operation& op) {
    return op.kind == OpKind::kMeasure || op.kind == OpKind::kReset;
  });
  return circuit.measurements_are_terminal() || branches <= 10;
}

TEST(QasmCorpus, EveryValidProgramIsAccepted) {
  NEED_CORPUS();
  std::size_t accepted = 0;
  for (const CorpusProgram* program : category("qasm2_valid")) {
    if (program->no_result == "applies an opaque gate") {
      EXPECT_EQ(ExitCode::kUnsupported, exit_code(*program)) << program->path;
      continue;
    }
    const std::vector<Diagnostic> errors = check(*program);
    EXPECT_TRUE(errors.empty()) << program->path << '\n' << errors.front().text;
    accepted += errors.empty();
  }
  EXPECT_GT(accepted, 300u);
}

TEST(QasmCorpus, EveryInvalidProgramIsRejectedWithItsLine) {
  NEED_CORPUS();
  std::size_t rejected = 0;
  for (const CorpusProgram* program : category("qasm2_invalid")) {
    const std::vector<Diagnostic> errors = check(*program);
    ASSERT_FALSE(errors.empty()) << program->path << " was accepted";
    EXPECT_GT(errors.front().where.line, 0u) << program->path;
    // The reference may notice an error one token later or earlier, which can be on the next line.
    EXPECT_NEAR(program->error_line.value(), errors.front().where.line, 1) << program->path << '\n'
                                                                           << errors.front().text;
    const ExitCode code = exit_code(*program);
    EXPECT_TRUE(code == ExitCode::kCircuit || code == ExitCode::kUnsupported) << program->path;
    ++rejected;
  }
  EXPECT_GT(rejected, 200u);
}

// docs/qasm.md: what the language leaves open but has one plain meaning is accepted; extensions of single tools are
// not, but for Qiskit's standard gates and the resets that it writes into bodies, of which the corpus has no answers.
TEST(QasmCorpus, UnspecifiedProgramsAreAcceptedExactlyWhenTheyHaveAnAnswer) {
  NEED_CORPUS();
  const std::set<std::string> of_qiskit = {
      "qasm2_unspecified/nwqsim/benchmarks__testing__testing2.qasm",
      "qasm2_unspecified/nwqsim/benchmarks__testing__tt.qasm",
      "qasm2_unspecified/cirq/_parser_test__test_ryy_gate.qasm",
      "qasm2_unspecified/pyqasm/test_rotation_gates__test_convert_qasm_non_param_gate_def.qasm"};
  for (const CorpusProgram* program : category("qasm2_unspecified")) {
    const std::vector<Diagnostic> errors = check(*program);
    EXPECT_EQ(program->answer.has_value() || of_qiskit.contains(program->path), errors.empty())
        << program->path << '\n'
        << (errors.empty() ? "" : errors.front().text);
  }
}

TEST(QasmCorpus, ParsedCircuitsGiveTheReferenceAnswersOnTheDenseSimulator) {
  NEED_CORPUS();
  std::size_t compared = 0;
  for (const CorpusProgram& program : test::corpus_programs()) {
    if (!program.answer || program.answer->qubits > kMaxDenseQubits) continue;
    QasmProgram parsed;
    ASSERT_NO_THROW(parsed = parse_qasm_file(program.file)) << program.path;
    EXPECT_EQ(program.answer->qubits, parsed.circuit.qubits()) << program.path;
    if (parsed.circuit.operations().size() > 4000 || !cheap(parsed.circuit)) continue;
    const bool resets = program.features.find("reset") != std::string::npos;
    if (program.answer->state && !resets) {
      ASSERT_TRUE(parsed.circuit.measurements_are_terminal()) << program.path;
      expect_state(*program.answer->state, dense::run(parsed.circuit), program.path);
    }
    if (program.answer->classical && program.kind == CorpusClass::kBranching) {
      expect_classical(*program.answer->classical, dense::distribution(parsed.circuit), program.path);
    }
    ++compared;
  }
  EXPECT_GT(compared, 120u);
}

}  // namespace
}  // namespace qsim
