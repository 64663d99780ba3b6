// A failure as a value, which can travel between ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "qsim/error.h"

namespace qsim {

struct Failure {
  ExitCode code = ExitCode::kInternal;
  std::string message, hint, file;
  std::uint32_t line = 0, column = 0;
  int rank = -1;                                   // that it is about; -1: whose it is
  std::uint64_t wanted_bytes = 0, free_bytes = 0;  // of a CapacityError
  std::vector<Diagnostic> diagnostics;             // of a source text with several errors, or one
};

}  // namespace qsim
