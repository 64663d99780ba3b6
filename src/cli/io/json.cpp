#include "cli/io/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "document/json_parts.h"
#include "simulator/simulator.h"

namespace qsim::cli {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
/// Seeds, indices and byte counts: they may pass 2^53, so they are text.
Json decimal(std::uint64_t value) { return std::to_string(value); }

template <class Value, class Convert>
Json optional_or_null(const std::optional<Value>& value, Convert convert) {
  return value ? convert(*value) : Json(nullptr);
}

Json object_of_nulls(std::initializer_list<const char*> keys) {
  Json object = Json::object();
  for (const char* key : keys) object[key] = nullptr;
  return object;
}

Json conventions_json() {
  return {{"bitstring",
           "right-most character is bit 0 of the first declared register; classical registers are separated by a "
           "space, the last declared leftmost"},
          {"index", "qubit 0, the first of the first declared register, is the least significant bit"},
          {"pauli", "sparse: letter and qubit, as in 'Z0 X3'; dense: the right-most letter acts on qubit 0"}};
}

Json run_json(const RunSummary& run) {
  if (run.backend.empty()) {
    return object_of_nulls({"backend", "device", "precision", "ranks", "threads", "exchange", "seed", "shots"});
  }
  return {{"backend", run.backend},
          {"device", parts::text_or_null<Json>(run.device)},
          {"precision", run.precision == Precision::kDouble ? "double" : "single"},
          {"ranks", run.ranks},
          {"threads", run.threads},
          {"exchange", parts::text_or_null<Json>(run.exchange)},
          {"seed", decimal(run.seed)},
          {"shots", run.shots}};
}

// File names and messages may hold bytes that are not UTF-8.
std::string text_of(const Json& value) { return value.dump(1, ' ', true, Json::error_handler_t::replace); }

std::string document_text(const Json& document) { return text_of(document) + "\n"; }

/// A document written part by part as nlohmann's dump(1) would write it whole: the answers of a large run must not be
/// held three times.
class JsonStream {
 public:
  explicit JsonStream(const TextSink& sink) : sink_(sink) {}

  void open(char bracket) {
    sink_({&bracket, 1});
    empty_.push_back(true);
  }
  void close(char bracket) {
    const bool was_empty = empty_.back();
    empty_.pop_back();
    if (!was_empty) sink_("\n" + std::string(empty_.size(), ' '));
    sink_({&bracket, 1});
  }
  /// Before every element of an array, and by key() before every member.
  void next() {
    sink_((empty_.back() ? "\n" : ",\n") + std::string(empty_.size(), ' '));
    empty_.back() = false;
  }
  void key(const std::string& name) {
    next();
    sink_(text_of(name) + ": ");
  }
  void value(const Json& value) {
    std::string lines = text_of(value);
    for (std::size_t at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + 1)) {
      lines.insert(at + 1, empty_.size(), ' ');
    }
    sink_(lines);
  }
  void member(const std::string& name, const Json& value_of) {
    key(name);
    value(value_of);
  }

 private:
  const TextSink& sink_;
  std::vector<bool> empty_;  // of the open brackets
};

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

template <class Values>
void write_object(JsonStream& out, const Values& values) {
  out.open('{');
  for (const auto& [name, value] : values) out.member(name, value);
  out.close('}');
}

void write_probabilities(JsonStream& out, const QubitProbabilities& entry) {
  out.open('{');
  out.member("qubits", entry.qubits);
  out.key("values");
  write_list(out, entry.values, [&](double value) { out.value(value); });
  out.close('}');
}

Json amplitude_json(const AmplitudeEntry& entry, std::uint32_t qubits) {
  return {{"index", decimal(entry.index)},
          {"bits", bit_string(entry.index, qubits)},
          {"re", number_or_null(entry.value.real())},
          {"im", number_or_null(entry.value.imag())},
          {"probability", number_or_null(entry.probability)}};
}

