// Answers one after the other: their JSON, then their text.
#include "document/show/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "document/json_parts.h"
#include "document/outcomes.h"

namespace qsim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxLabel = 64;

std::string lines_of(const Json& value) { return parts::text_of(value, 1); }

/// The list of what `write` makes of each entry.
template <class Entries, class Write>
void write_list(JsonStream& out, const Entries& entries, Write&& write) {
  out.open('[');
  for (const auto& entry : entries) {
    out.next();
    write(entry);
  }
  out.close(']');
}

std::string value_lines(std::uint64_t times) { return std::to_string(times); }  // there may be millions of them
std::string value_lines(double probability) { return lines_of(probability); }

/// {outcome: value}.
template <auto kMember>
void write_outcomes(JsonStream& out, const Result& result) {
  std::string bits;
  out.open('{');
  for (const auto& [words, value] : *(result.results.*kMember)) {
    bits.clear();
    append_bits(bits, words, result.circuit.cregs);
    out.member(bits, value_lines(value));
  }
  out.close('}');
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

/// The places of `values`, likewise.
template <class Value>
std::vector<std::size_t> ranked(const std::vector<Value>& values, std::size_t most) {
  return ranked(std::size_t{0}, values.size(), values.size(), most, [&](std::size_t place) { return values[place]; });
}

/// The bit string of a classical register, bit 0 right-most.
std::string register_text(std::span<const Scalar> bits) {
  std::string text;
  for (std::size_t i = bits.size(); i-- > 0;) text += truth(bits[i]) ? '1' : '0';
  return text;
}

/// A value of OpenQASM 3: integers beyond 2^53 as text, angles in radians, complex numbers as [re, im].
Json scalar_json(const Scalar& value) {
  constexpr SignedWide kExact = SignedWide{1} << 53;
  switch (value.type.kind) {
    case ScalarKind::kBool:
      return truth(value);
    case ScalarKind::kInt:
    case ScalarKind::kUint: {
      const auto whole = static_cast<SignedWide>(value.word);
      if (whole < -kExact || whole > kExact || (value.type.kind == ScalarKind::kUint && whole < 0)) {
        return value_text(value);
      }
      return static_cast<std::int64_t>(whole);
    }
    case ScalarKind::kFloat:
    case ScalarKind::kAngle:
      return parts::number_or_null<Json>(real_value(value));
    case ScalarKind::kComplex:
      return Json::array({parts::number_or_null<Json>(value.parts[0]), parts::number_or_null<Json>(value.parts[1])});
    case ScalarKind::kBit:
    case ScalarKind::kDuration:
      break;
  }
  return value_text(value);
}

/// The elements of an array of this shape, as lists in lists; `at` is the first that is left.
Json array_json(std::span<const std::uint32_t> shape, std::span<const Scalar> values, std::size_t& at) {
  if (shape.empty()) return scalar_json(values[at++]);
  Json list = Json::array();
  for (std::uint32_t i = 0; i < shape.front(); ++i) list.push_back(array_json(shape.subspan(1), values, at));
  return list;
}

/// {name: value} of all variables.
Json variables_json(const std::vector<FlowOutput>& variables, const VariableValues& values) {
  Json object = Json::object();
  std::span<const Scalar> left(values);
  for (const FlowOutput& variable : variables) {
    const std::span<const Scalar> own = left.first(variable.values.size());
    left = left.subspan(own.size());
    std::size_t at = 0;
    object[variable.name] = variable.is_register ? Json(register_text(own)) : array_json(variable.shape, own, at);
  }
  return object;
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

Section probabilities_section(const QubitProbabilities& entry) {
  Section section{
      fmt::format("probabilities of qubits {} (right-most character is the first)", fmt::join(entry.qubits, ",")),
      entry.values.size(),
      true,
      {}};
  section.write = [&entry](std::size_t lines, const LineSink& line) {
    const std::vector<double>& values = entry.values;
    const std::vector<std::size_t> places = ranked(values, lines);
    for (const std::size_t place : places) {
      line(fmt::format("  {}  {}  {}", bit_string(place, static_cast<std::uint32_t>(entry.qubits.size())),
                       probability_text(values[place]), bar(values[place], values[places.front()])));
    }
  };
  return section;
}

}  // namespace

// JSON.

void as_json::variables(JsonStream& out, const Result& result) {
  const VariableResults& results = *result.results.variables;
  const auto list = [&](const char* name, const auto& entries, const char* share) {
    out.key(name);
    if (!entries) return out.value("null");
    write_list(out, *entries, [&](const auto& entry) {
      out.value(lines_of({{"values", variables_json(results.variables, entry.first)}, {share, entry.second}}));
    });
  };
  out.open('{');
  list("counts", results.counts, "count");
  list("distribution", results.distribution, "probability");
  out.close('}');
}

void as_json::marginals(JsonStream& out, const Result& result) { out.value(lines_of(*result.results.marginals)); }

void as_json::probabilities(JsonStream& out, const Result& result) {
  write_list(out, *result.results.probabilities, [&](const QubitProbabilities& entry) {
    out.open('{');
    out.member("qubits", lines_of(entry.qubits));
    out.key("values");
    write_list(out, entry.values, [&](double value) { out.value(lines_of(value)); });
    out.close('}');
  });
}

void as_json::expectation(JsonStream& out, const Result& result) {
  write_list(out, *result.results.expectation, [&](const ExpectationValue& entry) {
    out.open('{');
    out.member("name", lines_of(entry.name));
    out.member("value", lines_of(parts::number_or_null<Json>(entry.value)));
    out.key("terms");
    write_list(out, entry.terms, [&](const PauliTermValue& term) {
      out.value(lines_of({{"pauli", term.pauli},
                          {"coefficient", parts::number_or_null<Json>(term.coefficient)},
                          {"value", parts::number_or_null<Json>(term.value)}}));
    });
    out.close('}');
  });
}

void as_json::distribution(JsonStream& out, const Result& result) {
  write_outcomes<&Results::distribution>(out, result);
}

void as_json::counts(JsonStream& out, const Result& result) { write_outcomes<&Results::counts>(out, result); }

void as_json::amplitudes(JsonStream& out, const Result& result) {
  write_list(out, *result.results.amplitudes, [&](const AmplitudeEntry& entry) {
    out.value(lines_of({{"index", std::to_string(entry.index)},
                        {"bits", bit_string(entry.index, result.circuit.qubits)},
                        {"re", parts::number_or_null<Json>(entry.value.real())},
                        {"im", parts::number_or_null<Json>(entry.value.imag())},
                        {"probability", parts::number_or_null<Json>(entry.probability)}}));
  });
}

void as_json::files(JsonStream& out, const Result& result) {
  write_list(out, *result.results.files, [&](const OutputFile& file) {
    out.value(lines_of({{"kind", file.kind}, {"path", file.path}, {"dtype", file.dtype}, {"shape", file.shape}}));
  });
}

// Text.

void as_text::variables(const Result& result, const ReportScope& scope, std::vector<Section>& sections) {
  const VariableResults& results = *result.results.variables;
  if (!results.counts && !results.distribution) return;
  const bool asked = scope.all || scope.variables;
  const double shots = static_cast<double>(result.run.shots);
  const bool drawn = results.counts.has_value();
  Section section{drawn ? "variables by shots" : "variables, exactly", 0, asked, {}};
  section.total = drawn ? results.counts->size() : results.distribution ? results.distribution->size() : 0;
  section.write = [&results, drawn, shots, asked](std::size_t lines, const LineSink& line) {
    const auto list = [&](const auto& entries, double total) {
      for (const auto& entry :
           ranked(entries.begin(), entries.end(), entries.size(), lines, [](const auto& of) { return of->second; })) {
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
  sections.push_back(std::move(section));
}

void as_text::marginals(const Result& result, const ReportScope&, std::vector<Section>& sections) {
  const std::vector<double>& marginals = *result.results.marginals;
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
  sections.push_back(std::move(section));
}

void as_text::probabilities(const Result& result, const ReportScope&, std::vector<Section>& sections) {
  for (const QubitProbabilities& entry : *result.results.probabilities) {
    sections.push_back(probabilities_section(entry));
  }
}

void as_text::expectation(const Result& result, const ReportScope&, std::vector<Section>& sections) {
  const std::vector<ExpectationValue>& values = *result.results.expectation;
  Section section{"expectation values", values.size(), true, {}};
  section.write = [&values](std::size_t, const LineSink& line) {
    for (const ExpectationValue& entry : values) {
      std::string name = entry.name;
      std::replace(name.begin(), name.end(), '\n', ' ');
      line(fmt::format("  {:+.12f}  {}", entry.value, shortened(name)));
    }
  };
  sections.push_back(std::move(section));
}

void as_text::distribution(const Result& result, const ReportScope&, std::vector<Section>& sections) {
  const Outcomes<double>& distribution = *result.results.distribution;
  Section section{
      "exact distribution of the classical bits (right-most character is bit 0)", distribution.size(), true, {}};
  section.write = [&distribution, &cregs = result.circuit.cregs](std::size_t lines, const LineSink& line) {
    const std::vector<double>& values = distribution.values;
    const std::vector<std::size_t> places = ranked(values, lines);
    for (const std::size_t place : places) {
      line(fmt::format("  {}  {}  {}  {}", bits_text(distribution[place], cregs), probability_text(values[place]),
                       percent(values[place]), bar(values[place], values[places.front()])));
    }
  };
  sections.push_back(std::move(section));
}

void as_text::counts(const Result& result, const ReportScope& scope, std::vector<Section>& sections) {
  const bool asked = scope.all || scope.counts;
  const Outcomes<std::uint64_t>& counts = *result.results.counts;
  const std::uint64_t shots = result.run.shots;
  Section section{fmt::format("counts of {} shots (right-most character is bit 0)", shots), counts.size(), asked, {}};
  section.argument = "counts";
  section.write = [&counts, &cregs = result.circuit.cregs, shots, asked](std::size_t lines, const LineSink& line) {
    const double all = static_cast<double>(std::max<std::uint64_t>(shots, 1));
    const auto share = [&](std::size_t place) { return static_cast<double>(counts.values[place]) / all; };
    const std::vector<std::size_t> places = ranked(counts.values, lines);
    for (const std::size_t place : places) {
      line(fmt::format("  {}  {:>10}  {}  {}", shortened(bits_text(counts[place], cregs), asked), counts.values[place],
                       percent(share(place)), bar(share(place), share(places.front()))));
    }
  };
  sections.push_back(std::move(section));
}

void as_text::amplitudes(const Result& result, const ReportScope& scope, std::vector<Section>& sections) {
  const bool asked = scope.all || scope.amplitudes;
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
  sections.push_back(std::move(section));
}

void as_text::files(const Result& result, const ReportScope&, std::vector<Section>& sections) {
  const std::vector<OutputFile>& files = *result.results.files;
  if (files.empty()) return;
  Section section{"files", files.size(), true, {}};
  section.write = [&files](std::size_t, const LineSink& line) {
    for (const OutputFile& file : files) line(fmt::format("  {}  {} {}", file.path, file.kind, file.dtype));
  };
  sections.push_back(std::move(section));
}

}  // namespace qsim
