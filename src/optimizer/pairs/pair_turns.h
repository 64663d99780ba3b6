// Gates on two qubits as turns about products of Pauli matrices, and Clifford gates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/pairs/pauli_pair.h"
#include "qsim/circuit.h"

namespace qsim {

/// A turn, or a Clifford gate that is none.
struct PairStep {
  enum class Kind : std::uint8_t { kTurn, kHadamard, kFlip };
  Kind kind = Kind::kTurn;
  PauliPair axis = {};
  double angle = 0;
  unsigned qubit = 0;  // of the Hadamard gate; the flip's control
};

/// `qubits` are the operation's, as qubits of the pair. Nothing for what is no such steps.
std::optional<std::vector<PairStep>> steps_of(const Circuit& circuit, const Operation& op,
                                              std::span<const unsigned> qubits);

/// Gates on a pair as turns, and Clifford gates behind them.
struct Turned {
  struct Turn {
    PauliPair axis;  // with no sign
    double angle = 0;
  };
  std::vector<Turn> turns;  // commute; each of both qubits
  CliffordPair behind;

  /// False where it does not commute with a turn, or is one of a single qubit, and no Clifford gate either; nothing
  /// that is there counts then.
  bool add(const PairStep& step);
};

}  // namespace qsim
