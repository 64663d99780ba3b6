// Random circuits over everything that a circuit can hold, for property tests.
#pragma once

#include <cstdint>

#include "qsim/circuit.h"

namespace qsim::test {

struct RandomCircuitOptions {
  unsigned qubits = 5;
  unsigned operations = 40;
  std::uint64_t seed = 1;
  unsigned max_controls = 3;         // on any operation, as far as the qubits reach
  unsigned max_unitary_targets = 3;  // 0: no unitary matrices
  bool pauli_rotations = true;
  bool special_angles = true;          // some angles are multiples of pi/4, where rewrites have special cases
  bool further_gates = false;          // those behind kRc3xdg as well
  bool dynamic = false;                // measure in mid-circuit, reset, if
  bool terminal_measurements = false;  // measure every qubit at the end
  unsigned kinds =
      0;  // not 0: so many kinds of operation and few angles, as blocks of applications have, so that they meet
};

/// The same options give the same circuit on every machine.
Circuit random_circuit(const RandomCircuitOptions& options);

/// A random unitary matrix of order 2^targets, row-major (Gram-Schmidt on Gaussian columns).
Matrix random_unitary(unsigned targets, std::uint64_t seed);

}  // namespace qsim::test
