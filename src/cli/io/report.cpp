#include "cli/io/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "base/text.h"
#include "cli/io/json.h"
#include "cli/io/values.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

constexpr std::size_t kMaxLines = 25;
constexpr std::size_t kMaxLabel = 64;

using LineSink = std::function<void(const std::string&)>;

/// A titled block of lines, which are made as they are written: there may be as many as amplitudes.
struct Section {
  std::string title;
  std::size_t total = 0;
  bool asked = false;  // by name: then all of it is shown
  std::function<void(std::size_t first_lines, const LineSink& line)> write;
  std::string whole_by = "--json";  // the flag that shows the rest
};

/// A bar for `share`, full length for `largest`, the greatest of its section.
std::string bar(double share, double largest) {
  const double part = largest > 0 ? std::clamp(share / largest, 0.0, 1.0) : 0;
  return std::string(static_cast<std::size_t>(std::lround(part * 20)), '#');
}

/// Fourteen characters. Small ones keep nine digits; below 2^-60 there is only rounding.
std::string probability_text(double value) {
  const bool small = value >= 0x1p-60 && value < 1e-4;
  return small ? fmt::format("{:.8e}", value) : fmt::format("{:.12f}", value);
}

std::string percent(double share) { return fmt::format("{:>8.4g} %", 100 * share); }

/// Bit strings of 1,000 qubits do not fit on a line; those that were asked for stay whole.
std::string shortened(const std::string& bits, bool whole = false) {
  if (whole || bits.size() <= kMaxLabel) return bits;
  return bits.substr(0, 28) + fmt::format("...({})...", bits.size()) + bits.substr(bits.size() - 20);
}

/// The first `most` entries of [begin, end) by falling value, ties in their order.
template <class Entry, class ValueOf>
std::vector<Entry> ranked(Entry begin, Entry end, std::size_t total, std::size_t most, ValueOf value_of) {
  std::vector<Entry> best;
  if (most >= total) {
    best.reserve(total);
    for (Entry entry = begin; entry != end; ++entry) best.push_back(entry);
    std::stable_sort(best.begin(), best.end(),
                     [&](const Entry& a, const Entry& b) { return value_of(a) > value_of(b); });
    return best;
  }
  for (Entry entry = begin; entry != end; ++entry) {
    const auto place = std::upper_bound(best.begin(), best.end(), value_of(entry),
                                        [&](const auto& value, const Entry& other) { return value > value_of(other); });
    if (place == best.end() && best.size() == most) continue;
    best.insert(place, entry);
    if (best.size() > most) best.pop_back();
  }
  return best;
}

/// The same of a map, by its values.
template <class Map>
auto ranked(const Map& map, std::size_t most) {
  return ranked(map.begin(), map.end(), map.size(), most, [](const auto& entry) { return entry->second; });
}

std::vector<std::string> header(const Result& result) {
  const CircuitSummary& circuit = result.circuit;
  const RunSummary& run = result.run;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{}: {}, {}, depth {}, {}", circuit.file, counted(circuit.qubits, "qubit"),
                              counted(circuit.operations, "operation"), circuit.depth,
                              counted(circuit.clbits, "classical bit")));
  std::string where = run.backend + (run.device.empty() ? "" : ": " + run.device);
  if (run.ranks > 1) where += fmt::format(", {} ranks over {}", run.ranks, run.exchange);
  lines.push_back(fmt::format("  ran on     {}", where));
  if (!run.reason.empty()) lines.push_back(fmt::format("  because    {}", run.reason));
  lines.push_back(fmt::format("  precision  {}; state {}, {} a rank at most",
                              run.precision == Precision::kDouble ? "double" : "single",
                              bytes_text(result.memory.state_bytes), bytes_text([&] {
                                std::uint64_t peak = result.memory.predicted_bytes_per_rank;
                                for (const auto bytes : result.memory.peak_bytes_per_rank) peak = std::max(peak, bytes);
                                return peak;
                              }())));
  lines.push_back(fmt::format("  time       {} (start {}, parse {}, plan {}, simulate {}, read-out {}); {}, {}",
                              seconds_text(result.time.total), seconds_text(result.time.start),
                              seconds_text(result.time.parse), seconds_text(result.time.plan),
                              seconds_text(result.time.simulate), seconds_text(result.time.read_out),
                              counted(result.work.sweeps, "sweep"), counted(result.work.exchanges, "exchange")));
  const Verification& verification = result.verification;
  lines.push_back(verification.norm ? fmt::format("  norm       {:.12f} ({})", *verification.norm, verification.status)
                                    : fmt::format("  norm       not checked (--verify {})", verification.status));
  if (run.shots > 0) {
    lines.push_back(fmt::format("  seed       {}{}", run.seed,
                                run.seed_given ? "" : fmt::format(" (drawn; --seed {} repeats it)", run.seed)));
  }
  return lines;
}

