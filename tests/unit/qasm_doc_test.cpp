// docs/qasm.md lists the library's gates as the parser and the gate table have them.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "circuit/gate_table.h"
#include "qasm3/read.h"
#include "qsim/error.h"
#include "qsim/gate.h"
#include "qsim/qasm.h"
#include "support/flow_interpreter.h"
#include "support/qasm3_features.h"

namespace qsim {
namespace {

struct Row {
  int angles = 0, qubits = 0;
  std::string since;
};

std::map<std::string, Row> documented_gates() {
  std::ifstream file(std::string(QSIM_SOURCE_DIR) + "/docs/qasm.md");
  std::map<std::string, Row> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("<!-- gates")) inside = true;
    if (line.starts_with("<!-- end of gates")) inside = false;
    std::istringstream cells(line);
    std::string bar, name;
    Row row;
    if (inside && cells >> bar >> name >> bar >> row.angles >> bar >> row.qubits >> bar >> row.since) rows[name] = row;
  }
  return rows;
}

// A program that applies `name` as documented, after `before`.
std::string program(const std::string& name, const Row& row, const std::string& before) {
  std::string text = "OPENQASM 2.0; include \"qelib1.inc\"; " + before + " qreg q[5]; " + name;
  for (int i = 0; i < row.angles; ++i) text += i == 0 ? "(0.1" : ",0.1";
  if (row.angles > 0) text += ")";
  for (int i = 0; i < row.qubits; ++i) text += (i == 0 ? " q[" : ",q[") + std::to_string(i) + "]";
  return text + ";";
}

TEST(QasmDocs, EveryDocumentedGateIsAcceptedAsDocumented) {
  const std::map<std::string, Row> rows = documented_gates();
  EXPECT_EQ(42u, rows.size());
  for (const auto& [name, row] : rows) {
    const auto found = check_qasm(program(name, row, ""));
    EXPECT_TRUE(found.empty()) << found.front().text;
    const bool redefined = check_qasm("OPENQASM 2.0; include \"qelib1.inc\"; gate " + name + " a { }").empty();
    EXPECT_EQ(row.since == "later", redefined) << name;
  }
}

