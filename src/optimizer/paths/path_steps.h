// Operations as what a sum over paths is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/sums/path_sum.h"
#include "qsim/circuit.h"

namespace qsim {

struct PathStep {
  enum class Kind : std::uint8_t { kTurn, kFlip, kPhase } kind = Kind::kTurn;
  Qubit target = 0;         // kTurn, kFlip
  Index ones = 0;           // controls, or where the phase is
  Index parity = 0;         // kPhase: of these; 0: of `ones` alone
  std::uint64_t turns = 0;  // kPhase
};

/// Appends the steps of an operation. False where it is not made of them, or turns by what is no simple part of a turn
/// (which no sum would see through): nothing is appended then.
bool append_steps(const Circuit& circuit, const Operation& op, std::vector<PathStep>& steps);

/// Whether the operation is made of steps, with Hadamard gates among them.
bool turns(const Circuit& circuit, const Operation& op);

/// Whether anywhere a phase that no Clifford circuit has stands between two Hadamard gates.
bool is_promising(const Circuit& circuit);

bool append_to(PathSum& sum, const PathStep& step);

}  // namespace qsim
