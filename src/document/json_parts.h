// Parts that the JSON documents share (docs/json.md). Templates over the library's type, so that its header stays in
// the files that write documents. An object starts as one: where a null becomes an object by its first member and
// memory runs out, releases before 3.11.3 of the library crash.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "document/result.h"
#include "qsim/error.h"

namespace qsim::parts {

template <class Json>
Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

template <class Json>
Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// File names and messages may hold bytes that are not UTF-8.
template <class Json>
std::string text_of(const Json& value, int indent) {
  return value.dump(indent, ' ', true, Json::error_handler_t::replace);
}

template <class Json>
Json registers_json(const std::vector<Register>& registers) {
  Json list = Json::array();
  for (const Register& each : registers) list.push_back(Json::array({each.name, each.size}));
  return list;
}

/// What is not known of a circuit that was never read is null.
template <class Json>
Json circuit_json(const CircuitSummary& circuit) {
  const bool known = !circuit.language.empty();
  Json json = Json::object();
  json["file"] = text_or_null<Json>(circuit.file);
  json["xxh3"] = text_or_null<Json>(circuit.xxh3);
  json["language"] = text_or_null<Json>(circuit.language);
  json["qubits"] = known ? Json(circuit.qubits) : Json(nullptr);
  json["clbits"] = known ? Json(circuit.clbits) : Json(nullptr);
  json["operations"] = known ? Json(circuit.operations) : Json(nullptr);
  json["depth"] = known ? Json(circuit.depth) : Json(nullptr);
  json["qregs"] = known ? registers_json<Json>(circuit.qregs) : Json(nullptr);
  json["cregs"] = known ? registers_json<Json>(circuit.cregs) : Json(nullptr);
  return json;
}

template <class Json>
Json environment_json(const EnvironmentSummary& environment) {
  Json json = Json::object();
  json["version"] = text_or_null<Json>(environment.version);
  json["commit"] = text_or_null<Json>(environment.commit);
  json["compiler"] = text_or_null<Json>(environment.compiler);
  json["cuda"] = text_or_null<Json>(environment.cuda);
  json["driver"] = text_or_null<Json>(environment.driver);
  json["mpi"] = text_or_null<Json>(environment.mpi);
  json["nccl"] = text_or_null<Json>(environment.nccl);
  json["devices"] = environment.devices;
  json["host"] = text_or_null<Json>(environment.host);
  return json;
}

/// What is wrong one by one; a failure without a list is its only entry.
template <class Json>
Json diagnostics_json(const Failure& error) {
  Json list = Json::array();
  const auto add = [&list](ExitCode code, const std::string& message, const std::string& hint,
                           const SourcePosition& where) {
    Json json = Json::object();
    json["code"] = static_cast<int>(code);
    json["message"] = message;
    json["hint"] = text_or_null<Json>(hint);
    json["file"] = text_or_null<Json>(where.file);
    json["line"] = where.line == 0 ? Json(nullptr) : Json(where.line);
    json["column"] = where.column == 0 ? Json(nullptr) : Json(where.column);
    list.push_back(std::move(json));
  };
  for (const Diagnostic& one : error.diagnostics) add(one.code, one.message, one.hint, one.where);
  if (list.empty()) add(error.code, error.message, error.hint, {error.file, error.line, error.column});
  return list;
}

template <class Json>
Json error_json(const Failure& error) {
  Json json = Json::object();
  json["code"] = static_cast<int>(error.code);
  json["message"] = error.message;
  json["hint"] = text_or_null<Json>(error.hint);
  json["file"] = text_or_null<Json>(error.file);
  json["line"] = error.line == 0 ? Json(nullptr) : Json(error.line);
  json["column"] = error.column == 0 ? Json(nullptr) : Json(error.column);
  json["rank"] = std::max(error.rank, 0);  // alone: this one
  json["diagnostics"] = diagnostics_json<Json>(error);
  return json;
}

}  // namespace qsim::parts
