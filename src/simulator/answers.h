// The answers of a run in the orders in which they are shown, by the rows of src/runtime/answer/read_outs.cpp.
#pragma once

#include <vector>

#include "document/result.h"
#include "document/show/answers.h"

namespace qsim {

/// All of them as an object of the document: null where one was not computed.
void write_answers(JsonStream& out, const Result& result);

/// The text of those that were computed.
std::vector<Section> answer_sections(const Result& result, const ReportScope& scope);

}  // namespace qsim
