// Reference for dynamic circuits: every branch of measurements and resets in long double, by the definitions. Shares no
// code with src/. For up to 7 qubits and a dozen measurements.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "qsim/circuit.h"
#include "qsim/pauli.h"

namespace qsim::branching {

using Amplitude = std::complex<long double>;
using State = std::vector<Amplitude>;

struct Questions {
  std::vector<std::vector<Qubit>> probabilities;
  std::vector<PauliString> paulis;
  std::uint64_t shots = 0;
  /// The random word that decides for `shot` when it has drawn so often.
  std::function<std::uint64_t(std::uint64_t shot, std::uint64_t drawn)> word;
};

/// Averages over all branches, of their states before the terminal measurements.
struct Answers {
  std::map<std::string, double> distribution;  // bit string as the program prints it
  std::map<std::string, std::uint64_t> counts;
  std::vector<double> marginals;
  std::vector<std::vector<double>> probabilities;
  std::vector<double> paulis;
  std::size_t branches = 0;
  State state;  // of the last branch, not normalised: the final state of a circuit that has one
};

/// How far a probability may be from the reference's when amplitudes are off by `amplitude`, `terms` of them are added
/// up, and outcomes of `left_out` together are taken for rounding.
struct Allowance {
  double amplitude = 0, terms = 1, left_out = 0;
  Allowance(const Circuit& circuit, Precision precision, const Answers& wanted);
  double of(double probability) const;
};

/// |0...0>.
State zero_state(unsigned qubits);
/// The product's random start state of `seed`, as it is stored in `precision`.
State random_start(std::uint32_t qubits, std::uint64_t seed, Precision precision);
/// Branches below 1e-30 of the whole are left out.
Answers walk(const Circuit& circuit, const State& start, const Questions& questions = {});

}  // namespace qsim::branching
