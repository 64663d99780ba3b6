// The steps of a flow program as nested statements.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "classical/control.h"

namespace qsim {

struct Statement {
  enum class Kind : std::uint8_t {
    kStep,      // step number `step`: no jump
    kIf,        // `body` where the expression of branch `step` holds (`negated`: does not hold), else `otherwise`
    kLoop,      // `body` again and again, until it breaks
    kContinue,  // of the innermost loop
    kBreak,
  };
  Kind kind = Kind::kStep;
  std::uint32_t step = 0;
  bool negated = false;
  std::vector<Statement> body = {}, otherwise = {};
};
using Statements = std::vector<Statement>;

/// Ifs and loops, at most 100 deep; nullopt where the steps have no such form.
std::optional<Statements> nested_statements(const Control& control);

}  // namespace qsim
