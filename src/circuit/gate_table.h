// The gate table: one row a gate, holding every fact about it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "qsim/gate.h"

namespace qsim {

constexpr int kGateCount = static_cast<int>(kLastGate) + 1;

/// A gate with its angles (radians): what the inverse of a gate is given as.
struct GateCall {
  Gate gate;
  std::vector<double> params;
};

/// One row of the table.
struct GateInfo {
  Gate gate;
  std::string_view name;                  // OpenQASM spelling of the base gate ("" when only controlled forms exist)
  std::vector<std::string_view> aliases;  // other spellings, same meaning (u1 = p, u3 = u = U, ...)
  std::vector<std::string_view> controlled_names;    // [c - 1] = spelling with c controls, "" when there is none
  std::vector<std::string_view> controlled_aliases;  // other spellings with one control (CX, cu1, ...)
  int params;                                        // number of angles
  int targets;
  bool diagonal;     // for every angle
  bool permutation;  // permutes basis states up to phases, for every angle
  bool real;         // matrix is real for every angle
  Matrix (*matrix)(std::span<const double> params);
  GateCall (*inverse)(std::span<const double> params);
};

/// The row of `gate`.
const GateInfo& gate_info(Gate gate);
/// All rows, in enum order.
std::span<const GateInfo> gate_table();

/// What a gate name of OpenQASM (qelib1.inc as Qiskit has it today, plus U and CX) means.
struct GateName {
  Gate gate;
  int controls;
};
/// Looks `name` up among names, aliases and controlled names; nullopt when unknown.
std::optional<GateName> find_gate(std::string_view name);
/// A standard gate of Qiskit that qelib1.inc has not: "ryy", "iswap", "cs"; nullopt for other names.
std::optional<GateName> find_further_gate(std::string_view name);
/// The names that it knows.
std::vector<std::string_view> further_gates();
/// The same for every name of gate_spellings().
std::optional<GateName> find_spelling(std::string_view name);
/// Spelling of `gate` with `controls` controls, or "" when OpenQASM 2 has none.
std::string_view gate_name(Gate gate, int controls);

}  // namespace qsim
