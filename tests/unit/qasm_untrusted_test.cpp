// OpenQASM text that nobody checked: messages, recovery, limits, includes, hostile sizes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"

namespace qsim {
namespace {

namespace fs = std::filesystem;

const std::string kHead = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\nqreg q[2];\ncreg c[2];\n";

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string repeat(const std::string& part, std::size_t count) {
  std::string text;
  text.reserve(part.size() * count);
  for (std::size_t i = 0; i < count; ++i) text += part;
  return text;
}

std::string first_error(const std::string& text) {
  const std::vector<Diagnostic> found = check_qasm(text);
  return found.empty() ? "" : found.front().text;
}

ExitCode code_of(const std::string& text) {
  try {
    parse_qasm(text);
    return ExitCode::kOk;
  } catch (const Error& error) {
    EXPECT_STRNE("", error.what());
    return error.code();
  }
}

// Processor time far above what a linear parser takes, with sanitizers too, and far below what a quadratic one would.
class Stopwatch {
 public:
  ~Stopwatch() { EXPECT_LT(static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC, 10.0); }

 private:
  std::clock_t start_ = std::clock();
};

TEST(QasmErrors, AMessageHasPlaceLineCaretAndSuggestion) {
  QasmOptions options;
  options.file = "dir/my.qasm";
  const std::vector<Diagnostic> found = check_qasm(kHead + "h q[0];\n  cxx q[0],q[1];\n", options);
  ASSERT_EQ(1u, found.size());
  EXPECT_EQ(
      "dir/my.qasm:6:3: error: gate 'cxx' is not defined\n"
      "    cxx q[0],q[1];\n"
      "    ^",
      found[0].text);
  EXPECT_EQ("did you mean 'cx'?", found[0].hint);
  EXPECT_EQ(6u, found[0].where.line);
  EXPECT_EQ(3u, found[0].where.column);
  EXPECT_EQ("dir/my.qasm", found[0].where.file);
}

TEST(QasmErrors, NearMissesAreNamed) {
  const auto hint = [](const std::string& body) { return check_qasm(kHead + body).at(0).hint; };
  EXPECT_EQ("did you mean 'swap'?", hint("sawp q[0],q[1];"));
  EXPECT_EQ("did you mean 'measure'?", hint("mesure q->c;"));
  EXPECT_EQ("did you mean 'CX'?", hint("Cx q[0],q[1];"));
  EXPECT_EQ("did you mean 'sqrt'?", hint("rz(sqr(2)) q[0];"));
  EXPECT_EQ("did you mean 'theta'?", hint("gate g(theta) a { rz(tehta) a; }"));
  EXPECT_EQ("did you mean 'count'?", hint("creg count[1]; if(coumt==0) h q;"));
  EXPECT_EQ("", hint("zzzzzz q[0];"));
}

TEST(QasmErrors, AllErrorsAreReportedUpToTheLimit) {
  const auto lines = [](const std::vector<Diagnostic>& found) {
    std::vector<std::uint32_t> numbers;
    for (const Diagnostic& each : found) numbers.push_back(each.where.line);
    return numbers;
  };
  EXPECT_EQ((std::vector<std::uint32_t>{5, 7, 9, 10}),
            lines(check_qasm(kHead + "foo q;\nh q;\nh q[7];\nx q;\ncx q[0] q[1];\nrz(1 q[0];\nh q[0];\n")));
  EXPECT_EQ(20u, check_qasm(kHead + repeat("foo q;\n", 50)).size());
  QasmOptions options;
  options.max_errors = 3;
  EXPECT_EQ(3u, check_qasm(kHead + repeat("foo q;\n", 50), options).size());
  try {
    parse_qasm(kHead + repeat("foo q;\n", 50));
    ADD_FAILURE();
  } catch (const ParseError& error) {
    EXPECT_TRUE(mentions(error.what(), "<input>:24:1")) << error.what();
    EXPECT_TRUE(mentions(error.what(), "stopped after 20 errors")) << error.what();
    EXPECT_EQ(5u, error.where().line);
  }
}

TEST(QasmErrors, AMissingSemicolonDoesNotHideTheNextStatement) {
  const std::vector<Diagnostic> found =
      check_qasm("OPENQASM 2.0;\nqreg a[1]\nqreg b[1];\nU(0,0,0) b[0];\nU(0,0,0) a[0];");
  ASSERT_EQ(1u, found.size()) << found[1].text;  // the uses of a are consequences
  EXPECT_TRUE(mentions(found[0].text, "expected ';'")) << found[0].text;
}

TEST(QasmErrors, AnErrorInABodyLeavesTheRestOfTheProgram) {
  const std::vector<Diagnostic> found = check_qasm(kHead + "gate g a { hh a; x a; }\ng q[0];\nfoo q;\n");
  ASSERT_EQ(2u, found.size());
  EXPECT_EQ(5u, found[0].where.line);
  EXPECT_EQ(7u, found[1].where.line);
}

TEST(QasmErrors, InvalidOutweighsUnsupported) {
  EXPECT_EQ(ExitCode::kCircuit, code_of(kHead + "opaque m a; m q[0]; foo q;"));
  EXPECT_EQ(ExitCode::kUnsupported, code_of(kHead + "opaque m a; m q[0];"));
}

TEST(QasmErrors, EchoedTextIsEscapedAndCapped) {
  const std::string text = first_error(kHead + "\x1b[31mh q; \xff\xfe" + repeat("x", 100000));
  EXPECT_EQ(std::string::npos, text.find('\x1b'));
  EXPECT_TRUE(mentions(text, "\\x1b[31m")) << text;
  EXPECT_LT(text.size(), 1000u);
  const std::string far = first_error(kHead + repeat("h q; ", 10000) + "bad_gate q;");
  EXPECT_TRUE(mentions(far, ":5:50001: error")) << far;
  EXPECT_LT(far.size(), 400u);
  QasmOptions options;
  options.file = "a\nb.qasm";
  EXPECT_TRUE(mentions(check_qasm("?", options).at(0).text, "a\\x0ab.qasm:1:1"));
}

TEST(QasmVersions, TheVersionLineOrTheFirstWordsOfVersion3Decide) {
  for (const std::string text :
       {"OPENQASM 3; // c", "OPENQASM 3.0;\nqubit q;", "// c\nOPENQASM 3.1; int x;", "qubit[2] q;",
        "include \"stdgates.inc\";", "int x = 3;", "/* adder\n */ // c\n/**/ include \"stdgates.inc\";",
        "/* c */ OPENQASM 3; int x;", "/* c */ qreg q[1];", "gate p(\xce\xb8) a { U(0,0,\xce\xb8) a; }",
        "qreg q[1]; U(0, 0, 0) $0;", "@hint\nqreg q[1];", "creg c[2]; creg d[2]; if (c == d) c[0] = 1;",
        "creg c[2]; if (c == 1) { }", "creg c[2]; c ^ c;", "creg c[2]; !c[0];"}) {
    EXPECT_EQ("OPENQASM 3", parse_qasm(text).language) << text;
  }
  for (const std::string text :
       {"OPENQASM 2;", "qreg q[1]; U(0,0,0) q;", "gate bit a { } qreg q[1]; bit q;",
        "include \"qelib1.inc\"; qreg delay[1]; h delay;", "qreg q[1]; creg c[1]; if (c == 1) U(0,0,0) q[0];"}) {
    EXPECT_EQ("OPENQASM 2.0", parse_qasm(text).language) << text;
  }
  EXPECT_EQ(ExitCode::kUnsupported, code_of("OPENQASM 3.2;"));
  for (const std::string text : {"OPENQASM 2.1;", "OPENQASM 1.0;", "OPENQASM 20.e-1;", "OPENQASM 3.x;", "OPENQASM;",
                                 "OPENQASM 3.0;\n", "OPENQASM 2.0; qubit q;", "qreg q[1]; OPENQASM 2.0;"}) {
    EXPECT_EQ(ExitCode::kCircuit, code_of(text)) << text;
  }
}

TEST(QasmBytes, OddTextsAreReadOrRefusedClearly) {
  EXPECT_TRUE(mentions(first_error(""), "holds no program"));
  EXPECT_TRUE(mentions(first_error("  // only a comment"), "holds no program"));
  EXPECT_EQ("", first_error("\xEF\xBB\xBFOPENQASM 2.0;\r\nqreg q[1];\r\n// caf\xe9 \xff\r\n"));
  EXPECT_TRUE(mentions(first_error(std::string("OPENQASM 2.0;\0qreg", 18)), ":1:14: error: NUL byte"));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0; // a" + std::string(1, '\0')), "NUL byte"));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0;\ninclude \"qelib1.inc;\nqreg q[1];"), ":2:9: error: this string"));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0; include \"qelib"), "no closing \""));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0; qreg \xc3\xa9[1];"), "unexpected character '\\xc3'"));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0; qreg q[1"), "found the end of the file"));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0; gate g a {"), "found the end of the file"));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0; qreg Q[1];"), "small letter"));
  EXPECT_TRUE(mentions(first_error("OPENQASM 2.0; qreg q[01];"), "malformed number '01'"));
}

TEST(QasmLimits, AMillionParenthesesAreAnError) {
  const Stopwatch watch;
  EXPECT_TRUE(mentions(first_error(kHead + "rz(" + repeat("(", 1000000) + "1" + repeat(")", 1000000) + ") q[0];"),
                       "nested deeper than 256"));
  EXPECT_TRUE(mentions(first_error(kHead + "rz(" + repeat("-", 1000000) + "1) q[0];"), "nested deeper than 256"));
  EXPECT_TRUE(mentions(first_error(kHead + "rz(" + repeat("2^", 1000000) + "1) q[0];"), "nested deeper than 256"));
  EXPECT_TRUE(mentions(first_error(kHead + "rz(" + repeat("sin(", 1000000)), "nested deeper than 256"));
  EXPECT_EQ("", first_error(kHead + "rz(" + repeat("(", 200) + "1" + repeat(")", 200) + ") q[0];"));
}

TEST(QasmLimits, AMillionTermsAreASum) {
  const Stopwatch watch;
  const Circuit circuit = parse_qasm(kHead + "u0(0" + repeat("+1", 1000000) + ") q[0];").circuit;
  EXPECT_EQ(1e6, circuit.params(circuit.operations().at(0))[0]);
  const Circuit body = parse_qasm(kHead + "gate g(t) a { u0(0" + repeat("+t", 1000000) + ") a; } g(2) q[0];").circuit;
  EXPECT_EQ(2e6, body.params(body.operations().at(0))[0]);
}

TEST(QasmLimits, TheNestedDefinitionBombIsCountedAndNotExpanded) {
  const Stopwatch watch;
  std::string text = kHead + "gate g0 a { x a; x a; }\n";
  for (int i = 1; i < 70; ++i) {
    const std::string callee = "g" + std::to_string(i - 1);
    text += "gate g" + std::to_string(i) + " a { " + callee + " a; " + callee + " a; }\n";
  }
  EXPECT_EQ("", first_error(text));  // defining is free, also past 2^64 operations
  for (const std::string name : {"g29", "g62", "g63", "g69"}) {
    EXPECT_EQ(ExitCode::kUnsupported, code_of(text + name + " q[0];")) << name;
  }
  EXPECT_EQ(2048u, parse_qasm(text + "g10 q[0];").circuit.operations().size());
  QasmOptions options;
  options.max_operations = 2047;
  EXPECT_THROW(parse_qasm(text + "g10 q[0];", options), UnsupportedError);
}

TEST(QasmLimits, DefinitionsWithoutOperationsCostNothing) {
  const Stopwatch watch;
  std::string text = kHead + "gate g0 a { }\n";
  for (int i = 1; i < 70; ++i) {
    const std::string callee = "g" + std::to_string(i - 1);
    text += "gate g" + std::to_string(i) + " a { " + callee + " a; " + callee + " a; }\n";
  }
  EXPECT_EQ(0u, parse_qasm(text + "g69 q[0];").circuit.operations().size());
}

TEST(QasmLimits, AChainOfDefinitionsIsNotRecursion) {
  const Stopwatch watch;
  std::string text = kHead + "gate g0(t) a { u0(t) a; }\n";
  for (int i = 1; i <= 20000; ++i) {
    text += "gate g" + std::to_string(i) + "(t) a { g" + std::to_string(i - 1) + "(t+1) a; }\n";
  }
  const Circuit circuit = parse_qasm(text + "g20000(0) q[0];").circuit;
  EXPECT_EQ(20000.0, circuit.params(circuit.operations().at(0))[0]);
}

TEST(QasmLimits, WideRegistersAreDeclaredButNotFilled) {
  const Stopwatch watch;
  EXPECT_EQ(1337u, parse_qasm("OPENQASM 2.0; qreg q[1337];").circuit.qubits());
  EXPECT_EQ(1048576u, parse_qasm("OPENQASM 2.0; qreg q[1048576];").circuit.qubits());
  EXPECT_EQ(ExitCode::kCapacity, code_of("OPENQASM 2.0; qreg q[4294967295];"));
  EXPECT_EQ(ExitCode::kCapacity, code_of("OPENQASM 2.0; creg c[4294967295];"));
  EXPECT_EQ(ExitCode::kCapacity, code_of("OPENQASM 2.0; qreg a[1000000]; qreg b[1000000];"));
  EXPECT_EQ(ExitCode::kCapacity, code_of("OPENQASM 2.0; qreg a[18446744073709551615]; qreg b[2];"));
  EXPECT_EQ(ExitCode::kCircuit, code_of("OPENQASM 2.0; qreg a[18446744073709551616];"));
  // What no machine can hold is not expanded far.
  EXPECT_EQ(ExitCode::kCapacity, code_of("OPENQASM 2.0; qreg q[1000000];" + repeat("U(0,0,0) q;", 5)));
  EXPECT_EQ(ExitCode::kCapacity, code_of("OPENQASM 2.0; qreg q[1000000];" + repeat("barrier q;", 40)));
  EXPECT_EQ(ExitCode::kCapacity, code_of("OPENQASM 2.0; qreg q[200000000]; U(0,0,0) q;"));
}

// The same of OpenQASM 3, where parts of registers are lists as well.
TEST(QasmLimits, WideRegistersOfVersion3AreDeclaredButNotListed) {
  const Stopwatch watch;
  const std::string header = "OPENQASM 3.0; include \"stdgates.inc\"; ";
  EXPECT_EQ(1048576u, parse_qasm(header + "qubit[1048576] q; h q[5];").circuit.qubits());
  EXPECT_EQ(ExitCode::kCapacity, code_of(header + "qubit[1048577] q;"));
  EXPECT_EQ(ExitCode::kCapacity, code_of(header + "qubit[4294967295] q; qubit r;"));
  EXPECT_EQ(ExitCode::kCapacity, code_of(header + "qubit[1000000] q; qubit[1000000] r;"));
  EXPECT_EQ(ExitCode::kCircuit, code_of("qreg q[804467410];[2!6];q[q];q[1];q[14:]-65;"));  // a fuzzer's
  for (const char* use : {"h q;", "h q[14:];", "reset q[::-1];", "barrier q[1:2:];"}) {
    EXPECT_EQ(ExitCode::kCapacity, code_of(header + "qubit[1000000] q;" + repeat(use, 80))) << use;
  }
  EXPECT_EQ(ExitCode::kCapacity, code_of(header + "qubit[1000000] q;" + repeat("{ let a = q[0:2:]; }", 200)));
}

TEST(QasmLimits, RubbishIsSkippedInLinearTime) {
  const Stopwatch watch;
  EXPECT_EQ(2u, check_qasm("OPENQASM 2.0;" + repeat("@", 20000000)).size());
  EXPECT_EQ(20u, check_qasm("OPENQASM 2.0;" + repeat("@;", 5000000)).size());
  EXPECT_GT(check_qasm("OPENQASM 2.0;" + repeat("{", 5000000)).size(), 0u);
  EXPECT_GT(check_qasm("OPENQASM 2.0;" + repeat("\"", 5000001)).size(), 0u);
  EXPECT_GT(check_qasm("OPENQASM 2.0;" + repeat("qreg ", 2000000)).size(), 0u);
}

// A folder of its own, gone afterwards.
class QasmIncludes : public testing::Test {
 protected:
  QasmIncludes() {
    folder_ = fs::temp_directory_path() / ("qsim_includes_" + std::to_string(::getpid()));
    fs::create_directories(folder_ / "in/sub");
  }
  ~QasmIncludes() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / "in" / name) << text; }
  Circuit parse() { return parse_qasm_file((folder_ / "in/main.qasm").string()).circuit; }
  std::string error() {
    try {
      parse();
      return "";
    } catch (const ParseError& problem) {
      return problem.what();
    }
  }

