// Machines whose memory is so slow that planning takes its time, as for states of many gigabytes.
#pragma once

#include <cmath>
#include <cstdint>

#include "plan/cost/machine.h"

namespace qsim::test {

/// Sweeps of 2^qubits amplitudes take milliseconds on `machine` then: schedules are looked for once more, and births
/// later.
inline void slow_down(Machine& machine, std::uint32_t qubits) {
  const double rate = std::ldexp(32.0, static_cast<int>(qubits)) / 4e-3;
  machine.cost_double.read_bytes_per_second = machine.cost_double.write_bytes_per_second = rate;
}

}  // namespace qsim::test
