// OpenQASM 2.0 in and out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {

struct Diagnostic {
  std::string text;  // file:line:column: error: message, the source line, a caret; control characters escaped
  SourcePosition where;
  std::string hint;  // "did you mean 'cx'?", or empty
  ExitCode code = ExitCode::kCircuit;
};

struct QasmOptions {
  std::string file = "<input>";               // name in messages
  std::string include_root;                   // folder that includes may not leave; empty = the file's own folder
  std::uint64_t max_operations = 1ull << 28;  // after expansion; more is UnsupportedError before expanding
  int max_errors = 20;
};

struct QasmProgram {
  Circuit circuit;
  std::string language;               // "OPENQASM 2.0"
  std::vector<std::string> includes;  // files that the program includes, as canonical paths
};

/// Parses OpenQASM 2.0 text. Throws ParseError whose what() lists up to max_errors diagnostics (where() is the first),
/// UnsupportedError for OpenQASM 3 and applied opaque gates.
QasmProgram parse_qasm(std::string_view text, const QasmOptions& options = {});
/// Reads `path` ("-" = standard input) and parses it; FileError when it cannot be read. Also returns the text's XXH3
/// hash.
QasmProgram parse_qasm_file(const std::string& path, std::uint64_t* xxh3 = nullptr);
/// All diagnostics of `text` without throwing (at most max_errors); empty when it is valid.
std::vector<Diagnostic> check_qasm(std::string_view text, const QasmOptions& options = {});
/// Writes `circuit` as OpenQASM 2.0 that parses back to the same operations (angles in the shortest form that reads
/// back exactly). Gates without a name of their own are written as gate definitions; UnsupportedError where that cannot
/// be.
std::string write_qasm(const Circuit& circuit);

}  // namespace qsim
