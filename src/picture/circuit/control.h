// Programs whose measurements decide what runs: blocks in frames.
#pragma once

#include <string>

#include "picture/circuit/layout.h"

namespace qsim::picture {

/// `layout` has the wires of the circuit, which has classical control. UnsupportedError where its steps are no nested
/// ifs and loops.
void lay_out_control(const Circuit& circuit, const std::string& pi, CircuitLayout& layout);

}  // namespace qsim::picture
