// Counts nesting while a construct is read or walked; too much is an error and not a crash.
#pragma once

#include <string>

#include "qasm3/syntax/parser.h"

namespace qsim::qasm3 {

class Nesting {
 public:
  Nesting(int& depth, std::uint32_t at) : depth_(depth) {
    if (depth_ >= kMaxNesting) {
      throw Failure{at, "nested deeper than " + std::to_string(kMaxNesting) + " levels", ""};
    }
    ++depth_;
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

}  // namespace qsim::qasm3
