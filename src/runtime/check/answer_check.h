// What answers must satisfy whatever the circuit: probabilities that add up, and read-outs that agree with each other.
#pragma once

#include "runtime/distributed_state.h"
#include "runtime/read_out/classical_bits.h"

namespace qsim {

struct Answers;

/// Throws VerificationError, in every verify mode, where the total that is drawn from is none that rounding explains,
/// or no number. `drift`: what rounding may do to the state's norm.
void require_drawable(double found, double expected, double drift, std::uint32_t qubits);

/// Throws VerificationError with both numbers where the branches' weights, the exact distribution or joint
/// probabilities do not add up to 1, where one of them is none, or where two read-outs give the same qubit different
/// probabilities. `drift`: what the circuit's rounding may do to a norm. Reads `answers` only: it costs nothing beside
/// the read-outs. The same on every rank.
void check_answers(const Answers& answers, const Circuit& circuit, const TerminalMeasurements& terminal,
                   const DistributedState& state, double drift);

}  // namespace qsim
