// What docs/qasm.md says of OpenQASM 3, row by row, with a program that shows it.
#pragma once

#include <map>
#include <span>
#include <string>

#include "qsim/error.h"

namespace qsim::test {

struct Qasm3Feature {
  const char* feature;  // first column
  const char* meaning;  // second column
  const char* example;  // third column, behind the version line and the library; "" : the row has none
  /// What the registers are at the end, without spaces, the last declared left-most; empty: the example is not run.
  std::map<std::string, double> registers = {};
  ExitCode code = ExitCode::kOk;
  const char* note = "";                           // text that a note or the error must hold
  std::map<std::string, std::string> inputs = {};  // values of inputs
  bool whole = false;                              // the example is a whole program: nothing is put before it
};

std::span<const Qasm3Feature> qasm3_features();

/// The table of docs/qasm.md.
std::string qasm3_feature_table();

}  // namespace qsim::test
