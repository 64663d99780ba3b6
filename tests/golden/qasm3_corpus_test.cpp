// OpenQASM 3 against every program of the shared corpus: what is accepted, where errors are, and the answers of the
// flow programs on the dense reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "qasm3/read.h"
#include "qasm3/syntax/parser.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "support/corpus.h"
#include "support/corpus_variables.h"
#include "support/flow_interpreter.h"

namespace qsim {
namespace {

using test::CorpusClass;
using test::CorpusProgram;
using test::CorpusVerdict;

constexpr unsigned kMaxDenseQubits = 14;

#define NEED_CORPUS3() \
  if (test::corpus3_programs().empty()) GTEST_SKIP() << "the shared corpus is not here (set QSIM_SHARED)"

std::vector<const CorpusProgram*> category(const std::string& name) {
  std::vector<const CorpusProgram*> found;
  for (const CorpusProgram& program : test::corpus3_programs()) {
    if (program.category == name) found.push_back(&program);
  }
  return found;
}

QasmOptions options_of(const CorpusProgram& program) {
  QasmOptions options;
  options.file = program.file;
  if (program.answer) options.parameters = program.answer->inputs;
  return options;
}

struct Outcome {
  ExitCode code = ExitCode::kOk;
  std::string text;
  std::uint32_t line = 0;
  Flow flow;
};

Outcome read(const CorpusProgram& program, const std::map<std::string, std::string>* inputs = nullptr) {
  Outcome outcome;
  QasmOptions options = options_of(program);
  if (inputs != nullptr) options.parameters = *inputs;
  try {
    outcome.flow = parse_flow(test::read_file(program.file), options);
  } catch (const SourceError& error) {
    outcome.code = error.code();
    outcome.text = error.what();
    outcome.line = error.where().line;
  } catch (const Error& error) {
    outcome.code = error.code();
    outcome.text = error.what();
  }
  return outcome;
}

std::size_t index_of(const std::string& bits) {
  std::size_t index = 0;
  for (const char c : bits) index = 2 * index + (c == '1' ? 1 : 0);
  return index;
}

void expect_state(const test::CorpusState& expected, const dense::State& state, double tolerance) {
  if (expected.top.empty()) return;
  const std::complex<double> first = state[index_of(expected.top.front().bits)];
  ASSERT_GT(std::abs(first), 1e-6) << "the most probable amplitude is missing";
  const std::complex<double> phase =
      expected.top.front().value / std::abs(expected.top.front().value) * std::abs(first) / first;
  for (const test::CorpusAmplitude& each : expected.top) {
    EXPECT_NEAR(0, std::abs(each.value - phase * state[index_of(each.bits)]), tolerance) << each.bits;
  }
  for (const test::CorpusMask& each : expected.zmask) {
    double sum = 0;
    for (std::size_t i = 0; i < state.size(); ++i) {
      sum += std::popcount(i & each.mask) % 2 == 0 ? std::norm(state[i]) : -std::norm(state[i]);
    }
    EXPECT_NEAR(each.value, sum, tolerance) << " zmask " << each.mask;
  }
}

void expect_registers(const test::CorpusClassical& expected, const std::map<std::string, double>& found,
                      double tolerance) {
  double total = 0;
  for (const auto& [bits, probability] : found) total += probability;
  EXPECT_NEAR(expected.total, total, tolerance);
  for (const auto& [bits, probability] : expected.top) {
    const auto at = found.find(bits);
    EXPECT_NEAR(probability, at == found.end() ? 0 : at->second, tolerance) << bits;
  }
  if (expected.complete) {
    for (const auto& [bits, probability] : found) {
      if (probability < tolerance) continue;
      const bool known = std::ranges::any_of(expected.top, [&](const auto& each) { return each.first == bits; });
      EXPECT_TRUE(known) << bits << " has probability " << probability;
    }
  }
}

void expect_variables(const CorpusProgram& program, const Flow& flow) {
  const std::vector<test::CorpusVariables>& wanted = program.answer->variables;
  std::vector<double> found(wanted.size());
  test::run_flow(flow, [&](const test::FlowBranch& branch) {
    std::vector<Scalar> values;
    for (const FlowOutput& output : flow.outputs) {
      for (const Scalar& value : output_values(output, branch.variables)) values.push_back(value);
    }
    test::add_probability(wanted, flow.outputs, values, std::max(program.tolerance, 1e-9), branch.probability, found);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(wanted[i].probability, found[i], program.tolerance) << test::text_of(wanted[i]);
  }
}

void expect_answer(const CorpusProgram& program, const Flow& flow) {
  const test::CorpusAnswer& answer = *program.answer;
  EXPECT_EQ(answer.qubits, flow.circuit.qubits());
  if (answer.state && !flow.branches()) {
    dense::State state = dense::zero_state(flow.circuit.qubits());
    bool unitary = true;
    for (const FlowStep& step : flow.steps) unitary = unitary && step.kind != FlowStep::Kind::kReset;
    if (unitary) {
      for (const Operation& op : flow.circuit.operations()) {
        if (op.kind != OpKind::kBarrier) dense::apply(state, flow.circuit, op);
      }
      expect_state(*answer.state, state, program.tolerance);
    }
  }
  if (answer.classical) {
    expect_registers(*answer.classical, test::register_distribution(flow), program.tolerance);
  }
  if (!answer.variables.empty()) expect_variables(program, flow);
}

/// A valid program that is not run, and what is said of it.
struct Exception {
  std::string path;
  ExitCode code;
  std::string message;
};

// Loops without end, calls of functions that nothing defines; and msd.qasm, whose index is outside of its register: the
// corpus has no answer for it, and no other tool takes it.
const std::vector<Exception> kNotRun = {
    {"feynman/qasm3__loop-block.qasm", ExitCode::kUnsupported, "did not end within"},
    {"feynman/qasm3__loop-null.qasm", ExitCode::kUnsupported, "did not end within"},
    {"feynman/qasm3__loop-simple.qasm", ExitCode::kUnsupported, "did not end within"},
    {"qasm3_import/test_convert__test_while_bit_2.qasm", ExitCode::kUnsupported, "did not end within"},
    {"qasm3_import/test_convert__test_while_bit_3.qasm", ExitCode::kUnsupported, "did not end within"},
    {"qasm3_import/test_convert__test_while_bit_4.qasm", ExitCode::kUnsupported, "did not end within"},
    {"qasm3_import/test_convert__test_while_register_0.qasm", ExitCode::kUnsupported, "did not end within"},
    {"qasm3_import/test_convert__test_while_register_1.qasm", ExitCode::kUnsupported, "did not end within"},
    {"qe_qasm/test-nested-while-loop-1.qasm", ExitCode::kUnsupported, "did not end within"},
    {"qe_qasm/test-while-1.qasm", ExitCode::kUnsupported, "more than 4194304 steps"},
    {"openqasm3/scqec.qasm", ExitCode::kUnsupported, "external function 'zfirst' is called"},
    {"openqasm3/t1.qasm", ExitCode::kUnsupported, "external function 'tabulate' is called"},
    {"qasm3tools/scqec.qasm", ExitCode::kUnsupported, "external function 'zfirst' is called"},
    {"qasm3tools/t1.qasm", ExitCode::kUnsupported, "external function 'tabulate' is called"},
    {"qasm3tools/gateteleport.qasm", ExitCode::kUnsupported, "external function 'vote' is called"},
    {"qasm3tools/msd.qasm", ExitCode::kCircuit, "index 3 is out of range for 3"},
};

// Programs with inputs for which the corpus names no values.
const std::map<std::string, std::map<std::string, std::string>> kInputs = {
    {"qasm3_import/test_convert__test_readme_circuit.qasm", {{"a", "0.3"}}},
    {"qasm3_import/test_convert__test_readme_circuit_physical_qubits.qasm", {{"a", "0.3"}}},
};

/// `path` without its category.
std::string short_path(const CorpusProgram& program) { return program.path.substr(program.path.find('/') + 1); }

TEST(Qasm3Corpus, EveryValidProgramIsAccepted) {
  NEED_CORPUS3();
  std::size_t excepted = 0;
  for (const CorpusProgram* program : category("qasm3_valid")) {
    const std::string path = short_path(*program);
    const auto inputs = kInputs.find(path);
    const Outcome outcome = read(*program, inputs == kInputs.end() ? nullptr : &inputs->second);
    const auto exception = std::ranges::find(kNotRun, path, &Exception::path);
    if (exception == kNotRun.end()) {
      EXPECT_EQ(ExitCode::kOk, outcome.code) << program->path << '\n' << outcome.text;
      continue;
    }
    ++excepted;
    EXPECT_EQ(exception->code, outcome.code) << program->path << '\n' << outcome.text;
    EXPECT_NE(std::string::npos, outcome.text.find(exception->message)) << program->path << '\n' << outcome.text;
    EXPECT_FALSE(program->answer) << program->path;
  }
  EXPECT_LE(excepted, kNotRun.size());
}

TEST(Qasm3Corpus, EveryInvalidProgramIsRejectedWithItsLine) {
  NEED_CORPUS3();
  std::size_t rejected = 0;
  for (const CorpusProgram* program : category("qasm3_invalid")) {
    const Outcome outcome = read(*program);
    EXPECT_EQ(ExitCode::kCircuit, outcome.code) << program->path << '\n' << outcome.text;
    // This one says OPENQASM 4.0, and what is behind that is not read.
    if (outcome.text.find("version '4.0' is not known") != std::string::npos) continue;
    EXPECT_NEAR(program->error_line.value(), outcome.line, 1) << program->path << '\n' << outcome.text;
    ++rejected;
  }
  EXPECT_GT(rejected, 225u);
}

TEST(Qasm3Corpus, EveryTextOfTheGrammarIsParsed) {
  NEED_CORPUS3();
  for (const CorpusProgram* program : category("qasm3_syntax")) {
    const std::string text = test::read_file(program->file);
    qasm3::Names names;
    qasm3::Tree tree;
    qasm3::Parser parser(text, 0, names, tree);
    EXPECT_NO_THROW({
      try {
        parser.begin();
        parser.version();
        while (!parser.at_end()) parser.statement();
      } catch (const qasm::Failure& failure) {
        throw std::runtime_error(failure.message);
      }
    }) << program->path;
  }
}

// Texts of the grammar that are parsed, which is all that the corpus promises, but are no programs: what they name is
// declared nowhere or twice, or another error of the kind stands in them.
const std::vector<Exception> kNoPrograms = {
    {"openqasm3_grammar/control_flow__branching.qasm", ExitCode::kCircuit, "'x' is not declared"},
    {"openqasm3_grammar/control_flow__switch.qasm", ExitCode::kCircuit, "'i' is not declared"},
    {"openqasm3_grammar/trailing_commas__gate.qasm", ExitCode::kCircuit, "gate 'CX' is not defined"},  // of version 2
    {"openqasm3_grammar/trailing_commas__index.qasm", ExitCode::kCircuit, "'two' is not declared"},
    {"openqasm3_grammar/trailing_commas__nop.qasm", ExitCode::kCircuit, "'nop' is no statement of OpenQASM 3.1"},
    {"oq3_parser/reference__assignment__alias.qasm", ExitCode::kCircuit, "the range leaves what it is taken from"},
    {"oq3_parser/reference__assignment__assignment.qasm", ExitCode::kCircuit, "'b' is already declared"},
    {"oq3_parser/reference__assignment__slices.qasm", ExitCode::kCircuit, "array[uint[16], 2, 2] is needed"},
    {"oq3_parser/reference__comments__comments_cnot.qasm", ExitCode::kCircuit, "gate 'cnot' is not defined"},
    {"oq3_parser/reference__control_flow__loop.qasm", ExitCode::kCircuit, "'i' is not declared"},
    {"oq3_parser/reference__control_flow__switch.qasm", ExitCode::kCircuit, "'switch' without a case"},
    {"oq3_parser/reference__declaration__array.qasm", ExitCode::kCircuit, "'x' is already declared"},
    {"oq3_parser/reference__declaration__declaration.qasm", ExitCode::kCircuit, "'z' is already declared"},
    {"oq3_parser/reference__directives__annotations.qasm", ExitCode::kCircuit, "'x' is already declared"},
    {"oq3_parser/reference__directives__include.qasm", ExitCode::kCircuit, "include 'foo2': no such file"},
    {"oq3_parser/reference__expression__sub_and_extern_call.qasm", ExitCode::kCircuit, "'sub_call' is not declared"},
    {"oq3_parser/reference__expression__unary_expr.qasm", ExitCode::kCircuit, "'my_var' is not declared"},
    {"oq3_parser/reference__scope__nop.qasm", ExitCode::kCircuit, "'nop' is no statement of OpenQASM 3.1"},
    {"oq3_parser/reference__subroutine__array.qasm", ExitCode::kCircuit, "'n' is not declared"},
};

TEST(Qasm3Corpus, TextsOfTheGrammarThatAreNoProgramsSayWhy) {
  NEED_CORPUS3();
  for (const CorpusProgram* program : category("qasm3_syntax")) {
    const Outcome outcome = read(*program);
    const auto exception = std::ranges::find(kNoPrograms, short_path(*program), &Exception::path);
    EXPECT_EQ(exception == kNoPrograms.end() ? ExitCode::kOk : exception->code, outcome.code) << program->path << '\n'
                                                                                              << outcome.text;
    if (exception == kNoPrograms.end()) continue;
    EXPECT_NE(std::string::npos, outcome.text.find(exception->message)) << program->path << '\n' << outcome.text;
    EXPECT_GT(outcome.line, 0u) << program->path;
  }
}

TEST(Qasm3Corpus, FlowProgramsGiveTheReferenceAnswersOnTheDenseSimulator) {
  NEED_CORPUS3();
  std::size_t compared = 0;
  for (const CorpusProgram& program : test::corpus3_programs()) {
    if (!program.answer || program.answer->qubits > kMaxDenseQubits) continue;
    SCOPED_TRACE(program.path);
    const Outcome outcome = read(program);
    if (program.verdict == CorpusVerdict::kUnspecified && outcome.code != ExitCode::kOk) continue;
    ASSERT_EQ(ExitCode::kOk, outcome.code) << program.path << outcome.text;
    expect_answer(program, outcome.flow);
    ++compared;
  }
  EXPECT_GT(compared, 400u);
}

}  // namespace
}  // namespace qsim