void write_expectation(JsonStream& out, const ExpectationValue& entry) {
  out.open('{');
  out.member("name", entry.name);
  out.member("value", number_or_null(entry.value));
  out.key("terms");
  write_list(out, entry.terms, [&](const PauliTermValue& term) {
    out.value(Json{{"pauli", term.pauli},
                   {"coefficient", number_or_null(term.coefficient)},
                   {"value", number_or_null(term.value)}});
  });
  out.close('}');
}

Json file_json(const OutputFile& file) {
  return {{"kind", file.kind}, {"path", file.path}, {"dtype", file.dtype}, {"shape", file.shape}};
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
      return number_or_null(real_value(value));
    case ScalarKind::kComplex:
      return Json::array({number_or_null(value.parts[0]), number_or_null(value.parts[1])});
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

void write_variables(JsonStream& out, const VariableResults& results) {
  const auto list = [&](const char* name, const auto& entries, const char* share) {
    out.key(name);
    if (!entries) return out.value(nullptr);
    write_list(out, *entries, [&](const auto& entry) {
      out.value(Json{{"values", variables_json(results.variables, entry.first)}, {share, entry.second}});
    });
  };
  out.open('{');
  list("counts", results.counts, "count");
  list("distribution", results.distribution, "probability");
  out.close('}');
}

void write_results(JsonStream& out, const Results& results, std::uint32_t qubits) {
  const auto answer = [&out](const char* name, const auto& value, auto&& write) {
    out.key(name);
    value ? write(*value) : out.value(nullptr);
  };
  const auto values = [&](const auto& map) { write_object(out, map); };
  out.open('{');
  answer("counts", results.counts, values);
  answer("distribution", results.distribution, values);
  answer("variables", results.variables, [&](const VariableResults& found) { write_variables(out, found); });
  answer("probabilities", results.probabilities, [&](const auto& list) {
    write_list(out, list, [&](const QubitProbabilities& entry) { write_probabilities(out, entry); });
  });
  answer("marginals", results.marginals, [&](const auto& list) { out.value(list); });
  answer("amplitudes", results.amplitudes, [&](const auto& list) {
    write_list(out, list, [&](const AmplitudeEntry& entry) { out.value(amplitude_json(entry, qubits)); });
  });
  answer("expectation", results.expectation, [&](const auto& list) {
    write_list(out, list, [&](const ExpectationValue& entry) { write_expectation(out, entry); });
  });
  answer("files", results.files,
         [&](const auto& list) { write_list(out, list, [&](const OutputFile& file) { out.value(file_json(file)); }); });
  out.close('}');
}

/// Verification, memory, times and work of a run that happened.
void add_measured(Json& document, const Result& result) {
  const Verification& verification = result.verification;
  document["verification"] = {{"norm", optional_or_null(verification.norm, number_or_null)},
                              {"gates_planned", verification.gates_planned},
                              {"gates_applied", verification.gates_applied},
                              {"status", verification.status}};
  Json peaks = Json::array();
  for (const std::uint64_t bytes : result.memory.peak_bytes_per_rank) peaks.push_back(decimal(bytes));
  document["memory"] = {{"predicted_bytes_per_rank", decimal(result.memory.predicted_bytes_per_rank)},
                        {"peak_bytes_per_rank", std::move(peaks)},
                        {"state_bytes", decimal(result.memory.state_bytes)},
                        {"read_out_bytes_per_rank", decimal(result.memory.read_out_bytes_per_rank)}};
  const Times& time = result.time;
  document["time_s"] = {{"start", time.start},       {"parse", time.parse},       {"plan", time.plan},
                        {"init", time.init},         {"simulate", time.simulate}, {"exchange", time.exchange},
                        {"read_out", time.read_out}, {"output", time.output},     {"total", time.total}};
  const WorkSummary& work = result.work;
  document["work"] = {{"sweeps", work.sweeps},
                      {"exchanges", work.exchanges},
                      {"bytes_swept_per_rank", decimal(work.bytes_swept_per_rank)},
                      {"bytes_exchanged_per_rank", decimal(work.bytes_exchanged_per_rank)},
                      {"memory_gbps", number_or_null(work.memory_gbps)},
                      {"link_gbps", number_or_null(work.link_gbps)},
                      {"known_zeros", work.known_zeros}};
}

void add_unmeasured(Json& document) {
  document["verification"] = object_of_nulls({"norm", "gates_planned", "gates_applied", "status"});
  document["memory"] =
      object_of_nulls({"predicted_bytes_per_rank", "peak_bytes_per_rank", "state_bytes", "read_out_bytes_per_rank"});
  document["time_s"] =
      object_of_nulls({"start", "parse", "plan", "init", "simulate", "exchange", "read_out", "output", "total"});
  document["work"] = object_of_nulls({"sweeps", "exchanges", "bytes_swept_per_rank", "bytes_exchanged_per_rank",
                                      "memory_gbps", "link_gbps", "known_zeros"});
}

}  // namespace