  fs::path folder_;
};

TEST_F(QasmIncludes, FilesAreFoundBesideTheIncludingOne) {
  write("main.qasm", "OPENQASM 2.0;\ninclude \"qelib1.inc\";\ninclude \"sub/a.inc\";\nqreg q[1];\ng q[0];\n");
  write("sub/a.inc", "include \"b.inc\";\ngate g a { k a; k a; }\n");
  write("sub/b.inc", "gate k a { h a; }\nqreg r[1];\n\n\nk r[0];\n");
  const Circuit circuit = parse();
  ASSERT_EQ(3u, circuit.operations().size());
  EXPECT_EQ(3u, circuit.operations()[0].line) << "operations of an included file have the include statement's line";
  EXPECT_EQ(5u, circuit.operations()[1].line);
}

TEST_F(QasmIncludes, ErrorsNameTheIncludedFile) {
  write("main.qasm", "OPENQASM 2.0;\ninclude \"a.inc\";\n");
  write("a.inc", "\nfoo q;\n");
  EXPECT_TRUE(mentions(error(), "a.inc:2:1: error: gate 'foo'")) << error();
  EXPECT_TRUE(mentions(error(), "included from ")) << error();
}

TEST_F(QasmIncludes, NothingOutsideOfTheFolderIsRead) {
  std::ofstream(folder_ / "secret.inc") << "gate g a { }\n";
  fs::create_symlink(folder_ / "secret.inc", folder_ / "in/link.inc");
  for (const std::string& name : {std::string("../secret.inc"), std::string("link.inc"),
                                  (folder_ / "secret.inc").string(), std::string("/etc/passwd")}) {
    write("main.qasm", "OPENQASM 2.0;\ninclude \"" + name + "\";\n");
    EXPECT_TRUE(mentions(error(), "outside of the folder")) << name << '\n' << error();
  }
  for (const std::string name : {"absent.inc", "", "sub"}) {
    write("main.qasm", "OPENQASM 2.0;\ninclude \"" + name + "\";\n");
    EXPECT_TRUE(mentions(error(), "main.qasm:2:1: error: include")) << name << '\n' << error();
  }
  EXPECT_EQ(ExitCode::kCircuit, code_of("OPENQASM 2.0; include \"main.qasm\";")) << "text without a file has no folder";
}

