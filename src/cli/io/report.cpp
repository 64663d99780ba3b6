#include "cli/io/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "cli/io/json.h"
#include "cli/io/values.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

constexpr std::size_t kMaxLines = 25;
constexpr std::size_t kMaxLabel = 64;

/// A titled block of lines: the first of `total`, as many as a report can show.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  std::size_t total = 0;
};

std::string counted(std::uint64_t number, const std::string& word) {
  return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
}

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

/// Bit strings of 1,000 qubits do not fit on a line.
std::string shortened(const std::string& bits) {
  if (bits.size() <= kMaxLabel) return bits;
  return bits.substr(0, 28) + fmt::format("...({})...", bits.size()) + bits.substr(bits.size() - 20);
}

/// The keys and values of `entries` by falling value, ties in their order, as many as a report can show.
template <class Entries>
auto ranked(const Entries& entries) {
  using Entry = std::pair<decltype(entries.begin()), decltype(entries.begin()->second)>;
  std::vector<Entry> best;
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    const auto place = std::upper_bound(best.begin(), best.end(), entry->second,
                                        [](const auto& value, const Entry& other) { return value > other.second; });
    if (place == best.end() && best.size() == kMaxLines) continue;
    best.insert(place, {entry, entry->second});
    if (best.size() > kMaxLines) best.pop_back();
  }
  return best;
}

/// A list of values as entries whose keys are the positions.
class Positions {
 public:
  explicit Positions(const std::vector<double>& values) : values_(values) {}
  struct Iterator {
    const std::vector<double>* values;
    std::size_t position;
    struct Entry {
      std::size_t first;
      double second;
      const Entry* operator->() const { return this; }
    };
    Entry operator->() const { return {position, (*values)[position]}; }
    Iterator& operator++() {
      ++position;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return position != other.position; }
  };
  Iterator begin() const { return {&values_, 0}; }
  Iterator end() const { return {&values_, values_.size()}; }

 private:
  const std::vector<double>& values_;
};

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

Section counts_section(const Result& result) {
  Section section{fmt::format("counts of {} shots (right-most character is bit 0)", result.run.shots),
                  {},
                  result.results.counts->size()};
  const double shots = static_cast<double>(std::max<std::uint64_t>(result.run.shots, 1));
  const auto entries = ranked(*result.results.counts);
  for (const auto& [entry, count] : entries) {
    const double share = static_cast<double>(count) / shots;
    section.lines.push_back(fmt::format("  {}  {:>10}  {}  {}", shortened(entry->first), count, percent(share),
                                        bar(share, static_cast<double>(entries.front().second) / shots)));
  }
  return section;
}

Section distribution_section(const std::map<std::string, double>& distribution) {
  Section section{"exact distribution of the classical bits (right-most character is bit 0)", {}, distribution.size()};
  const auto entries = ranked(distribution);
  for (const auto& [entry, probability] : entries) {
    section.lines.push_back(fmt::format("  {}  {}  {}  {}", shortened(entry->first), probability_text(probability),
                                        percent(probability), bar(probability, entries.front().second)));
  }
  return section;
}

std::string variables_text(const std::vector<FlowOutput>& variables, const VariableValues& values) {
  std::string text;
  std::span<const Scalar> left(values);
  for (const FlowOutput& variable : variables) {
    const std::span<const Scalar> own = left.first(variable.values.size());
    left = left.subspan(own.size());
    std::string value = variable.is_register ? register_text(own) : "";
    for (std::size_t i = 0; !variable.is_register && i < own.size() && value.size() <= kMaxLabel; ++i) {
      value += (i == 0 ? "" : ", ") + value_text(own[i]);
    }
    text += (text.empty() ? "" : ", ") + variable.name + " = " + (variable.shape.empty() ? value : '{' + value + '}');
  }
  return shortened(text);
}

Section variables_section(const VariableResults& results, double shots) {
  const bool drawn = results.counts.has_value();
  Section section{drawn ? "variables by shots" : "variables, exactly", {}, 0};
  const auto list = [&](const auto& entries, double total) {
    section.total = entries.size();
    for (const auto& [entry, times] : ranked(entries)) {
      section.lines.push_back(fmt::format("  {}  {}", percent(static_cast<double>(times) / total),
                                          variables_text(results.variables, entry->first)));
    }
  };
  if (drawn) {
    list(*results.counts, shots);
  } else if (results.distribution) {
    list(*results.distribution, 1);
  }
  return section;
}

