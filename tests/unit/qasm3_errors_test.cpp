// Errors of OpenQASM 3: their places, several at once, the caps of untrusted text.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <sstream>
#include <vector>

#include "qasm3/types/type.h"
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

TEST(Qasm3Ranges, NameThePositionsOfAWalk) {
  using qsim::qasm3::range_positions;
  constexpr std::uint32_t kSize = 7;
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t start = -9; start <= 9; ++start) {
    for (std::int64_t stop = -9; stop <= 9; ++stop) {
      for (const std::int64_t step : std::initializer_list<std::int64_t>{-kFar, -8, -3, -2, -1, 1, 2, 3, 8, kFar}) {
        const auto bound = [](std::int64_t index) { return index < 0 ? index + kSize : index; };
        std::vector<std::int64_t> walked;
        bool inside = true;
        const std::int64_t stride = std::clamp<std::int64_t>(step, -100, 100);
        for (auto at = bound(start); stride > 0 ? at <= bound(stop) : at >= bound(stop); at += stride) {
          walked.push_back(at);
          inside = inside && at >= 0 && at < kSize;
        }
        const auto named = range_positions({start, step, stop}, kSize);
        ASSERT_EQ(named.has_value(), inside) << start << ':' << step << ':' << stop;
        if (!named) continue;
        std::vector<std::int64_t> places;
        for (std::uint32_t i = 0; i < named->count; ++i) places.push_back(named->first + i * named->step);
        EXPECT_EQ(places, walked) << start << ':' << step << ':' << stop;
      }
    }
  }
  EXPECT_FALSE(range_positions({0, 1, kFar}, kSize));
  EXPECT_FALSE(range_positions({-kFar, kFar, kFar}, kSize));
  EXPECT_FALSE(range_positions({0, kFar, kFar - 1}, kSize));
  EXPECT_EQ(range_positions({0, 1, -1}, 4294967295u)->count, 4294967295u);
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

/// A program of one error: its line and column, and words of its message.
struct Placed {
  const char* text;  // behind two lines
  std::uint32_t line, column;
  const char* message;
};

// By kind, as docs/qasm.md promises.
const Placed kPlaced[] = {
    // type errors, with both types
    {"bit[3] a;\nint[8] b = a + \"01\" + 1.5;", 4, 21, "float[64] cannot become int[8]"},
    {"float f = 1.0;\nbit[2] c = f;", 4, 12, "float[64] cannot become bit[2]"},
    {"qubit q;\nrx(\"01\") q;", 4, 4, "bit[2]"},
    {"array[int[8], 2] a;\narray[int[8], 3] b = a;", 4, 22, "array[int[8], 2] where array[int[8], 3] is needed"},
    // indices that are known to be out of range
    {"qubit[2] q;\nx q[2];", 4, 5, "index 2 is out of range for 2"},
    {"qubit[2] q;\nx q[-3];", 4, 5, "index -3 is out of range for 2"},
    {"array[int[8], 2, 3] m;\nint[8] k = m[1, 3];", 4, 17, "index 3 is out of range for 3"},
    {"bit[2] c;\nc[0:2] = 0;", 4, 3, "the range leaves what it is taken from (2)"},
    {"int[8] i;\nbit b = i[8];", 4, 11, "index 8 is out of range for 8"},
    // use before declaration
    {"x q;\nqubit q;", 3, 3, "'q' is not declared"},
    {"int a = b + 1;\nint b = 2;", 3, 9, "'b' is not declared"},
    {"qubit q;\ng q;\ngate g a { }", 4, 1, "gate 'g' is not defined"},
    {"int a = f(1);\ndef f(int n) -> int { return n; }", 3, 9, "'f' is not declared"},
    // shadowing against the rules
    {"int a;\nint a;", 4, 1, "'a' is already declared"},
    {"int a;\ngate a q { }", 4, 1, "'a' is already declared"},
    {"gate x a { }", 3, 1, "'x' is already declared"},
    {"gate g(t) t { }", 3, 11, "'t' is already declared"},
    {"def f(int n) -> int {\nint n = 2; return n; }", 4, 1, "'n' is already declared"},
    {"int pi = 3;", 3, 1, "'pi' is a built-in name"},
    // wrong modifiers
    {"qubit[2] q;\nctrl(0.5) @ x q[0], q[1];", 4, 6, "float[64] where an integer is needed"},
    {"qubit[2] q;\nctrl(-1) @ x q[0], q[1];", 4, 6, "positive"},
    {"qubit[2] q;\nint n = 1; ctrl(n) @ x q[0], q[1];", 4, 17, "the number of controls must be constant"},
    {"qubit[2] q;\npow(q) @ x q[0];", 4, 5, "'q' is a qubit[2], not a value"},
    {"qubit[2] q;\nctrl @ x q[0];", 4, 1, "'x' takes 2 qubits here, not 1"},
    {"qubit[2] q;\ninv(2) @ x q[0];", 4, 4, "expected '@' after 'inv', found '('"},
    {"qubit[2] q;\nctrl @ measure q[0];", 4, 8, "expected a gate's name, found 'measure'"},
    // bodies of gates that are not unitary
    {"gate g a {\nmeasure a; }", 4, 1, "a gate holds gates alone"},
    {"gate g a {\nreset a; }", 4, 1, "a gate holds gates alone"},
    {"gate g a {\nbit c = measure a; }", 4, 1, "a gate holds gates alone"},
    {"def f(qubit q) { }\ngate g a {\nf(a); }", 5, 1, "f"},
    // division by zero in constants
    {"const int a = 1 / 0;", 3, 17, "division by zero"},
    {"const int a = 4 % 0;", 3, 17, "division by zero"},
    {"const int n = 2;\nbit[1 / (n - 2)] c;", 4, 7, "division by zero"},
    {"const int n = 0;\nqubit[2] q;\nctrl(3 / n) @ x q[0], q[1];", 5, 8, "division by zero"},
    {"switch (1) {\ncase 1 / 0 { } }", 4, 8, "division by zero"},
    // numbers that do not fit
    {"float[16] a =\n70000.0;", 4, 1, "70000 does not fit float[16]"},
    {"float[32] a = 1e30;\na = a * 1e9;", 4, 7, "does not fit float[32]"},
    // recursion without bound
    {"def f(int n) -> int { return f(n + 1); }\nint a = f(0);", 3, 30, "calls nested deeper than 256 levels"},
    {"gate g a {\ng a; }", 4, 1, "gate 'g' is not defined"},
    // loops whose count exceeds the caps
    {"qubit q;\nfor int i in [0:400000000] { x q; }", 4, 1, "expands to more than 268435456 operations"},
    {"while (true) { }", 3, 1, "did not end within 1048576 iterations"},
};

