// The table of read-outs as they are shown: JSON and text, by the names of src/runtime/answer/read_outs.h.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "cli/io/result/json_stream.h"
#include "cli/io/result/report.h"
#include "document/result.h"

namespace qsim::cli {

using LineSink = std::function<void(const std::string&)>;

/// A titled block of lines, which are made as they are written: there may be as many as amplitudes.
struct Section {
  std::string title;
  std::size_t total = 0;
  bool asked = false;  // by name: then all of it is shown
  std::function<void(std::size_t first_lines, const LineSink& line)> write;
  std::string whole_by = "--json";  // the flag that shows the rest
};

struct ShownReadOut {
  const char* name;  // of its member of the results
  bool (*computed)(const Results&);
  /// Its value in the document, where it was computed.
  void (*json)(JsonStream&, const Result&);
  /// Its part of the text.
  void (*text)(const Result&, const ReportScope&, std::vector<Section>&);
  int place;  // of the text; the table has the order of the document
};
std::span<const ShownReadOut> shown_read_outs();

}  // namespace qsim::cli
