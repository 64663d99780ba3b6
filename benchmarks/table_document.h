// A `qsim.table/1` document on standard output, for benchmarks that link the library.
#pragma once

#include "bench/bench.h"
#include "benchmarks/table_rows.h"
#include "document/result.h"

namespace table {

class Document : public Rows {
 public:
  using Rows::Rows;
  void print() const {
    const qsim::EnvironmentSummary here = qsim::environment();
    Rows::print({{"machine", table::quoted(qsim::machine_words(here))}, {"commit", table::quoted(here.commit)}});
  }
};

}  // namespace table
