// simulate() on ranks that a test names beside the options.
#pragma once

#include "base/ranks/communicator.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "simulator/simulator.h"

namespace qsim {

inline Result simulate(const Circuit& circuit, RunOptions options, int ranks) {
  options.ranks = ranks;
  return simulate(circuit, options);
}
inline Result simulate(const Circuit& circuit, RunOptions options, Communicator& communicator) {
  options.communicator = &communicator;
  return simulate(circuit, options);
}

}  // namespace qsim
