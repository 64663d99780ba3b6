#include "cli/page/run_page.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/io/result/report.h"
#include "cli/io/values.h"
#include "picture/svg.h"
#include "qsim/picture.h"

namespace qsim::cli {
namespace {

using picture::markup;

constexpr std::size_t kMostOperations = 200, kMostWires = 40;  // of the circuit that is drawn
constexpr std::size_t kMostBytes = std::size_t{1} << 18;       // of the drawing of a program that branches
constexpr std::size_t kMostRanks = 16;                         // of the table of memory

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --faint: #59636e; --line: #d1d9e0; --bar: #4269d0; --back: #f6f8fa; }
@media (prefers-color-scheme: dark) {
:root { --paper: #0d1117; --ink: #e6edf3; --faint: #9198a1; --line: #3d444d; --bar: #6f92ee; --back: #151b23; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 1120px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 -apple-system, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; }
h1 { font-size: 22px; margin: 8px 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 32px 0 8px; padding-top: 12px; border-top: 1px solid var(--line); }
p { margin: 6px 0; color: var(--faint); overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 8px; margin: 14px 0; }
dl div { border: 1px solid var(--line); border-radius: 6px; padding: 8px 10px; background: var(--back); }
dt { color: var(--faint); font-size: 12.5px; } dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.wide + .wide { margin-top: 10px; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; } .wide svg { display: block; }
pre { margin: 0; padding: 12px; font: 12.5px/1.45 "DejaVu Sans Mono", Menlo, Consolas, monospace; background: var(--back); }
table { border-collapse: collapse; width: 100%; min-width: 340px; } td { padding: 4px 10px; white-space: nowrap; }
td:last-child { width: 60%; } .bar { height: 11px; border-radius: 2px; background: var(--bar); }
li { overflow-wrap: anywhere; }
)";

std::string wide(const std::string& inside) { return "<div class=\"wide\" tabindex=\"0\">" + inside + "</div>\n"; }

std::string section(const std::string& title, const std::string& note, const std::string& inside) {
  return "<section>\n<h2>" + title + "</h2>\n" + (note.empty() ? "" : "<p>" + markup(note) + "</p>\n") + inside +
         "</section>\n";
}

std::string facts(const Result& result) {
  const RunSummary& run = result.run;
  const std::vector<std::pair<std::string, std::string>> all{
      {"qubits", std::to_string(result.circuit.qubits)},
      {"operations", std::to_string(result.circuit.operations)},
      {"depth", std::to_string(result.circuit.depth)},
      {"ran on", counted(static_cast<std::uint64_t>(run.ranks), "rank") + " of " + run.backend},
      {"precision", std::string(name_of(run.precision))},
      {"simulated in", seconds_text(result.time.simulate)},
      {"all together", seconds_text(result.time.total)},
      {"checks", result.verification.status},
  };
  std::string text = "<dl>\n";
  for (const auto& [name, value] : all) {
    text += "<div><dt>" + name + "</dt><dd>" + markup(value) + "</dd></div>\n";
  }
  return text + "</dl>\n";
}

std::string results(const Result& result, const std::string& histogram) {
  std::string text;
  ReportScope scope;
  scope.header = false;
  write_result_report(result, scope, [&](std::string_view part) { text += part; });
  std::string escaped;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    escaped += markup(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  escaped += markup(std::string_view(text).substr(begin));
  std::string inside = histogram.empty() ? "" : wide(histogram);
  if (!escaped.empty()) inside += wide("<pre>" + escaped + "</pre>");
  return inside.empty() ? "" : section("Results", "", inside);
}

/// A program whose measurements decide what runs: whole, where that is not too large for a page.
std::string branching_section(const Circuit& circuit) {
  const auto words = [](const std::string& why) { return section("Circuit", why, ""); };
  try {
    if (circuit.operations().size() <= kMostOperations) {
      const std::string drawn = draw(circuit, DrawingStyle::kSvg, 1000);
      if (drawn.size() <= kMostBytes) return section("Circuit", "", wide(drawn));
    }
  } catch (const UnsupportedError&) {
    return words(
        "Measurements decide what runs, in a way that has no drawing. 'qsim convert' writes the program's text.");
  }
  return words("Not drawn here: the program is too long. 'qsim draw' draws it.");
}

std::string circuit_section(const Circuit& circuit) {
  const auto words = [](const std::string& why) { return section("Circuit", why, ""); };
  if (circuit.qubits() + circuit.cregs().size() > kMostWires) {
    return words("Not drawn here: " + counted(circuit.qubits(), "qubit") + " are too many. 'qsim draw' draws it.");
  }
  if (circuit.control() != nullptr) return branching_section(circuit);
  if (circuit.operations().size() <= kMostOperations) {
    return section("Circuit", "", wide(draw(circuit, DrawingStyle::kSvg, 1000)));
  }
  Circuit first = circuit;
  first.truncate(kMostOperations);
  return section("Circuit",
                 "The first " + std::to_string(kMostOperations) + " of " + std::to_string(circuit.operations().size()) +
                     " operations; 'qsim draw' draws all of them.",
                 wide(draw(first, DrawingStyle::kSvg, 1000)));
}

std::string memory(const Result& result) {
  const MemorySummary& memory = result.memory;
  const std::size_t ranks = memory.peak_bytes_per_rank.size();
  std::vector<std::pair<std::string, std::uint64_t>> rows{
      {"state, a rank", memory.state_bytes / std::max<std::size_t>(1, ranks)},
      {"predicted, a rank", memory.predicted_bytes_per_rank},
  };
  for (std::size_t rank = 0; rank < std::min(ranks, kMostRanks); ++rank) {
    rows.emplace_back("most in use, rank " + std::to_string(rank), memory.peak_bytes_per_rank[rank]);
  }
  std::uint64_t most = 1;
  for (const auto& [name, bytes] : rows) most = std::max(most, bytes);
  std::string text = "<table>\n";
  for (const auto& [name, bytes] : rows) {
    const double share = 100 * static_cast<double>(bytes) / static_cast<double>(most);
    text += "<tr><td>" + name + "</td><td>" + bytes_text(bytes) +
            "</td><td><div class=\"bar\" style=\"width:" + picture::number(share) + "%\"></div></td></tr>\n";
  }
  const std::string note =
      ranks > kMostRanks ? "the first " + std::to_string(kMostRanks) + " of " + std::to_string(ranks) + " ranks" : "";
  return section("Memory", note, wide(text + "</table>\n"));
}

std::string warnings(const Result& result) {
  if (result.warnings.empty()) return "";
  std::string list = "<ul>\n";
  for (const std::string& warning : result.warnings) list += "<li>" + markup(warning) + "</li>\n";
  return section("Warnings", "", list + "</ul>\n");
}

}  // namespace

std::string run_page(const Circuit& circuit, const Result& result, const std::string& histogram) {
  const RunPictures pictures = result.pictures.value_or(RunPictures());
  const std::string file = markup(result.circuit.file == "-" ? "standard input" : result.circuit.file);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      file + ", simulated by qsim</title>\n<style>" + std::string(kStyle) + "</style>\n</head>\n<body>\n<h1>" + file +
      "</h1>\n<p>" +
      markup("qsim " + result.environment.version + "; " + result.run.device + "; " + result.run.reason) + "</p>\n" +
      facts(result);
  page += warnings(result);
  page += results(result, histogram);
  page += circuit_section(circuit);
  if (!pictures.plan.empty()) page += section("Plan", "", wide(pictures.plan));
  if (!pictures.time_line.empty()) page += section("Time line", "", wide(pictures.time_line));
  if (!pictures.sweeps.empty()) page += section("Sweeps", "", wide(pictures.sweeps));
  return page + memory(result) + "</body>\n</html>\n";
}

}  // namespace qsim::cli
