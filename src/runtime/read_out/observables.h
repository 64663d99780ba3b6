// Values read from a distributed state; only answers cross between ranks, and every rank gets the same ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "document/result.h"
#include "qsim/pauli.h"
#include "runtime/distributed_state.h"
#include "runtime/exchange/exchange_pipeline.h"

namespace qsim {

/// P(qubit = 1) of every qubit, in one read of the state.
std::vector<double> marginals(DistributedState& state);
/// values[v] = probability that list[j] equals bit j of v. At most 26 qubits: UnsupportedError.
std::vector<double> qubit_probabilities(DistributedState& state, std::span<const Qubit> list);
/// Amplitudes at logical indices, in the order given.
std::vector<AmplitudeEntry> amplitudes(DistributedState& state, std::span<const Index> logical);
/// Those from logical index `first` on.
void amplitudes(DistributedState& state, Index first, std::span<Complex> values);
/// Logical indices of the `count` most probable amplitudes by falling probability, as it is listed; of equal ones the
/// lowest index comes first.
std::vector<Index> top_indices(DistributedState& state, std::size_t count);
/// Expectation value of each string, in the order given. Strings with the same X part share one read of the state.
std::vector<double> pauli_expectations(DistributedState& state, ExchangePipeline& exchanges,
                                       std::span<const PauliString> strings);

}  // namespace qsim
