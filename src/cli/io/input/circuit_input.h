// Reads the circuit that a command was given, once for all ranks where only one of them can.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/io/context.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "qsim/circuit.h"
#include "qsim/types.h"

namespace qsim::cli {

struct CircuitInput {
  Circuit circuit;
  CircuitSummary summary;
  std::vector<std::string> notes;  // what was read but has no effect, or has more than one reading
};

/// Values of the program's inputs by name, as text.
using Parameters = std::map<std::string, std::string>;

/// Of --param NAME=VALUE (each) and --params FILE.json (empty: none). UsageError, FileError.
Parameters parameters_of(const std::vector<std::string>& given, const std::string& file);

/// Reads and parses `file` ("-": standard input, which a launcher gives to rank 0 alone) and stores the summary in
/// context.partial. Collective; AgreedFailure.
CircuitInput read_circuit(const std::string& file, Context& context, const Parameters& parameters = {},
                          const std::map<std::string, Matrix>& unitaries = {});

/// CapacityError above kMaxQubits, naming what would fit `machine`; UsageError for more ranks than amplitudes.
void check_size(const Circuit& circuit, Precision precision, std::uint32_t rank_bits, const Machine& machine);

}  // namespace qsim::cli
