// A `qsim.table/1` document on standard output, for benchmarks that link the library.
#pragma once

#include "benchmarks/table_rows.h"
#include "qsim/simulator.h"

namespace table {

class Document : public Rows {
 public:
  using Rows::Rows;
  void print() const {
    const qsim::EnvironmentSummary here = qsim::environment();
    std::string machine = here.host;
    if (!here.devices.empty()) {
      machine += ", " + std::to_string(here.devices.size()) + " x " + here.devices.front();
    }
    Rows::print({{"machine", table::quoted(machine)}, {"commit", table::quoted(here.commit)}});
  }
};

}  // namespace table