void write_result_document(const Result& result, const TextSink& sink) {
  Json measured = Json::object();
  result.run.backend.empty() ? add_unmeasured(measured) : add_measured(measured, result);
  JsonStream out(sink);
  out.open('{');
  out.member("schema", "qsim.result/1");
  out.member("ok", !result.error.has_value());
  out.member("exit_code", result.error ? static_cast<int>(result.error->code) : 0);
  out.member("circuit", parts::circuit_json<Json>(result.circuit));
  out.member("conventions", conventions_json());
  out.member("run", run_json(result.run));
  out.key("results");
  write_results(out, result.results, result.circuit.qubits);
  for (const auto& [name, value] : measured.items()) out.member(name, value);
  out.member("environment", parts::environment_json<Json>(result.environment));
  out.member("warnings", result.warnings);
  out.member("error", optional_or_null(result.error, parts::error_json<Json>));
  out.close('}');
  sink("\n");
}

std::string result_document(const Result& result) {
  std::string text;
  write_result_document(result, [&text](std::string_view part) { text += part; });
  return text;
}

std::string version_document(const BuildInfo& build) {
  return document_text({{"schema", "qsim.version/1"},
                        {"ok", true},
                        {"exit_code", 0},
                        {"version", build.version},
                        {"commit", parts::text_or_null<Json>(build.commit)},
                        {"compiler", parts::text_or_null<Json>(build.compiler)},
                        {"error", nullptr}});
}

std::string info_document(const MachineInfo& info) {
  const auto facts = [](const auto& list) {
    Json object = Json::object();
    for (const auto& [name, value] : list) object[name] = value;
    return object;
  };
  Json choices = Json::array();
  for (const MachineInfo::Choice& choice : info.choices) {
    choices.push_back(
        {{"family", "qft"}, {"qubits", choice.qubits}, {"backend", choice.backend}, {"reason", choice.reason}});
  }
  return document_text({{"schema", "qsim.info/1"},
                        {"ok", true},
                        {"exit_code", 0},
                        {"environment", parts::environment_json<Json>(info.environment)},
                        {"processor", info.processor},
                        {"threads", info.threads},
                        {"instruction_sets", info.instruction_sets},
                        {"memory",
                         {{"total_bytes", decimal(info.memory_bytes)},
                          {"available_bytes", decimal(info.available_bytes)},
                          {"usable_bytes", decimal(info.usable_bytes)}}},
                        {"largest_qubits", {{"double", info.largest_double}, {"single", info.largest_single}}},
                        {"host_facts", facts(info.host)},
                        {"gpu_facts", facts(info.gpus)},
                        {"auto", std::move(choices)},
                        {"error", nullptr}});
}

std::string register_text(std::span<const Scalar> bits) {
  std::string text;
  for (std::size_t i = bits.size(); i-- > 0;) text += truth(bits[i]) ? '1' : '0';
  return text;
}

std::string bit_string(Index index, std::uint32_t qubits) {
  std::string bits(qubits, '0');
  for (std::uint32_t qubit = 0; qubit < qubits && qubit < 64; ++qubit) {
    if ((index >> qubit) & 1) bits[qubits - 1 - qubit] = '1';
  }
  return bits;
}

}  // namespace qsim::cli
