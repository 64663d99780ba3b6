// Gates with several controls as people write them down, with ancillas that are computed and taken back.
#pragma once

#include <cstdint>
#include <random>

#include "qsim/circuit.h"

namespace qsim::test {

/// X of `t` where `a` and `b` are 1, in Clifford+T.
void append_toffoli(Circuit& circuit, Qubit a, Qubit b, Qubit t);
/// The same but for phases.
void append_margolus(Circuit& circuit, Qubit a, Qubit b, Qubit t);

using AppendToffoli = void (*)(Circuit& circuit, Qubit a, Qubit b, Qubit t);

/// X of qubit 2 * controls - 2 under the first `controls` qubits, through the ancillas between, which are given back.
void append_chain(Circuit& circuit, unsigned controls, AppendToffoli outer, AppendToffoli inner);

struct AncillaCircuitOptions {
  std::uint32_t qubits = 6;  // the upper half are ancillas
  unsigned pieces = 8;
  bool open = false;  // rotations by parameters "a" and "b" among the pieces
};

/// Such gates, computed and taken back on ancillas, among ones that leave ancillas anything. Most have a part that is
/// something simpler where ancillas start as 0.
Circuit busy_ancillas(const AncillaCircuitOptions& options, std::mt19937_64& random);

}  // namespace qsim::test
