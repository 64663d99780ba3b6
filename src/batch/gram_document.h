// Gram matrices for people and for programs.
#pragma once

#include <span>
#include <string>

#include "base/ranks/failure.h"
#include "qsim/batch.h"

namespace qsim {

/// The `qsim.gram/1` document; `names` name the states.
std::string gram_json(const GramResult& result, std::span<const std::string> names);
/// The same of a comparison that failed.
std::string gram_error_json(const Failure& failure);
/// Tables of fidelities and distances.
std::string gram_text(const GramResult& result, std::span<const std::string> names);

}  // namespace qsim