TEST(Qasm3Errors, OfEveryKindShowFileLineColumnAndTheLine) {
  QasmOptions options;
  options.file = "folder/program.qasm";
  for (const Placed& each : kPlaced) {
    const std::string text = std::string(kHead) + each.text;
    const std::vector<Diagnostic> errors = check_qasm(text, options);
    ASSERT_EQ(1u, errors.size()) << each.text << (errors.empty() ? "" : errors.back().text);
    std::istringstream lines(text);
    std::string line;
    for (std::uint32_t i = 0; i < each.line; ++i) std::getline(lines, line);
    const std::string place = "folder/program.qasm:" + std::to_string(each.line) + ':' + std::to_string(each.column);
    EXPECT_EQ(0u, errors[0].text.find(place + ": error: ")) << errors[0].text;
    EXPECT_NE(std::string::npos, errors[0].text.find(each.message)) << errors[0].text;
    const std::string shown = "\n  " + line + "\n" + std::string(each.column + 1, ' ') + '^';
    EXPECT_NE(std::string::npos, errors[0].text.find(shown)) << errors[0].text;
    EXPECT_EQ(each.line, errors[0].where.line);
    EXPECT_EQ(each.column, errors[0].where.column);
  }
}

TEST(Qasm3Errors, VersionLinesThatAreNotKnown) {
  struct Line {
    const char* text;
    std::uint32_t line, column;
    ExitCode code;
  };
  const Line lines[] = {{"OPENQASM 4.0;\nqubit q;", 1, 10, ExitCode::kCircuit},
                        {"OPENQASM 3.7;\nqubit q;", 1, 10, ExitCode::kUnsupported},
                        {"OPENQASM three;\nqubit q;", 1, 10, ExitCode::kCircuit},
                        {"OPENQASM 3\nqubit q;", 2, 1, ExitCode::kCircuit},
                        {"qubit q;\nOPENQASM 3.0;", 2, 1, ExitCode::kCircuit},
                        {"OPENQASM 2.5;\nqreg q[1];", 1, 10, ExitCode::kCircuit}};
  for (const Line& each : lines) {
    const std::vector<Diagnostic> errors = check_qasm(each.text);
    ASSERT_FALSE(errors.empty()) << each.text;
    EXPECT_EQ(each.line, errors[0].where.line) << errors[0].text;
    EXPECT_EQ(each.column, errors[0].where.column) << errors[0].text;
    EXPECT_EQ(each.code, errors[0].code) << errors[0].text;
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
  EXPECT_EQ("", errors_of("x q;")[0].hint);  // any letter is as near as any other
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
  EXPECT_EQ(ExitCode::kCapacity, code_of("qubit[4000000000] q; h q;"));
  EXPECT_EQ(ExitCode::kUnsupported, code_of("bit[4000000000] c;"));
  EXPECT_EQ(ExitCode::kCapacity, code_of("qubit[4000000000] q; qubit[4000000000] r;"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(Qasm3Untrusted, TheCapsHoldWhereBranchesThatEndedMeet) {
  const std::string text = "qubit q; bit[40] c; for int i in [0:19] { h q; c[i] = measure q; if (c[i]) end; }";
  std::size_t refused = 0;
  for (std::uint64_t operations = 20; operations <= 1000; operations += 20) {
    const ExitCode code = code_of(text, operations);
    EXPECT_TRUE(code == ExitCode::kOk || code == ExitCode::kUnsupported) << operations;
    refused += code == ExitCode::kUnsupported;
  }
  EXPECT_GT(refused, 0u);
  EXPECT_LT(refused, 50u);
}

TEST(Qasm3Untrusted, BodiesThatCallWhatIsNoGateAreErrors) {
  // Seen by the address sanitizer alone: the variable's number was taken for a gate's.
  for (const char* const text :
       {"uint[16] v; int a, b;", "input uint[16] v; gate v q { v q; v q; }", "int[8] k; int[8] v; gate g q { v q; }",
        "int[8] k; int[8] v; def f(qubit q) { v q; }"}) {
    EXPECT_FALSE(check_qasm(std::string("OPENQASM 3.0;\n") + text).empty()) << text;
  }
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
