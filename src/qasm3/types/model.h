// What is known of a program once it is checked: the tree with its types, symbols, constants, gates and subroutines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "qasm3/syntax/sources.h"
#include "qasm3/syntax/tree.h"
#include "qasm3/types/type.h"
#include "qsim/gate.h"

namespace qsim::qasm3 {

using SymbolId = std::uint32_t;  // 0 = none

enum class SymbolKind : std::uint8_t {
  kVariable,    // with a value: scalar, bits, array
  kQubits,      // declared qubits, or an argument of a subroutine or gate
  kAlias,       // of qubits or bits
  kParameter,   // angle of a gate: a real number
  kGate,        // index: into Model::gates
  kSubroutine,  // index: into Model::subroutines
};

struct Symbol {
  SymbolKind kind = SymbolKind::kVariable;
  std::uint8_t flags = 0;  // NodeFlag: kConst, kInput, kOutput, kReadonly
  bool global = false;
  Name name = kNoName;
  Type type;
  std::uint32_t index = 0;     // place in its frame; kGate, kSubroutine: see there
  std::uint32_t constant = 0;  // index into Model::constants, where the value is known to the checker
  std::uint32_t at = 0;
};

/// One that `node` declares.
inline Symbol symbol_of(SymbolKind kind, const Node& node) {
  Symbol symbol;
  symbol.kind = kind;
  symbol.name = node.name;
  symbol.at = node.at;
  return symbol;
}

/// What the checker says about a node.
struct Note {
  Type type;
  SymbolId symbol = 0;           // a name's; of a call: 0 for a built-in function
  std::uint32_t constant = 0;    // its value, where it is constant; index into Model::constants
  Operator op = Operator::kAdd;  // of operators and built-in functions
};

enum class GateKind : std::uint8_t {
  kTable,        // a row of the gate table with controls
  kU,            // U(theta, phi, lambda) with the factor e^(i theta / 2)
  kU3,           // e^(-i (phi + lambda) / 2) times the table's u; with two parameters, theta = pi / 2
  kGlobalPhase,  // gphase
  kBody,
  kCalibrated,  // has a defcal alone
};

struct GateDefinition {
  GateKind kind = GateKind::kTable;
  Gate gate = Gate::kId;
  std::uint16_t controls = 0;
  std::uint32_t parameters = 0, qubits = 0;
  NodeId body = 0;
  std::uint32_t frame = 0;       // places that its names take
  std::uint64_t operations = 1;  // at least that many are appended by one application
};

struct Subroutine {
  std::vector<SymbolId> arguments;
  std::vector<Type> types;  // of the arguments; extern: these alone
  Type result;
  NodeId body = 0;  // 0: extern
  std::uint32_t frame = 0;
  std::uint64_t operations = 0;  // at least that many are appended by one call
  bool is_extern = false;
};

/// Things that are read but have no effect on a state; each is said once.
enum class Remark : std::uint8_t { kTiming, kPragma, kCalibration, kExtern, kIntegerDivision, kControlledU, kCount };

struct Model {
  Names names;
  Sources sources;
  Tree tree;
  std::vector<Note> notes;  // by node
  std::vector<Scalar> constants = std::vector<Scalar>(1);
  std::vector<Symbol> symbols = std::vector<Symbol>(1);
  Shapes shapes;
  std::vector<GateDefinition> gates;
  std::vector<Subroutine> subroutines;
  std::vector<std::uint32_t> physical;  // numbers of the physical qubits that are named, in order of appearance
  std::uint32_t global_frame = 0;
  std::uint32_t remark_lines[static_cast<std::size_t>(Remark::kCount)] = {};  // where each was first met, 0 = nowhere

  const Note& note(NodeId node) const { return notes[node]; }
  const Scalar* constant(NodeId node) const {
    const std::uint32_t index = notes[node].constant;
    return index == 0 ? nullptr : &constants[index];
  }
  std::uint32_t add_constant(const Scalar& value) {
    constants.push_back(value);
    return static_cast<std::uint32_t>(constants.size() - 1);
  }
  std::string_view text(const Node& node) const { return sources.text(node.at, node.a); }
  void remark(Remark what, std::uint32_t line) {
    std::uint32_t& first = remark_lines[static_cast<std::size_t>(what)];
    if (first == 0) first = line;
  }
  std::string type_text(const Type& type) const { return qasm3::type_text(type, shapes); }
};

}  // namespace qsim::qasm3