std::set<std::string> documented_standard_gates() {
  std::ifstream file(std::string(QSIM_SOURCE_DIR) + "/docs/qasm.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t begin = text.find("<!-- standard gates -->");
  const std::string list = text.substr(begin, text.find("<!-- end of standard gates -->") - begin);
  std::set<std::string> names;
  const std::regex name("`([a-z0-9_]+)`");
  for (std::sregex_iterator found(list.begin(), list.end(), name), end; found != end; ++found)
    names.insert((*found)[1]);
  return names;
}

TEST(QasmDocs, OtherStandardGatesAreKnownBehindTheLibrariesAlone) {
  const std::vector<std::string_view> known = further_gates();
  EXPECT_EQ(std::set<std::string>(known.begin(), known.end()), documented_standard_gates());
  for (const std::string_view name : known) {
    const GateName meaning = *find_further_gate(name);
    const GateInfo& info = gate_info(meaning.gate);
    const Row row{info.params, info.targets + meaning.controls, ""};
    const std::string call =
        program(std::string(name), row, "").substr(program(std::string(name), row, "").find("qreg"));
    const std::string with2 = "OPENQASM 2.0; include \"qelib1.inc\"; ",
                      with3 = "OPENQASM 3.0; include \"stdgates.inc\"; ";
    for (const std::string& head : {with2, with3}) {
      const bool in_stdgates = name == "phase" || name == "cphase";
      if (head == with3 && meaning.controls > 0 && !in_stdgates) {
        EXPECT_FALSE(check_qasm(head + call).empty()) << name << ": version 3 has ctrl @";
        continue;
      }
      const QasmProgram read = parse_qasm(head + call);
      ASSERT_EQ(read.circuit.operations().size(), 1u) << name;
      EXPECT_EQ(read.circuit.operations()[0].gate, meaning.gate) << name;
      EXPECT_EQ(read.circuit.operations()[0].controls, meaning.controls) << name;
      if (in_stdgates && head == with3) continue;
      // What the program says holds.
      std::string own = "gate " + std::string(name) + "(";
      for (int i = 0; i < row.angles; ++i) own += std::string(i == 0 ? "" : ",") + "p" + std::to_string(i);
      own = row.angles == 0 ? own.substr(0, own.size() - 1) : own + ")";
      for (int i = 0; i < row.qubits; ++i) own += std::string(i == 0 ? " a" : ",a") + std::to_string(i);
      const Circuit circuit = parse_qasm(head + own + " { h a0; } " + call).circuit;
      ASSERT_EQ(circuit.operations().size(), 1u) << name;
      EXPECT_EQ(circuit.operations()[0].gate, Gate::kH) << name;
      EXPECT_TRUE(check_qasm(head + "qreg " + std::string(name) + "[2]; h " + std::string(name) + "[1];").empty())
          << name;
    }
    EXPECT_FALSE(check_qasm("OPENQASM 2.0; " + call).empty()) << name;
    EXPECT_FALSE(check_qasm("OPENQASM 3.0; " + call).empty()) << name;
  }
  for (const char* own : {"uphase", "rc3xdg", "dcxdg"}) {
    EXPECT_FALSE(
        check_qasm("OPENQASM 2.0; include \"qelib1.inc\"; qreg q[4]; " + std::string(own) + " q[0],q[1];").empty());
  }
}

TEST(QasmDocs, EveryNameOfTheGateTableIsDocumented) {
  std::map<std::string, Row> rows = documented_gates();
  const auto expect = [&](std::string_view name) {
    if (name.empty() || name == "U" || name == "CX") return;
    EXPECT_TRUE(rows.contains(std::string(name))) << name;
  };
  for (const GateInfo& info : gate_table()) {
    expect(info.name);
    for (const std::string_view name : info.aliases) expect(name);
    for (const std::string_view name : info.controlled_names) expect(name);
    for (const std::string_view name : info.controlled_aliases) expect(name);
  }
}

TEST(QasmDocs, TheTableOfVersion3IsThatOfItsTests) {
  std::ifstream file(std::string(QSIM_SOURCE_DIR) + "/docs/qasm.md");
  std::string table;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("<!-- end of features")) inside = false;
    if (inside) table += line + '\n';
    if (line.starts_with("<!-- features")) inside = true;
  }
  EXPECT_EQ(test::qasm3_feature_table(), table) << "copy the first of both into docs/qasm.md";
}

TEST(QasmDocs, EveryFeatureOfVersion3DoesWhatIsSaid) {
  for (const test::Qasm3Feature& row : test::qasm3_features()) {
    SCOPED_TRACE(row.example);
    const std::string head = row.whole ? "" : "OPENQASM 3.0;\ninclude \"stdgates.inc\";\n";
    QasmOptions options;
    options.parameters = row.inputs;
    ExitCode code = ExitCode::kOk;
    std::string said;
    try {
      for (const std::string& note : parse_qasm(head + row.example, options).notes) said += note + '\n';
      if (!row.registers.empty()) {
        const auto found = test::register_distribution(parse_flow(head + row.example, options));
        EXPECT_EQ(row.registers.size(), found.size());
        for (const auto& [bits, probability] : row.registers) {
          const auto at = found.find(bits);
          EXPECT_NEAR(probability, at == found.end() ? 0 : at->second, 1e-12) << bits;
        }
      }
    } catch (const Error& error) {
      code = error.code();
      said = error.what() + error.hint();
    }
    EXPECT_EQ(row.code, code) << said;
    EXPECT_NE(std::string::npos, said.find(row.note)) << said;
  }
}

}  // namespace
}  // namespace qsim
