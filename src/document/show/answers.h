// The answers of a run as they are shown: JSON and text, a function each. Which there are is said by the rows of
// src/runtime/answer/read_outs.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "document/result.h"
#include "document/show/json_stream.h"

namespace qsim {

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

using LineSink = std::function<void(const std::string&)>;

/// A titled block of lines, which are made as they are written: there may be as many as amplitudes.
struct Section {
  std::string title;
  std::size_t total = 0;
  bool asked = false;  // by name: then all of it is shown
  std::function<void(std::size_t first_lines, const LineSink& line)> write;
  std::string argument = {};  // that asks for all of it, where there is one
};

/// The value of an answer in the document, where it was computed.
namespace as_json {
void variables(JsonStream& out, const Result& result);
void marginals(JsonStream& out, const Result& result);
void probabilities(JsonStream& out, const Result& result);
void expectation(JsonStream& out, const Result& result);
void distribution(JsonStream& out, const Result& result);
void counts(JsonStream& out, const Result& result);
void amplitudes(JsonStream& out, const Result& result);
void files(JsonStream& out, const Result& result);
}  // namespace as_json

/// Adds its part of the text.
namespace as_text {
void variables(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
void marginals(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
void probabilities(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
void expectation(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
void distribution(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
void counts(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
void amplitudes(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
void files(const Result& result, const ReportScope& scope, std::vector<Section>& sections);
}  // namespace as_text

}  // namespace qsim
