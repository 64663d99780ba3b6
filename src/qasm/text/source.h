// Source texts and what is said about places in them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "qsim/qasm.h"

namespace qsim::qasm {

/// One text: the program itself or an included file. `text` points into what the parser holds or the caller's buffer.
struct Source {
  std::string name;       // as shown in messages
  std::string folder;     // where its includes are looked for; empty = nowhere
  std::string path;       // canonical path of an included file, for cycles
  std::string_view text;  // without byte-order mark
  const Source* includer = nullptr;
  std::uint32_t include_line = 0;  // line of the outermost include statement, in the program itself; 0 = none
};

/// An error at a byte of the current source: thrown inside the parser, caught at the end of its statement.
struct Failure {
  std::uint32_t offset = 0;
  std::string message;
  std::string hint;
  ExitCode code = ExitCode::kCircuit;
  bool fatal = false;   // nothing after it is worth reading
  bool silent = false;  // a consequence of an error that was already reported
};

/// `text` between quotes for a message: control and non-ASCII bytes as \xNN, at most `cap` bytes.
std::string quoted(std::string_view text, std::size_t cap = 60);
/// Escapes control bytes only, for file names.
std::string printable(std::string_view text);
/// The name in `candidates` (any range of string-like) nearest to `name`, or empty when none is near.
class NearestName {
 public:
  explicit NearestName(std::string_view name) : name_(name) {}
  void offer(std::string_view candidate);
  std::string hint() const;  // "did you mean 'cx'?" or empty

 private:
  std::string_view name_, best_;
  std::size_t best_distance_ = static_cast<std::size_t>(-1);
  int offered_ = 0;
};

/// The failure as file:line:column: error: message, the source line and a caret.
Diagnostic make_diagnostic(const Source& source, const Failure& failure);

}  // namespace qsim::qasm
