// Gram matrices as qsim.gram/1 and as tables.
#include "batch/gram_document.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "document/json_parts.h"

namespace qsim {
namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Json matrix_json(const GramResult& result, Value value) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < result.states; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < result.states; ++j) row.push_back(value(i, j));
    rows.push_back(row);
  }
  return rows;
}

template <class Value>
std::string matrix_text(const GramResult& result, const std::string& title, Value value) {
  std::string text = title + "\n     ";
  for (std::size_t j = 0; j < result.states; ++j) text += fmt::format(" {:>10}", j);
  text += "\n";
  for (std::size_t i = 0; i < result.states; ++i) {
    text += fmt::format("{:>5}", i);
    for (std::size_t j = 0; j < result.states; ++j) text += fmt::format(" {:>10.6f}", value(i, j));
    text += "\n";
  }
  return text + "\n";
}

}  // namespace

std::string gram_json(const GramResult& result, std::span<const std::string> names) {
  const auto both = [&](auto member) {
    return matrix_json(result, [&](std::size_t i, std::size_t j) { return (result.*member)(i, j); });
  };
  Json document{{"schema", "qsim.gram/1"},
                {"ok", true},
                {"exit_code", 0},
                {"states", names},
                {"qubits", result.qubits},
                {"backend", name_of(result.backend)},
                {"gram", matrix_json(result,
                                     [&](std::size_t i, std::size_t j) {
                                       return Json::array({result.at(i, j).real(), result.at(i, j).imag()});
                                     })},
                {"fidelity", both(&GramResult::fidelity)},
                {"distances",
                 {{"euclidean", both(&GramResult::euclidean)},
                  {"cosine", both(&GramResult::cosine)},
                  {"trace", both(&GramResult::trace)}}},
                {"time_s", {{"prepare", result.prepare_seconds}, {"products", result.product_seconds}}},
                {"error", nullptr}};
  return parts::text_of(document, 2) + "\n";
}

std::string gram_error_json(const Failure& failure) {
  Json document{{"schema", "qsim.gram/1"}, {"ok", false}, {"exit_code", static_cast<int>(failure.code)}};
  for (const char* key : {"states", "qubits", "backend", "gram", "fidelity", "distances", "time_s"}) {
    document[key] = nullptr;
  }
  document["error"] = parts::error_json<Json>(failure);
  return parts::text_of(document, 2) + "\n";
}

std::string gram_text(const GramResult& result, std::span<const std::string> names) {
  std::string text =
      fmt::format("{} states of {} qubits, on {}\n\n", result.states, result.qubits, name_of(result.backend));
  for (std::size_t i = 0; i < names.size(); ++i) text += fmt::format("{:>5}  {}\n", i, names[i]);
  text += "\n";
  const auto both = [&](const char* title, auto member) {
    text += matrix_text(result, title, [&](std::size_t i, std::size_t j) { return (result.*member)(i, j); });
  };
  both("fidelity |<i|j>|^2", &GramResult::fidelity);
  both("Euclidean distance", &GramResult::euclidean);
  both("cosine distance 1 - Re <i|j>", &GramResult::cosine);
  both("trace distance sqrt(1 - |<i|j>|^2)", &GramResult::trace);
  return text +
         fmt::format("prepared in {:.3g} s, compared in {:.3g} s\n", result.prepare_seconds, result.product_seconds);
}

}  // namespace qsim
