// The circuit-to-circuit passes that run before planning, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qsim/circuit.h"

namespace qsim {

/// A circuit that means the same as another one, and where its operations come from.
struct Rewritten {
  Circuit circuit;
  std::vector<std::uint32_t> origin;                           // by operation: the one it stands for
  std::vector<std::pair<std::uint32_t, const char*>> removed;  // operations that stand for nothing now, and why
};

/// A pass. `changed` says whether it found anything; otherwise the result is empty and the circuit stays.
struct Pass {
  std::string_view name;
  std::string_view effect;  // what it does, for people
  bool (*run)(const Circuit& circuit, Rewritten& result);
};

/// Every pass, in the order in which they run.
std::span<const Pass> optimizer_passes();

/// Runs all passes but the disabled ones over a unitary circuit (terminal measurements and barriers are dropped).
/// False when nothing changed: the circuit can be used as it is.
bool optimize(const Circuit& circuit, const std::vector<std::string>& disabled, Rewritten& result);

/// Removes pairs of operations that undo each other and have nothing between them on any of their qubits.
bool cancel_inverses(const Circuit& circuit, Rewritten& result);

/// CX a,b ... CX a,b around rotations of b about Z becomes rotations about the parity of both.
bool recognise_rotations(const Circuit& circuit, Rewritten& result);

}  // namespace qsim