std::vector<std::string> details(const Result& result) {
  const EnvironmentSummary& build = result.environment;
  const Verification& verification = result.verification;
  const WorkSummary& work = result.work;
  std::vector<std::string> lines;
  lines.push_back(fmt::format("  program    qsim {}{}, {}", build.version,
                              build.commit.empty() ? "" : " (" + build.commit + ")", build.compiler));
  lines.push_back(fmt::format("  threads    {} a rank", result.run.threads));
  lines.push_back(fmt::format("  memory     {} a rank predicted; read-outs {} of it at most",
                              bytes_text(result.memory.predicted_bytes_per_rank),
                              bytes_text(result.memory.read_out_bytes_per_rank)));
  lines.push_back(fmt::format("  work       {} swept a rank at {:.3g} GB/s, {} exchanged",
                              bytes_text(work.bytes_swept_per_rank), work.memory_gbps,
                              bytes_text(work.bytes_exchanged_per_rank)));
  lines.push_back(
      fmt::format("  gates      {} planned, {} applied", verification.gates_planned, verification.gates_applied));
  return lines;
}

Section counts_section(const Result& result, bool asked) {
  const auto& counts = *result.results.counts;
  const std::uint64_t shots = result.run.shots;
  Section section{fmt::format("counts of {} shots (right-most character is bit 0)", shots), counts.size(), asked, {}};
  section.whole_by = "--counts or --json";
  section.write = [&counts, shots, asked](std::size_t lines, const LineSink& line) {
    const double all = static_cast<double>(std::max<std::uint64_t>(shots, 1));
    const auto entries = ranked(counts, lines);
    for (const auto& entry : entries) {
      const double share = static_cast<double>(entry->second) / all;
      line(fmt::format("  {}  {:>10}  {}  {}", shortened(entry->first, asked), entry->second, percent(share),
                       bar(share, static_cast<double>(entries.front()->second) / all)));
    }
  };
  return section;
}

Section distribution_section(const std::map<std::string, double>& distribution) {
  Section section{
      "exact distribution of the classical bits (right-most character is bit 0)", distribution.size(), true, {}};
  section.write = [&distribution](std::size_t lines, const LineSink& line) {
    const auto entries = ranked(distribution, lines);
    for (const auto& entry : entries) {
      line(fmt::format("  {}  {}  {}  {}", entry->first, probability_text(entry->second), percent(entry->second),
                       bar(entry->second, entries.front()->second)));
    }
  };
  return section;
}

std::string variables_text(const std::vector<FlowOutput>& variables, const VariableValues& values, bool whole) {
  std::string text;
  std::span<const Scalar> left(values);
  for (const FlowOutput& variable : variables) {
    const std::span<const Scalar> own = left.first(variable.values.size());
    left = left.subspan(own.size());
    std::string value = variable.is_register ? register_text(own) : "";
    for (std::size_t i = 0; !variable.is_register && i < own.size() && (whole || value.size() <= kMaxLabel); ++i) {
      value += (i == 0 ? "" : ", ") + value_text(own[i]);
    }
    text += (text.empty() ? "" : ", ") + variable.name + " = " + (variable.shape.empty() ? value : '{' + value + '}');
  }
  return shortened(text, whole);
}

Section variables_section(const VariableResults& results, double shots, bool asked) {
  const bool drawn = results.counts.has_value();
  Section section{drawn ? "variables by shots" : "variables, exactly", 0, asked, {}};
  section.total = drawn ? results.counts->size() : results.distribution ? results.distribution->size() : 0;
  section.write = [&results, drawn, shots, asked](std::size_t lines, const LineSink& line) {
    const auto list = [&](const auto& entries, double total) {
      for (const auto& entry : ranked(entries, lines)) {
        line(fmt::format("  {}  {}", percent(static_cast<double>(entry->second) / total),
                         variables_text(results.variables, entry->first, asked)));
      }
    };
    if (drawn) {
      list(*results.counts, shots);
    } else if (results.distribution) {
      list(*results.distribution, 1);
    }
  };
  return section;
}

Section amplitudes_section(const Result& result, bool asked) {
  const std::vector<AmplitudeEntry>& amplitudes = *result.results.amplitudes;
  Section section{"amplitudes (right-most character is qubit 0)", amplitudes.size(), asked, {}};
  section.write = [&amplitudes, qubits = result.circuit.qubits, asked](std::size_t lines, const LineSink& line) {
    double largest = 0;
    for (const AmplitudeEntry& entry : amplitudes) largest = std::max(largest, entry.probability);
    for (const AmplitudeEntry& entry : std::span(amplitudes).first(std::min(amplitudes.size(), lines))) {
      line(fmt::format("  {}  {:+.9f} {:+.9f}i  {}  {}", shortened(bit_string(entry.index, qubits), asked),
                       entry.value.real(), entry.value.imag(), percent(entry.probability),
                       bar(entry.probability, largest)));
    }
  };
  return section;
}

