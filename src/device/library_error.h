// Failed calls of a device's libraries.
#pragma once

#include <string>

#include "qsim/error.h"

namespace qsim {

/// "CUDA error 2 in cudaMalloc: out of memory".
inline DeviceError library_error(const std::string& library, int code, const std::string& call,
                                 const std::string& text) {
  return DeviceError(library + " error " + std::to_string(code) + " in " + call + ": " + text);
}

}  // namespace qsim
