// Words and numbers as benchmarks write them.
#pragma once

#include <string>

#include "bench/bench.h"

namespace qsim::bench {

std::string start_name(Start start);          // "zero", "random"
std::string status_name(BenchStatus status);  // "ok", "failed", "skipped"
std::string seconds_text(double seconds);     // "12.3 ms"
std::string short_number(double value);       // two significant digits
/// What stands behind the last '/'.
std::string base_name(const std::string& path);
/// Rows of one circuit, start and precision in a legend: "qft 24, from random".
std::string row_label(const BenchRow& row);

}  // namespace qsim::bench
