// Reads the circuit that a command was given, once for all ranks where only one of them can.
#pragma once

#include <string>

#include "cli/app.h"
#include "qsim/circuit.h"
#include "qsim/plan.h"
#include "qsim/result.h"

namespace qsim::cli {

struct CircuitInput {
  Circuit circuit;
  CircuitSummary summary;
};

/// Reads and parses `file` ("-": standard input, which a launcher gives to rank 0 alone) and stores the summary in
/// context.partial. Collective; AgreedFailure.
CircuitInput read_circuit(const std::string& file, Context& context);

/// CapacityError above kMaxQubits, naming what would fit `machine`; UsageError for more ranks than amplitudes.
void check_size(const Circuit& circuit, Precision precision, std::uint32_t rank_bits, const Machine& machine);

}  // namespace qsim::cli
