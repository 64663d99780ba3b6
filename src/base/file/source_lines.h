// Where operations stand in a source text: for what reads and rewrites circuits.
#pragma once

#include <cstdint>

#include "qsim/circuit.h"

namespace qsim {

struct SourceLines {
  /// Of what is appended to `circuit` from now on; 0: none.
  static void set(Circuit& circuit, std::uint32_t line) { circuit.current_line_ = line; }
};

}  // namespace qsim
