// How the first word and numbers are read: commands, their help, versions, counts such as 1e6, states as bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden/cli_program.h"
#include "support/json_schema.h"

namespace qsim::test {
namespace {

using nlohmann::json;

const std::string kHead = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n";

TEST(FirstWord, HelpExplainsTheProgramAndEveryCommand) {
  EXPECT_EQ(run_qsim({"help"}).out, run_qsim({"--help"}).out);
  for (const char* command : {"run", "plan", "bench", "gram", "draw", "convert", "gen", "info", "version"}) {
    const ProgramRun help = run_qsim({"help", command});
    EXPECT_EQ(help.exit_code, 0) << help.err;
    EXPECT_EQ(help.out, run_qsim({command, "--help"}).out);
    EXPECT_NE(help.out.find(std::string("qsim ") + command), std::string::npos) << help.out;
  }
  EXPECT_EQ(run_qsim({"help", "help"}).exit_code, 0);
  const ProgramRun unknown = run_qsim({"help", "banch"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'qsim bench'?"), std::string::npos) << unknown.err;
  EXPECT_EQ(run_qsim({"help", "run", "plan"}).exit_code, 2);
}

TEST(FirstWord, VersionIsTextOrADocument) {
  const ProgramRun text = run_qsim({"version"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out, run_qsim({"--version"}).out);
  const ProgramRun document = run_qsim({"version", "--json"});
  for (const std::string& line : schema_violations(document.out, "qsim.version.1.json")) ADD_FAILURE() << line;
  const json version = json::parse(document.out);
  EXPECT_EQ(text.out.find("qsim " + version.at("version").get<std::string>()), 0u) << text.out;
}

TEST(FirstWord, InfoHasADocumentToo) {
  const ProgramRun run = run_qsim({"info", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const std::string& line : schema_violations(run.out, "qsim.info.1.json")) ADD_FAILURE() << line;
  const json info = json::parse(run.out);
  EXPECT_GT(info.at("largest_qubits").at("double"), 5);
  EXPECT_EQ(info.at("auto").size(), 3u);
}

TEST(FirstWord, AMistypedCommandIsNamedAndNotTheFileBehindIt) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("x.qasm", kHead + "qreg q[1];\n");
  const ProgramRun run = run_qsim({"runn", circuit});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("'runn' is no command"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("did you mean 'qsim run'?"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("x.qasm"), std::string::npos) << run.err;
  const ProgramRun other = run_qsim({"simulate", "-"}, kHead);
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("'simulate' is no command"), std::string::npos) << other.err;
  EXPECT_NE(other.err.find("'qsim help' lists"), std::string::npos) << other.err;
}

TEST(FirstWord, WhatIsNotExpectedIsPrintedInTheOrderThatWasTyped) {
  const ProgramRun run = run_qsim({"plan", "x.qasm", "first", "second", "third"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("not expected: first second third\n"), std::string::npos) << run.err;
}

TEST(Numbers, MayBeWrittenAsPowersOfTenWhereTheyAreWhole) {
  const std::string coin = kHead + "qreg q[1];\ncreg c[1];\nh q;\nmeasure q -> c;\n";
  const auto shots = [&](const std::string& text) {
    const ProgramRun run = run_qsim({"-", "--json", "--shots", text}, coin);
    return run.exit_code == 0 ? json::parse(run.out).at("run").at("shots").get<std::int64_t>() : -run.exit_code;
  };
  EXPECT_EQ(shots("1e3"), 1000);
  EXPECT_EQ(shots("1E+3"), 1000);
  EXPECT_EQ(shots("2.5e2"), 250);
  EXPECT_EQ(shots("1.50e2"), 150);
  EXPECT_EQ(shots("0e9"), 0);
  for (const char* wrong : {"1.5e0", "2.55e1", "1e", "e3", "1e-3", "1e3x", "1.e3", ".5e1", "-1e3", "1e30", "1.0"}) {
    EXPECT_EQ(shots(wrong), -2) << wrong;
  }
  EXPECT_EQ(run_qsim({"-", "--seed", "18446744073709551615e0"}, coin).exit_code, 0);
  EXPECT_EQ(run_qsim({"-", "--seed", "18446744073709551616e0"}, coin).exit_code, 2);
  EXPECT_EQ(run_qsim({"-", "--seed", "1844674407370955162e1"}, coin).exit_code, 2) << "one more than 2^64 - 1";
  EXPECT_EQ(run_qsim({"-", "--seed", "1.8446744073709551615e19"}, coin).exit_code, 0);
}

/// Indices that are listed, or the message.
std::string states(std::uint32_t qubits, const std::string& typed) {
  const ProgramRun run =
      run_qsim({"-", "--json", "--amplitudes", typed}, kHead + "qreg q[" + std::to_string(qubits) + "];\nh q;\n");
  if (run.exit_code != 0) return std::to_string(run.exit_code) + " " + run.err;
  std::string list;
  const json document = json::parse(run.out);
  for (const json& entry : document.at("results").at("amplitudes")) list += entry.at("index").get<std::string>() + " ";
  return list;
}

TEST(Amplitudes, OfFullWidthStringsAreReadAsBits) {
  EXPECT_EQ(states(8, "00000101"), "5 ");
  EXPECT_EQ(states(8, "10000000,00000001"), "128 1 ");
  EXPECT_EQ(states(3, "101"), "5 ");
  EXPECT_EQ(states(2, "10"), "2 ");
  EXPECT_EQ(states(1, "0,1"), "0 1 ");
  EXPECT_EQ(states(8, "101,10"), "101 10 ") << "decimal indices stay what they are";
  EXPECT_EQ(states(8, "1e2"), "100 ");
}

TEST(Amplitudes, ThatCouldBeEitherAreRefused) {
  for (const char* typed : {"0101", "00000101,5", "5,00000101", "00000101,101", "007", "000000101"}) {
    const std::string said = states(8, typed);
    EXPECT_EQ(said.find("2 "), 0u) << typed << ": " << said;
    EXPECT_NE(said.find("ambiguous"), std::string::npos) << typed << ": " << said;
  }
  EXPECT_NE(states(4, "101").find("index 101 is outside"), std::string::npos);
}

/// A .npy file as numpy writes it.
std::string npy(const std::string& kind, const std::string& shape, const std::string& numbers,
                bool columns_first = false) {
  std::string header = "{'descr': '" + kind + "', 'fortran_order': " + (columns_first ? "True" : "False") +
                       ", 'shape': " + shape + ", }";
  header += std::string(118 - header.size() - 1, ' ') + "\n";
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + numbers;
}

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

TEST(Unitary, OfAnOpaqueGateIsReadFromAFile) {
  const TemporaryFolder folder;
  const std::string circuit =
      folder.file("c.qasm", kHead + "opaque turn a;\nqreg q[2];\nh q[0];\nturn q[0];\nx q[1];\n");
  // Not symmetric: rows and columns that are mixed up show.
  const double c = 0.6, s = 0.8;
  const std::vector<double> real{c, -s, s, c}, columns{c, s, -s, c}, complex{c, 0, -s, 0, s, 0, c, 0};
  const std::vector<float> single{0, -1, 1, 0};
  const auto amplitudes = [&](const std::string& file) {
    const ProgramRun run = run_qsim({circuit, "--json", "--amplitudes", "2,3", "--unitary", "turn=" + file});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const json list = json::parse(run.out).at("results").at("amplitudes");
    return std::vector<double>{list[0].at("re"), list[1].at("re")};
  };
  const double root = std::sqrt(0.5);
  for (const std::string& file : {folder.file("r.npy", npy("<f8", "(2, 2)", bytes_of(real))),
                                  folder.file("f.npy", npy("<f8", "(2, 2)", bytes_of(columns), true)),
                                  folder.file("z.npy", npy("<c16", "(2, 2)", bytes_of(complex)))}) {
    EXPECT_NEAR(amplitudes(file)[0], root * (c - s), 1e-15) << file;
    EXPECT_NEAR(amplitudes(file)[1], root * (c + s), 1e-15) << file;
  }
  EXPECT_NEAR(
      amplitudes(folder.file("i.npy", npy("<i8", "(2, 2)", bytes_of(std::vector<std::int64_t>{0, -1, 1, 0}))))[0],
      -root, 1e-15);
  const std::string good = folder.file("s.npy", npy("<f4", "(2, 2)", bytes_of(single)));
  EXPECT_NEAR(amplitudes(good)[0], -root, 1e-15);
  for (const char* command : {"plan", "draw", "convert"}) {
    EXPECT_EQ(run_qsim({command, circuit, "--unitary", "turn=" + good}).exit_code, 0) << command;
  }
  const auto refused = [&](const std::string& value, int code, const std::string& word) {
    const ProgramRun run = run_qsim({circuit, "--unitary", value});
    EXPECT_EQ(run.exit_code, code) << value << ": " << run.err;
    EXPECT_NE(run.err.find(word), std::string::npos) << run.err;
  };
  refused("turn", 2, "is not NAME=FILE.npy");
  refused("turn=/nowhere.npy", 9, "/nowhere.npy");
  refused("turn=" + circuit, 9, "no .npy file");
  refused("other=" + good, 4, "opaque gate 'turn' is applied");
  const ProgramRun two = run_qsim({circuit, "--unitary", "turn=" + good, "--unitary", "other=" + good});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_NE(two.err.find("no opaque gate"), std::string::npos) << two.err;
  refused("turn=" + folder.file("cut.npy", npy("<f8", "(2, 2)", bytes_of(single))), 9, "another length");
  refused("turn=" + folder.file("flat.npy", npy("<f8", "(4,)", bytes_of(real))), 9, "shape");
  refused("turn=" + folder.file("deep.npy", npy("<f8", "(2, 2, 1)", bytes_of(real))), 9, "shape");
  refused("turn=" + folder.file("big.npy", npy(">f8", "(2, 2)", bytes_of(real))), 9, "numbers");
  refused("turn=" + folder.file("no.npy", npy("<f8", "(2, 2)", bytes_of(std::vector<double>{1, 1, 0, 1}))), 3,
          "unitary");
  EXPECT_EQ(run_qsim({circuit, "--unitary", "turn=" + good, "--unitary", "turn=" + good}).exit_code, 2);
  const ProgramRun none = run_qsim({circuit});
  EXPECT_EQ(none.exit_code, 4);
  EXPECT_NE(none.err.find("--unitary turn=FILE.npy"), std::string::npos) << none.err;
}

TEST(Unitary, EachCircuitOfGramTakesTheMatricesThatItHasGatesFor) {
  const TemporaryFolder folder;
  const std::string head = "OPENQASM 2.0;\ninclude \"qelib1.inc\";\n";
  const std::string turned = folder.file("t.qasm", head + "opaque turn a;\nqreg q[1];\nturn q[0];\n");
  const std::string flipped = folder.file("f.qasm", head + "opaque flip a;\nqreg q[1];\nflip q[0];\n");
  const std::string plain = folder.file("p.qasm", head + "qreg q[1];\n");
  const std::string turn =
      "turn=" + folder.file("t.npy", npy("<f8", "(2, 2)", bytes_of(std::vector<double>{0.6, -0.8, 0.8, 0.6})));
  const std::string flip =
      "flip=" + folder.file("f.npy", npy("<f8", "(2, 2)", bytes_of(std::vector<double>{0, 1, 1, 0})));
  const ProgramRun run = run_qsim({"gram", turned, flipped, plain, "--json", "--unitary", turn, "--unitary", flip});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json fidelity = json::parse(run.out).at("fidelity");
  EXPECT_NEAR(fidelity[0][1].get<double>(), 0.64, 1e-14);  // <turn 0|flip 0> = 0.8
  EXPECT_NEAR(fidelity[0][2].get<double>(), 0.36, 1e-14);
  EXPECT_NEAR(fidelity[1][2].get<double>(), 0, 1e-14);
  const ProgramRun unused = run_qsim({"gram", turned, plain, "--unitary", turn, "--unitary", flip});
  EXPECT_EQ(unused.exit_code, 2);
  EXPECT_NE(unused.err.find("'flip' would have no effect"), std::string::npos) << unused.err;
  EXPECT_EQ(run_qsim({"gram", turned, plain}).exit_code, 4);
}

TEST(Hamiltonians, OfOtherProgramsAreReadFromFiles) {
  const TemporaryFolder folder;
  const std::string circuit = folder.file("c.qasm", kHead + "qreg q[2];\nry(1.1) q[0];\ncx q[0],q[1];\n");
  const auto value = [&](const std::string& sum) {
    const ProgramRun run = run_qsim({circuit, "--json", "--expectation", sum});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out).at("results").at("expectation")[0].at("value").get<double>();
  };
  const double wanted = value("-0.5 + 0.25 Z0 + -0.75 Z0 Z1 + 0.125 X0 X1");
  EXPECT_NEAR(wanted, -0.5 + 0.25 * std::cos(1.1) - 0.75 + 0.125 * std::sin(1.1), 1e-14);
  for (const char* text :
       {"(-0.5+0j) [] +\n(0.25+0j) [Z0] +\n-0.75 [Z0 Z1] +\n0.125 [X0 X1]\n",
        "SparsePauliOp(['II', 'IZ', 'ZZ', 'XX'],\n   coeffs=[-0.5  +0.j,  0.25 +0.j, -0.75 +0.j, 0.125+0.j])",
        "[[\"II\", -0.5], [\"IZ\", [0.25, 0]], [\"ZZ\", -0.75], [\"XX\", 0.125]]",
        "-0.5\n0.25 Z0\n(-0.75+0j) Z0 Z1\n0.125 XX\n"}) {
    EXPECT_NEAR(value(folder.file("h.txt", text)), wanted, 1e-15) << text;
    EXPECT_NEAR(value(folder.file("h.json", text)), wanted, 1e-15) << text;
  }
  const ProgramRun imaginary = run_qsim({circuit, "--expectation", folder.file("i.txt", "0.5j [Z0]")});
  EXPECT_EQ(imaginary.exit_code, 2);
  EXPECT_NE(imaginary.err.find("imaginary part"), std::string::npos) << imaginary.err;
}

}  // namespace
}  // namespace qsim::test
