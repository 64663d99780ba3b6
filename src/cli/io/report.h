// The text a person reads after a run: at most 25 lines.
#pragma once

#include <string>

#include "document/result.h"

namespace qsim::cli {

std::string result_report(const Result& result);

}  // namespace qsim::cli
