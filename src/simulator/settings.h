// Options checked against the circuit and the ranks, with every default decided.
#pragma once

#include <cstdint>

#include "base/ranks/communicator.h"
#include "plan/plan_options.h"
#include "qsim/circuit.h"
#include "runtime/read_out/answers.h"
#include "simulator/simulator.h"

namespace qsim {

struct Settings {
  ReadOuts asked;  // of the options, which must outlive them
  bool seed_given = false;
};

/// What the options ask for; they must outlive it.
ReadOuts read_outs_of(const RunOptions& options);

/// How their circuit is planned for 2^rank_bits ranks.
PlanOptions plan_options(const RunOptions& options, std::uint32_t rank_bits);

/// Throws UsageError or UnsupportedError. Draws a seed from the system where none is given (ranks differ: agree).
Settings check_settings(const Circuit& circuit, const RunOptions& options, int ranks);

/// Throws CommunicatorError, naming the first difference, on every rank where circuits or options differ in what
/// decides a rank's work: such ranks would wait for each other in different places. Collective, and the first that is.
void require_same_run(const Circuit& circuit, const RunOptions& options, Communicator& communicator);

}  // namespace qsim
