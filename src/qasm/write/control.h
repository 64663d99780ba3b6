// Classical control as statements of OpenQASM 3.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "classical/control.h"

namespace qsim {

/// A literal, or the cast of one, of exactly this type and value.
std::string constant_text(const Scalar& value);
/// The expression over variables called `prefix` and their number. UnsupportedError.
std::string expression_text(const Control& control, std::uint32_t expression, const std::string& prefix);

/// What the steps that are no classical ones are written as, each with its indentation and line end.
using OperationText = std::function<std::string(const FlowStep& step, const std::string& indent)>;

/// The steps as nested ifs and loops where they have that form; else a loop over the number of the next step.
/// Variables must be declared already.
std::string steps_text(const Control& control, const OperationText& operation, const std::string& prefix,
                       const std::string& indent);

}  // namespace qsim
