// OpenQASM 2.0 and 3, read and written.
#pragma once

#include "qsim/circuit.h"
#include "qsim/error.h"

namespace QSIM_PUBLIC qsim {

struct QasmOptions {
  std::string file = "<input>";               // name in messages
  std::string include_root;                   // folder that includes may not leave; empty = the file's own folder
  std::uint64_t max_operations = 1ull << 28;  // after expansion; more is UnsupportedError before expanding
  int max_errors = 20;
  /// Values of `input` variables, written as the language has them: 0.5, pi/4, true, 0101, {1, 2}.
  std::map<std::string, std::string> parameters = {};
  /// What `opaque` gates of OpenQASM 2 do, by name: matrices of order 2^qubits, row-major, the gate's first qubit the
  /// least significant bit of an index. A name that the program does not declare as opaque is a UsageError.
  std::map<std::string, Matrix> unitaries = {};
  bool shared_unitaries = false;  // for several programs: those that this one does not declare are no error
};

struct QasmProgram {
  Circuit circuit;
  std::string language;                // "OPENQASM 2.0", "OPENQASM 3"
  std::vector<std::string> includes;   // files that the program includes, as canonical paths
  std::vector<std::string> notes;      // what was read but has no effect, or has more than one reading; with places
  std::vector<std::string> unitaries;  // names of QasmOptions::unitaries that the program declares
};

/// Parses OpenQASM text: version 3 where it says so, or says nothing and has statements of version 3. Throws ParseError
/// whose what() lists up to max_errors diagnostics (where() is the first), UnsupportedError for what no circuit can
/// hold, UsageError for parameters that are no inputs.
QasmProgram parse_qasm(std::string_view text, const QasmOptions& options = {});
/// Reads `path` ("-" = standard input) and parses it; FileError when it cannot be read. Also returns the text's XXH3
/// hash. `options.file` is not used.
QasmProgram parse_qasm_file(const std::string& path, std::uint64_t* xxh3 = nullptr, QasmOptions options = {});
/// All diagnostics of `text` without throwing (at most max_errors); empty when it is valid.
std::vector<Diagnostic> check_qasm(std::string_view text, const QasmOptions& options = {});
enum class QasmVersion : std::uint8_t { k2, k3 };

/// Writes `circuit` as OpenQASM 2.0 or 3.1 that parses back to a circuit which does the same (angles in the shortest
/// form that reads back exactly). Gates without a name of their own are written as gate definitions, up to their global
/// phase; UnsupportedError with the reason where that cannot be, and for what version 2 has no words for.
std::string write_qasm(const Circuit& circuit, QasmVersion version = QasmVersion::k2);

}  // namespace qsim
