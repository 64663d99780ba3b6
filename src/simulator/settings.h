// Options checked against the circuit and the ranks, with every default decided.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ranks/communicator.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "qsim/pauli.h"
#include "simulator/simulator.h"

namespace qsim {

struct Settings {
  std::uint64_t shots = 0, seed = 0;
  bool seed_given = false;
  bool measures = false;  // the circuit has a measurement
  bool dynamic = false;   // measurement in mid-circuit, reset or condition
};

/// Throws UsageError or UnsupportedError. Draws a seed from the system where none is given (ranks differ: agree).
Settings check_settings(const Circuit& circuit, const RunOptions& options, int ranks);

/// Throws CommunicatorError, naming the first difference, on every rank where circuits or options differ in what
/// decides a rank's work: such ranks would wait for each other in different places. Collective, and the first that is.
void require_same_run(const Circuit& circuit, const RunOptions& options, Communicator& communicator);

/// The sums as they were asked for, from the values of all their strings in order.
std::vector<ExpectationValue> expectation_values(std::span<const PauliSum> sums, std::span<const double> strings);

}  // namespace qsim
