// A run as one page of HTML: circuit, results, plan, time line, sweeps and memory, without anything from outside.
#pragma once

#include <string>

#include "document/result.h"
#include "qsim/circuit.h"

namespace qsim::cli {

/// `result` with its pictures; `histogram` is SVG or empty. What is large is cut, and the page says so.
std::string run_page(const Circuit& circuit, const Result& result, const std::string& histogram);

}  // namespace qsim::cli
