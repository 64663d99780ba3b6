// Predicted seconds of sweeps and exchanges, from a machine's cost table.
#pragma once

#include <vector>

#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "qsim/types.h"

namespace qsim {

/// Amplitudes that a sweep reads and writes on each rank.
struct SweepTraffic {
  std::uint64_t amplitudes_read = 0, amplitudes_written = 0;
};
SweepTraffic sweep_traffic(const Sweep& sweep, std::uint32_t local_bits);
/// The same in bytes, read plus written.
std::uint64_t swept_bytes(const Sweep& sweep, std::uint32_t local_bits, Precision precision);

/// Amplitudes that each rank sends in an exchange.
std::uint64_t exchanged_amplitudes(const Exchange& exchange, std::uint32_t local_bits);

/// What a sweep's arithmetic is made of, in units of the cost table; controlled operations count less.
struct ArithmeticCounts {
  double matrix1_general = 0, matrix1_real = 0, butterfly = 0, flip = 0, phases = 0, phase_term = 0, regroup = 0;
  double flips_outside = 0, flips_inside = 0;  // FormCosts::flip_outside and flip_inside of them
  double phase_parts = 0;                      // FormCosts::phase_part of them
  double terms_apart = 0;                      // terms, of each operation so many at most as make kernels longer
  double matrix_dense[kMaxMatrixTargets + 1] = {};
  double controlled_general = 0, controlled_real = 0, controlled_entries = 0;  // on one target; their numbers but 0
  double pair_entries = 0, parity_entries = 0;  // of the matrices on two targets, by either count
};
ArithmeticCounts arithmetic_counts(const Sweep& sweep, std::uint32_t register_bits);

/// As if all instructions were in the cache.
struct Arithmetic {
  double nanoseconds = 0;   // a million amplitudes
  double instructions = 0;  // of a thread, without those of the kernel around them
};
/// Of each operation of a sweep, by the way in which the whole of it does its blocks (CostTable::lanes).
std::vector<Arithmetic> operation_arithmetic(const Sweep& sweep, Precision precision, const Machine& machine);

/// What memory and arithmetic take that overlap as CostTable::overlap_power says.
double overlapped(double memory, double arithmetic, double power);
double sweep_seconds(const Sweep& sweep, std::uint32_t local_bits, Precision precision, const Machine& machine);
/// What its memory traffic alone and its arithmetic alone would take.
struct SweepBounds {
  double memory_seconds = 0, arithmetic_seconds = 0;
};
SweepBounds sweep_bounds(const Sweep& sweep, std::uint32_t local_bits, Precision precision, const Machine& machine);
/// Of a sweep with that much arithmetic instead of its own.
double sweep_seconds(const Sweep& sweep, const Arithmetic& arithmetic, std::uint32_t local_bits, Precision precision,
                     const Machine& machine);
double exchange_seconds(const Exchange& exchange, std::uint32_t local_bits, Precision precision,
                        const Machine& machine);

/// Sets predicted_seconds of everything in the plan, and what exchanges add beside sweeps.
void predict(Plan& plan, const Machine& machine);
/// What the plan takes by another machine's costs.
double seconds_on(const Machine& machine, Plan plan);

}  // namespace qsim
