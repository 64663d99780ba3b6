// Text files of the ASC20-21 challenge: gate lists, reference outputs, Pauli sums.
#pragma once

#include <string>
#include <vector>

#include "bench/bench.h"
#include "qsim/pauli.h"

namespace qsim::bench {

/// The last number of every line ("Prob of qubit  0 (outcome=1) is:  0.497144"); FileError.
std::vector<double> read_last_numbers(const std::string& path);
/// The last two numbers of every line, as an amplitude; FileError.
std::vector<Complex> read_last_pairs(const std::string& path);
/// A Pauli file whose dense strings have qubit 0 leftmost.
PauliSum read_reversed_pauli_file(const std::string& path, std::uint32_t qubits);

}  // namespace qsim::bench