TEST_F(QasmIncludes, CyclesAndDeepNestingAreErrors) {
  write("main.qasm", "OPENQASM 2.0;\ninclude \"a.inc\";\n");
  write("a.inc", "include \"main.qasm\";\n");
  EXPECT_TRUE(mentions(error(), "includes itself")) << error();
  for (int i = 0; i < 20; ++i) {
    write("n" + std::to_string(i) + ".inc", "include \"n" + std::to_string(i + 1) + ".inc\";\n");
  }
  write("main.qasm", "OPENQASM 2.0;\ninclude \"n0.inc\";\n");
  EXPECT_TRUE(mentions(error(), "nested deeper than 16")) << error();
}

TEST_F(QasmIncludes, FilesThatCannotBeReadAreFileErrors) {
  EXPECT_THROW(parse_qasm_file((folder_ / "absent.qasm").string()), FileError);
  EXPECT_THROW(parse_qasm_file(folder_.string()), FileError);
  write("main.qasm", "OPENQASM 2.0;\n");
  std::uint64_t hash = 0, again = 0;
  parse_qasm_file((folder_ / "in/main.qasm").string(), &hash);
  parse_qasm_file((folder_ / "in/main.qasm").string(), &again);
  EXPECT_EQ(hash, again);
  EXPECT_NE(0u, hash);
}

}  // namespace
}  // namespace qsim
