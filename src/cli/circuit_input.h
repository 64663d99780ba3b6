// Reads the circuit that a command was given, once for all ranks where only one of them can.
#pragma once

#include <string>

#include "cli/app.h"
#include "qsim/circuit.h"
#include "qsim/result.h"

namespace qsim::cli {

struct CircuitInput {
  Circuit circuit;
  CircuitSummary summary;
};

/// Reads and parses `file` ("-": standard input, which a launcher gives to rank 0 alone) and stores the summary in
/// context.partial. Collective; AgreedFailure.
CircuitInput read_circuit(const std::string& file, Context& context);

}  // namespace qsim::cli
