// Dense reference simulator: written from the definitions, shares no code with src/. For circuits of about 12 qubits.
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "qsim/circuit.h"

namespace qsim::dense {

using Amplitude = std::complex<double>;
using State = std::vector<Amplitude>;
using WideAmplitude = std::complex<long double>;
using WideState = std::vector<WideAmplitude>;

/// |0...0> of `qubits` qubits.
State zero_state(unsigned qubits);
/// Normalised Gaussian amplitudes from the standard library's own generator.
State random_state(unsigned qubits, std::uint64_t seed);

/// Matrix of a base gate, row-major, bit j of an index = target j, built from the gate's definition.
std::vector<Amplitude> gate_matrix(Gate gate, std::span<const double> params);
/// Matrix of a unitary operation on its targets alone.
std::vector<Amplitude> operation_matrix(const Circuit& circuit, const Operation& op);

/// state <- matrix on `targets` where all `controls` are 1.
void apply_matrix(State& state, std::span<const Amplitude> matrix, std::span<const Qubit> controls,
                  std::span<const Qubit> targets);
/// Applies one gate, unitary or Pauli rotation; throws std::invalid_argument for anything else.
void apply(State& state, const Circuit& circuit, const Operation& op);

/// State before the measurements of `circuit`, which must have no reset and no condition (barriers are skipped).
State run(const Circuit& circuit, State start);
State run(const Circuit& circuit);
/// The same in long double, matrices included: right to the last digits of a double after any number of gates.
State run_wide(const Circuit& circuit, const State& start);

/// Exact distribution of the classical bits at the end (bit b of a key = classical bit b), through every branch of
/// measurement and reset. Outcomes of probability below 1e-14 are left out.
std::map<std::uint64_t, double> distribution(const Circuit& circuit);

double norm(const State& state);
/// Largest |a[i] - b[i]|.
double max_difference(const State& a, const State& b);
/// Largest |a[i] - e^{ix} b[i]| over the x that fits best.
double max_difference_up_to_phase(const State& a, const State& b);

/// The whole 2^n x 2^n matrix of a unitary circuit, row-major.
std::vector<Amplitude> circuit_matrix(const Circuit& circuit);

}  // namespace qsim::dense
