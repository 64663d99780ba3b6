// Values of a program's inputs from a JSON file.
#pragma once

#include <map>
#include <string>

namespace qsim::cli {

/// The members of the object in `path`, as OpenQASM writes their values: numbers, true and false, bit strings, arrays
/// in braces. FileError where it cannot be read or is no such object.
std::map<std::string, std::string> read_parameters(const std::string& path);

}  // namespace qsim::cli
