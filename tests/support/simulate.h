// simulate() on ranks that a test names beside the options.
#pragma once

#include <memory>

#include "base/ranks/communicator.h"
#include "document/result.h"
#include "qsim/circuit.h"
#include "simulator/simulator.h"

namespace qsim {
namespace test {

/// As Target::communicator, of one that somebody else keeps until the sessions and their states are gone.
inline std::shared_ptr<Communicator> borrowed(Communicator& communicator) {
  return {std::shared_ptr<void>(), &communicator};
}

}  // namespace test

inline Result simulate(const Circuit& circuit, RunOptions options, int ranks) {
  options.ranks = ranks;
  return simulate(circuit, options);
}
inline Result simulate(const Circuit& circuit, RunOptions options, Communicator& communicator) {
  options.communicator = test::borrowed(communicator);
  return simulate(circuit, options);
}

}  // namespace qsim
