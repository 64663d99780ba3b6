// What this build is: fixed when it was compiled.
#pragma once

#include <string>

namespace qsim {

struct BuildInfo {
  std::string version;   // "0.1.0"
  std::string commit;    // short hash, "+" behind it when files differed; empty outside a git checkout
  std::string compiler;  // "GNU 12.2.0"
};

/// The file that defines it is written by cmake/build_info.cmake at every build, and only when something changed.
BuildInfo build_info();

}  // namespace qsim