Section amplitudes_section(const Result& result) {
  const std::vector<AmplitudeEntry>& amplitudes = *result.results.amplitudes;
  Section section{"amplitudes (right-most character is qubit 0)", {}, amplitudes.size()};
  double largest = 0;
  for (const AmplitudeEntry& entry : amplitudes) largest = std::max(largest, entry.probability);
  for (const AmplitudeEntry& entry : std::span(amplitudes).first(std::min(amplitudes.size(), kMaxLines))) {
    section.lines.push_back(fmt::format(
        "  {}  {:+.9f} {:+.9f}i  {}  {}", shortened(bit_string(entry.index, result.circuit.qubits)), entry.value.real(),
        entry.value.imag(), percent(entry.probability), bar(entry.probability, largest)));
  }
  return section;
}

Section marginals_section(const std::vector<double>& marginals) {
  Section section{"marginals: probability that each qubit is 1", {}, (marginals.size() + 4) / 5};
  for (std::size_t first = 0; first < marginals.size(); first += 5) {
    std::string line = fmt::format("  q{:<4}", first);
    for (std::size_t qubit = first; qubit < std::min(first + 5, marginals.size()); ++qubit) {
      line += fmt::format(" {:.10f}", marginals[qubit]);
    }
    section.lines.push_back(line);
  }
  return section;
}

Section probabilities_section(const QubitProbabilities& entry) {
  Section section{
      fmt::format("probabilities of qubits {} (right-most character is the first)", fmt::join(entry.qubits, ",")),
      {},
      entry.values.size()};
  const auto entries = ranked(Positions(entry.values));
  for (const auto& [place, probability] : entries) {
    const std::string bits = bit_string(place.position, static_cast<std::uint32_t>(entry.qubits.size()));
    section.lines.push_back(fmt::format("  {}  {}  {}", shortened(bits), probability_text(probability),
                                        bar(probability, entries.front().second)));
  }
  return section;
}

std::vector<Section> sections_of(const Result& result) {
  const Results& results = result.results;
  std::vector<Section> sections;
  if (results.expectation) {
    Section section{"expectation values", {}, results.expectation->size()};
    for (const ExpectationValue& entry : *results.expectation) {
      section.lines.push_back(fmt::format("  {:+.12f}  {}", entry.value, shortened(entry.name)));
    }
    sections.push_back(section);
  }
  if (results.marginals) sections.push_back(marginals_section(*results.marginals));
  if (results.probabilities) {
    for (const QubitProbabilities& entry : *results.probabilities) sections.push_back(probabilities_section(entry));
  }
  if (results.distribution) sections.push_back(distribution_section(*results.distribution));
  if (results.variables && (results.variables->counts || results.variables->distribution)) {
    sections.push_back(variables_section(*results.variables, static_cast<double>(result.run.shots)));
  }
  if (results.amplitudes) sections.push_back(amplitudes_section(result));
  if (results.counts) sections.push_back(counts_section(result));
  if (results.files && !results.files->empty()) {
    Section section{"files", {}, results.files->size()};
    for (const OutputFile& file : *results.files) {
      section.lines.push_back(fmt::format("  {}  {} {}", file.path, file.kind, file.dtype));
    }
    sections.push_back(section);
  }
  return sections;
}

/// Appends the sections that fit into `room` lines: each gets an equal share, short ones leave theirs to the others.
void append_sections(std::vector<std::string>& lines, const std::vector<Section>& sections, std::size_t room) {
  std::size_t left = sections.size();
  for (const Section& section : sections) {
    const std::size_t share = room / left--;
    if (share < 2) {
      if (room > 0) lines.push_back("... more results than fit here: --json has all"), room = 0;
      return;
    }
    lines.push_back(section.title);
    const bool all = section.total <= share - 1;
    const std::size_t shown = all ? section.total : share - 2;
    lines.insert(lines.end(), section.lines.begin(), section.lines.begin() + static_cast<std::ptrdiff_t>(shown));
    if (!all) lines.push_back(fmt::format("  ... and {} more (--json has all)", section.total - shown));
    room -= 1 + shown + (all ? 0 : 1);
  }
}

}  // namespace

std::string result_report(const Result& result) {
  std::vector<std::string> lines = header(result);
  for (const std::string& warning : result.warnings) {
    if (lines.size() < 10) lines.push_back("  warning    " + warning);
  }
  const std::vector<Section> sections = sections_of(result);
  append_sections(lines, sections, kMaxLines - lines.size());
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace qsim::cli