Section marginals_section(const std::vector<double>& marginals) {
  Section section{"marginals: probability that each qubit is 1", (marginals.size() + 4) / 5, true, {}};
  section.write = [&marginals](std::size_t, const LineSink& line) {
    for (std::size_t first = 0; first < marginals.size(); first += 5) {
      std::string text = fmt::format("  q{:<4}", first);
      for (std::size_t qubit = first; qubit < std::min(first + 5, marginals.size()); ++qubit) {
        text += fmt::format(" {:.10f}", marginals[qubit]);
      }
      line(text);
    }
  };
  return section;
}

Section probabilities_section(const QubitProbabilities& entry) {
  Section section{
      fmt::format("probabilities of qubits {} (right-most character is the first)", fmt::join(entry.qubits, ",")),
      entry.values.size(),
      true,
      {}};
  section.write = [&entry](std::size_t lines, const LineSink& line) {
    const double* const first = entry.values.data();
    const auto places = ranked(first, first + entry.values.size(), entry.values.size(), lines,
                               [](const double* place) { return *place; });
    for (const double* const place : places) {
      const std::string bits =
          bit_string(static_cast<Index>(place - first), static_cast<std::uint32_t>(entry.qubits.size()));
      line(fmt::format("  {}  {}  {}", bits, probability_text(*place), bar(*place, *places.front())));
    }
  };
  return section;
}

Section expectation_section(const std::vector<ExpectationValue>& values) {
  Section section{"expectation values", values.size(), true, {}};
  section.write = [&values](std::size_t, const LineSink& line) {
    for (const ExpectationValue& entry : values) {
      std::string name = entry.name;
      std::replace(name.begin(), name.end(), '\n', ' ');
      line(fmt::format("  {:+.12f}  {}", entry.value, shortened(name)));
    }
  };
  return section;
}

Section files_section(const std::vector<OutputFile>& files) {
  Section section{"files", files.size(), true, {}};
  section.write = [&files](std::size_t, const LineSink& line) {
    for (const OutputFile& file : files) line(fmt::format("  {}  {} {}", file.path, file.kind, file.dtype));
  };
  return section;
}

std::vector<Section> sections_of(const Result& result, const ReportScope& scope) {
  const Results& results = result.results;
  std::vector<Section> sections;
  if (results.expectation) sections.push_back(expectation_section(*results.expectation));
  if (results.marginals) sections.push_back(marginals_section(*results.marginals));
  if (results.probabilities) {
    for (const QubitProbabilities& entry : *results.probabilities) sections.push_back(probabilities_section(entry));
  }
  if (results.distribution) sections.push_back(distribution_section(*results.distribution));
  if (results.variables && (results.variables->counts || results.variables->distribution)) {
    sections.push_back(
        variables_section(*results.variables, static_cast<double>(result.run.shots), scope.all || scope.variables));
  }
  if (results.amplitudes) sections.push_back(amplitudes_section(result, scope.all || scope.amplitudes));
  if (results.counts) sections.push_back(counts_section(result, scope.all || scope.counts));
  if (results.files && !results.files->empty()) sections.push_back(files_section(*results.files));
  return sections;
}

/// Writes the sections: those that were asked for in full, the others as far as `room` lines go, each an equal share
/// of what the former leave, short ones leaving theirs to the next. None is left out: a few lines stand of each.
void write_sections(const std::vector<Section>& sections, std::size_t room, const LineSink& line) {
  constexpr std::size_t kFewest = 5;
  std::size_t shared = 0;
  for (const Section& section : sections) {
    if (!section.asked) ++shared;
    if (section.asked) room -= std::min(room, section.total + 1);
  }
  for (const Section& section : sections) {
    line(section.title);
    if (section.asked) {
      section.write(section.total, line);
      continue;
    }
    const std::size_t share = std::max(room / shared--, kFewest);
    const bool all = section.total <= share - 1;
    const std::size_t shown = all ? section.total : share - 2;
    section.write(shown, line);
    if (!all) line(fmt::format("  ... and {} more ({} has all)", section.total - shown, section.whole_by));
    room -= std::min(room, 1 + shown + (all ? 0 : 1));
  }
}

}  // namespace

void write_result_report(const Result& result, const ReportScope& scope, const TextSink& sink) {
  std::vector<std::string> lines;
  if (scope.header) {
    lines = header(result);
    if (scope.details) {
      for (std::string& line : details(result)) lines.push_back(std::move(line));
    }
    const std::size_t most =
        scope.details || scope.all ? result.warnings.size() : 10 - std::min<std::size_t>(lines.size(), 10);
    for (std::size_t i = 0; i < result.warnings.size(); ++i) {
      if (i + 1 >= most && i + 1 < result.warnings.size()) {
        lines.push_back(fmt::format("  warning    {} more of {} (--verbose or --json has all)",
                                    result.warnings.size() - i, result.warnings.size()));
        break;
      }
      lines.push_back("  warning    " + result.warnings[i]);
    }
  }
  const LineSink line = [&sink](const std::string& text) { sink(escape_lines(text) + "\n"); };
  for (const std::string& text : lines) line(text);
  write_sections(sections_of(result, scope), kMaxLines - std::min(kMaxLines, lines.size()), line);
}

}  // namespace qsim::cli
