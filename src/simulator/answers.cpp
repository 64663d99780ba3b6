#include "simulator/answers.h"

#include <algorithm>

#include "runtime/answer/read_outs.h"

namespace qsim {
namespace {

std::vector<ReadOut> rows_by(int ShownAnswer::*place) {
  std::vector<ReadOut> rows(read_out_table().begin(), read_out_table().end());
  std::ranges::sort(rows, {}, [place](const ReadOut& row) { return row.shown.*place; });
  return rows;
}

}  // namespace

void write_answers(JsonStream& out, const Result& result) {
  out.open('{');
  for (const ReadOut& row : rows_by(&ShownAnswer::json_place)) {
    out.key(row.name);
    row.shown.computed(result.results) ? row.shown.json(out, result) : out.value("null");
  }
  out.close('}');
}

std::vector<Section> answer_sections(const Result& result, const ReportScope& scope) {
  std::vector<Section> sections;
  for (const ReadOut& row : rows_by(&ShownAnswer::text_place)) {
    if (row.shown.computed(result.results)) row.shown.text(result, scope, sections);
  }
  return sections;
}

}  // namespace qsim
