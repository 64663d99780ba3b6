// Which backend the suites of whole simulations run on.
#pragma once

#include <cstdlib>
#include <string>

#include "simulator/simulator.h"

namespace qsim::test {

/// Options for $QSIM_TEST_BACKEND, else the CPU. With "cuda" the suites need a GPU; ranks share it where there are too
/// few.
inline RunOptions run_options() {
  RunOptions options;
  const char* const name = std::getenv("QSIM_TEST_BACKEND");
  options.backend = name == nullptr ? BackendKind::kCpu : choice_of<BackendKind>(name);
  options.oversubscribe_gpus = options.backend == BackendKind::kCuda;
  return options;
}

}  // namespace qsim::test
