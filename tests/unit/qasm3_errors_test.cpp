// Errors of OpenQASM 3: their places, several at once, the caps of untrusted text.
#include <gtest/gtest.h>

#include <chrono>

#include "qsim/error.h"
#include "qsim/qasm.h"

namespace qsim {
namespace {

constexpr const char* kHead = "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n";

std::vector<Diagnostic> errors_of(const std::string& text) { return check_qasm(kHead + text); }

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

ExitCode code_of(const std::string& text, std::uint64_t operations = 1u << 28) {
  QasmOptions options;
  options.max_operations = operations;
  try {
    parse_qasm(kHead + text, options);
    return ExitCode::kOk;
  } catch (const Error& error) {
    return error.code();
  }
}

TEST(Qasm3Errors, NamePlaceAndBothTypes) {
  struct Case {
    const char* text;
    const char* where;
    const char* message;
  };
  const Case cases[] = {
      {"bit[3] a;\nbit[2] b;\na = b;", ":5:5:", "sizes differ: bit[3] and bit[2]"},
      {"angle[8] a = pi;\nint b = int[8](a);", ":4:16:", "angle[8] cannot become int[8]"},
      {"qubit q;\nint a = q;", ":4:9:", "'q' is a qubit, not a value"},
      {"qubit[2] q;\nx q[2];", ":4:5:", "index 2 is out of range for 2"},
      {"qubit q;\nhh q;", ":4:1:", "gate 'hh' is not defined"},
      {"const int a = 1 / 0;", ":3:17:", "division by zero"},
      {"gate g a { x b; }", ":3:14:", "'b' is not declared"},
      {"int i;\ngate g a { rx(i) a; }", ":4:15:", "not declared here"},
      {"def f() { qubit q; }", ":3:11:", "must be global"},
      {"qubit[2] q;\nctrl(0) @ x q[0];", ":4:6:", "positive"},
      {"qubit q;\nfor i in [0:1] { x q; }", ":4:5:", "type of the loop variable"},
      {"switch (1) { case 1 { } case 1 { } }", ":3:30:", "appears twice"},
      {"break;", ":3:1:", "outside of a loop"},
      {"float a = sin(1, 2);", ":3:11:", "takes 1 argument, not 2"},
      {"let a = q[0:1];", ":3:9:", "'q' is not declared"},
      {"/* never closed", ":3:1:", "no end"},
      {"int a = 3__4;", ":3:9:", "malformed number"},
  };
  for (const Case& each : cases) {
    const std::vector<Diagnostic> errors = errors_of(each.text);
    ASSERT_FALSE(errors.empty()) << each.text;
    EXPECT_NE(std::string::npos, errors[0].text.find(each.where)) << errors[0].text;
    EXPECT_NE(std::string::npos, errors[0].text.find(each.message)) << errors[0].text;
  }
}

TEST(Qasm3Errors, AreReportedTogetherUpToTwenty) {
  EXPECT_EQ(3u, errors_of("qubit q;\nfoo q;\nx r;\nif (true) { bar q; }\nx q;").size());
  EXPECT_EQ(2u, errors_of("if (true) { foo a; int b = \"01\" + 1.5; }").size());
  EXPECT_EQ(20u, errors_of(repeat("foo q;\n", 50)).size());
  // What follows from a declaration that failed is not reported again.
  EXPECT_EQ(1u, errors_of("bit[n] c;\nc = 1;\nc[0] = 1;").size());
  EXPECT_EQ(1u, errors_of("qubit q; x q[; ; x q;").size());
}

TEST(Qasm3Errors, HintsNameTheRemedy) {
  EXPECT_NE(std::string::npos, errors_of("qubit q; hh q;")[0].hint.find("'h'"));
  EXPECT_NE(std::string::npos, check_qasm("OPENQASM 3.0; qubit q; h q;")[0].hint.find("stdgates.inc"));
  EXPECT_NE(std::string::npos, errors_of("int a = 3.5;")[0].hint.find("cast"));
  EXPECT_EQ("by line 3 of <input>", errors_of("int a;\nint b;\nint a;")[0].hint);
  EXPECT_EQ("by line 2 of <input>", errors_of("bit x;")[0].hint);  // by the library
  EXPECT_NE(std::string::npos, errors_of("qubit q; nop q;")[0].hint.find("3.2"));
}

TEST(Qasm3Errors, InputsNeedTheirValues) {
  const std::string text = std::string(kHead) + "input float a; input bit[2] b; qubit q; rx(a) q;";
  QasmOptions options;
  EXPECT_THROW(parse_qasm(text, options), ParseError);
  options.parameters = {{"a", "pi/2"}, {"b", "01"}};
  EXPECT_EQ(1u, parse_qasm(text, options).circuit.operation_count());
  options.parameters["c"] = "1";
  EXPECT_THROW(parse_qasm(text, options), UsageError);
  options.parameters = {{"a", "pi/"}, {"b", "01"}};
  EXPECT_THROW(parse_qasm(text, options), ParseError);
}

TEST(Qasm3Errors, NotesSayWhatHasNoEffect) {
  const QasmProgram program = parse_qasm(std::string(kHead) + "qubit[2] q; delay[1ns] q[0]; pragma x\nrx(1/2) q[0];");
  EXPECT_EQ(3u, program.notes.size());
}

TEST(Qasm3Untrusted, NothingIsExpandedBeyondTheCaps) {
  std::string nested = "gate g0 a { x a; x a; }\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "g" + std::to_string(i - 1);
    nested += "gate g" + std::to_string(i) + " a { " + before + " a; " + before + " a; }\n";
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(ExitCode::kUnsupported, code_of(nested + "qubit q; g59 q;"));
  EXPECT_EQ(ExitCode::kOk, code_of(nested + "qubit q;"));
  EXPECT_EQ(ExitCode::kUnsupported, code_of("qubit q; for int i in [0:1000000] for int j in [0:1000000] x q;"));
  EXPECT_EQ(ExitCode::kUnsupported,
            code_of("qubit[9] q; gate g a, b, c, d, e, f, i, j, k { h a; cx a, k; } "
                    "pow(1000000000000) @ g q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7], q[8];"));
  EXPECT_EQ(ExitCode::kUnsupported, code_of("while (true) { }"));
  EXPECT_EQ(ExitCode::kUnsupported, code_of("def f(int n) { f(n + 1); } f(0);"));
  EXPECT_EQ(ExitCode::kUnsupported, code_of("qubit[4000000000] q; h q;"));
  EXPECT_EQ(ExitCode::kUnsupported, code_of("bit[4000000000] c;"));
  EXPECT_EQ(ExitCode::kCapacity, code_of("qubit[4000000000] q; qubit[4000000000] r;"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Qasm3Untrusted, DeepTextsAreErrors) {
  const int deep = 100000;
  EXPECT_EQ(ExitCode::kCircuit, code_of("int a = " + repeat("(", deep) + "1" + repeat(")", deep) + ";"));
  EXPECT_EQ(ExitCode::kCircuit, code_of("int a = " + repeat("-", deep) + "1;"));
  EXPECT_EQ(ExitCode::kCircuit, code_of(repeat("{", deep)));
  EXPECT_EQ(ExitCode::kCircuit, code_of(repeat("if (true) ", deep) + "end;"));
  EXPECT_EQ(ExitCode::kCircuit, code_of("int a = 1" + repeat(" ** 1", deep) + ";"));
}

TEST(Qasm3Untrusted, OddBytesAreErrorsWithPlaces) {
  for (const std::string& text : {std::string("qubit q; \xff\xfe"), std::string("qubit \xe2\x80\x9cq;"),
                                  std::string("?"), std::string("int a\0;", 7), std::string("\"abc"), std::string("$"),
                                  std::string("#"), std::string("}"), std::string("qubit q; x q")}) {
    const std::vector<Diagnostic> errors = errors_of(text);
    ASSERT_FALSE(errors.empty()) << text;
    EXPECT_GT(errors[0].where.line, 0u);
  }
}

}  // namespace
}  // namespace qsim
