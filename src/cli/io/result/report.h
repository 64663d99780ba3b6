// The result of a run as text for a person.
#pragma once

#include "base/text.h"
#include "document/result.h"
#include "document/show/answers.h"

namespace qsim::cli {

/// Gives the report's lines to `sink`, fit for a terminal: what could steer one is escaped.
void write_result_report(const Result& result, const ReportScope& scope, const TextSink& sink);

}  // namespace qsim::cli
