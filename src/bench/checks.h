// What a finished run is held against.
#pragma once

#include <vector>

#include "bench/bench.h"
#include "bench/workload.h"
#include "document/result.h"
#include "simulator/simulator.h"

namespace qsim::bench {

/// Adds to `options` what the checks of a run from |0...0> read.
void request_read_outs(const Workload& workload, Start start, RunOptions& options);
/// Compares what request_read_outs asked for.
std::vector<BenchCheck> check_results(const Workload& workload, Start start, Precision precision,
                                      const Results& results);
/// Compares amplitudes with a closed form, to rounding relative to the largest expected one.
BenchCheck check_closed_form(const std::string& name, const ClosedForm& expected,
                             const std::vector<AmplitudeEntry>& amplitudes, Precision precision, std::uint64_t depth);
/// Moments of 2^qubits |a|^2 over the sample: an exponential distribution has 1, 2, and 1/e of it above 1. The second
/// may be `excess` more.
BenchCheck check_statistics(const std::vector<AmplitudeEntry>& amplitudes, std::uint32_t qubits, double excess);

}  // namespace qsim::bench
