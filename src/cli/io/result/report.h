// The result of a run as text for a person.
#pragma once

#include "cli/io/output.h"
#include "document/result.h"

namespace qsim::cli {

/// How much of a result a report shows. What was asked for by name is shown in full, however long it is; what nobody
/// asked for shares 25 lines.
struct ReportScope {
  bool header = true;    // circuit, device, times and checks above the results
  bool details = false;  // more of them: version, memory, work
  bool all = false;      // everything in full
  bool counts = false;   // asked for by name
  bool amplitudes = false;
  bool variables = false;
};

/// Gives the report's lines to `sink`, fit for a terminal: what could steer one is escaped.
void write_result_report(const Result& result, const ReportScope& scope, const TextSink& sink);

}  // namespace qsim::cli
