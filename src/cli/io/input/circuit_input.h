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
  std::vector<std::string> notes;      // what was read but has no effect, or has more than one reading
  std::vector<std::string> unitaries;  // names of given matrices that the circuit has use for
};

/// Values of the program's inputs by name, as text.
using Parameters = std::map<std::string, std::string>;

/// What a circuit needs beside its file.
struct CircuitArguments {
  Parameters parameters;
  std::map<std::string, Matrix> unitaries;  // of opaque gates, by name
  bool shared = false;                      // among several circuits, of which not each has use for every matrix
};

/// The flags that give it: --param, --params and --unitary.
class CircuitFlags {
 public:
  void add_to(Flags& flags);
  /// --unitary alone, for a command that takes several circuits.
  void add_unitary_to(Flags& flags);
  /// What was typed. UsageError, FileError.
  CircuitArguments read() const;

 private:
  std::vector<std::string> values_, matrices_;
  std::string value_file_;
};

/// Reads and parses `file` ("-": standard input, which a launcher gives to rank 0 alone) and stores the summary in
/// context.partial. Collective; AgreedFailure.
CircuitInput read_circuit(const std::string& file, Context& context, const CircuitArguments& arguments = {});

/// CapacityError above kMaxQubits, naming what would fit `machine`; UsageError for more ranks than amplitudes.
void check_size(const Circuit& circuit, Precision precision, std::uint32_t rank_bits, const Machine& machine);

}  // namespace qsim::cli
