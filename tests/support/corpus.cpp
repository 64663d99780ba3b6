// Reads manifest.csv and expected.json of the shared corpus.
#include "support/corpus.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace qsim::test {
namespace {

using Json = nlohmann::json;

// One row of comma-separated values; a field may be quoted, with "" for a quote.
std::vector<std::string> split_row(const std::string& row) {
  std::vector<std::string> fields(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (c == '"') {
      if (in_quotes && i + 1 < row.size() && row[i + 1] == '"') {
        fields.back() += row[++i];
      } else {
        in_quotes = !in_quotes;
      }
    } else if (c == ',' && !in_quotes) {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<CorpusMask> read_masks(const Json& json) {
  std::vector<CorpusMask> masks;
  for (const Json& each : json) masks.push_back({each.at(0).get<std::uint64_t>(), each.at(1).get<double>()});
  return masks;
}

CorpusState read_state(const Json& json) {
  CorpusState state;
  state.norm = json.at("norm");
  state.nonzero = json.at("nonzero");
  for (const Json& each : json.at("top")) {
    state.top.push_back({each.at(0), each.at(1), {each.at(2).get<double>(), each.at(3).get<double>()}});
  }
  state.x1 = json.at("x1").get<std::vector<double>>();
  state.y1 = json.at("y1").get<std::vector<double>>();
  state.z1 = json.at("z1").get<std::vector<double>>();
  state.zmask = read_masks(json.at("zmask"));
  for (const Json& each : json.at("pauli")) state.pauli.push_back({each.at(0), each.at(1)});
  return state;
}

CorpusClassical read_classical(const Json& json) {
  CorpusClassical classical;
  classical.bits = json.at("bits");
  classical.outcomes = json.at("outcomes");
  classical.complete = json.at("complete");
  for (const Json& each : json.at("top")) classical.top.emplace_back(each.at(0), each.at(1).get<double>());
  classical.p1 = json.at("p1").get<std::vector<double>>();
  classical.zmask = read_masks(json.at("zmask"));
  classical.total = json.at("total");
  return classical;
}

// Numbers as text, those of arrays one after the other.
void append_texts(const Json& value, std::vector<std::string>& texts) {
  if (!value.is_array()) {
    texts.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    return;
  }
  for (const Json& each : value) append_texts(each, texts);
}

CorpusAnswer read_answer(const Json& json) {
  CorpusAnswer answer;
  answer.qubits = json.value("qubits", 0u);
  answer.gates = json.value("gates", std::uint64_t{0});
  if (json.contains("state")) answer.state = read_state(json.at("state"));
  if (json.contains("measured")) {
    for (const Json& each : json.at("measured")) answer.measured.emplace_back(each.at(0), each.at(1));
  }
  if (json.contains("classical")) answer.classical = read_classical(json.at("classical"));
  for (const Json& each : json.value("variables", Json::array())) {
    CorpusVariables& joint = answer.variables.emplace_back();
    joint.probability = each.at(0);
    for (const auto& [name, value] : each.at(1).items()) append_texts(value, joint.values[name]);
  }
  const Json inputs = json.value("inputs", Json::object());
  for (const auto& [name, value] : inputs.items()) {
    answer.inputs[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return answer;
}

void read_entry(const Json& entry, CorpusProgram& program) {
  const std::string verdict = entry.at("verdict");
  program.verdict = verdict == "accept"   ? CorpusVerdict::kAccept
                    : verdict == "reject" ? CorpusVerdict::kReject
                                          : CorpusVerdict::kUnspecified;
  if (entry.contains("error")) program.error_line = entry.at("error").at("line").get<unsigned>();
  program.no_result = entry.value("no_result", "");
  program.tolerance = entry.value("tolerance", program.tolerance);
  program.may_refuse = entry.contains("may_refuse");
  if (!entry.contains("result")) return;
  const Json& result = entry.at("result");
  program.kind = result.at("class") == "unitary" ? CorpusClass::kUnitary : CorpusClass::kBranching;
  program.answer = read_answer(result);
  if (result.contains("paper_cu3_variant")) program.paper_cu3 = read_answer(result.at("paper_cu3_variant"));
}

std::vector<CorpusProgram> read_corpus(const std::string& name) {
  std::vector<CorpusProgram> programs;
  const std::string folder = shared_folder() + '/' + name;
  if (!std::filesystem::exists(folder + "/manifest.csv")) return programs;
  std::ifstream manifest(folder + "/manifest.csv");
  const Json expected = Json::parse(read_file(folder + "/expected.json")).at("programs");
  std::string row;
  std::getline(manifest, row);
  const std::vector<std::string> head = split_row(row);
  while (std::getline(manifest, row)) {
    const std::vector<std::string> fields = split_row(row);
    CorpusProgram program;
    for (std::size_t i = 0; i < head.size() && i < fields.size(); ++i) {
      if (head[i] == "path") program.path = fields[i];
      if (head[i] == "category") program.category = fields[i];
      if (head[i] == "features") program.features = fields[i];
    }
    program.file = folder + '/' + program.path;
    read_entry(expected.at(program.path), program);
    programs.push_back(std::move(program));
  }
  return programs;
}

}  // namespace

std::string shared_folder() {
  if (const char* folder = std::getenv("QSIM_SHARED"); folder != nullptr && *folder != '\0') return folder;
  for (const char* folder : {"../shared", "../../shared"}) {
    std::error_code error;
    if (std::filesystem::is_directory(std::string(folder) + "/corpus", error)) return folder;
  }
  return "";
}

const std::vector<CorpusProgram>& corpus_programs() {
  static const std::vector<CorpusProgram> programs = read_corpus("corpus");
  return programs;
}

const std::vector<CorpusProgram>& corpus3_programs() {
  static const std::vector<CorpusProgram> programs = read_corpus("corpus3");
  return programs;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace qsim::test
