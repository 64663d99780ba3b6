// The state as it lies over the ranks: which qubit is which bit, and which bits name the rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// Where some qubits live: those with local bits, and the value that this rank's number gives the others.
struct QubitPlaces {
  std::vector<Bit> local;     // bits of the local ones, in the order of the qubits given
  Index local_positions = 0;  // mask over positions in the list of qubits
  Index fixed = 0;            // positions of global qubits that are 1 on this rank
  /// Pattern over all the qubits, from a pattern over the local ones.
  Index widen(Index local_value) const { return deposit_bits(local_value, local_positions) | fixed; }
};

struct DistributedState {
  Backend& backend;
  Communicator& communicator;
  std::uint32_t qubits = 0;
  std::uint32_t rank_bits = 0;
  Precision precision = Precision::kDouble;
  Layout layout;
  std::vector<Exchange> moves = {};            // exchanges that read-outs have run, in order
  std::vector<double> bit_probabilities = {};  // this shard's, where the last sweep took them; empty: not known

  std::uint32_t local_bits() const { return qubits - rank_bits; }
  Index local_amplitudes() const { return Index{1} << local_bits(); }
  Index rank() const { return static_cast<Index>(communicator.rank()); }
  /// Physical index of this rank's first amplitude.
  Index base() const { return rank() << local_bits(); }
  bool is_local(Qubit qubit) const { return layout.bit_of[qubit] < local_bits(); }
  QubitPlaces places(std::span<const Qubit> of) const;
  /// Logical index of a local one.
  Index to_logical(Index local) const { return layout.to_logical(base() | local); }
  std::uint64_t shard_bytes() const { return local_amplitudes() * amplitude_bytes(precision); }
};

}  // namespace qsim
