#include "cli/io/input/parameters.h"

#include <nlohmann/json.hpp>

#include "base/file/files.h"
#include "base/text.h"
#include "qsim/error.h"

namespace qsim::cli {
namespace {

constexpr std::uint64_t kMostParameterBytes = 16u << 20;

std::string text_of(const nlohmann::json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (!value.is_array()) throw FileError("parameter '" + escape_text(name, 60) + "' is no number, text or array");
  std::string text;
  for (const nlohmann::json& each : value) text += (text.empty() ? "" : ", ") + text_of(each, name);
  return '{' + text + '}';
}

}  // namespace

std::map<std::string, std::string> read_parameters(const std::string& path) {
  const std::string name = "'" + escape_text(path) + "'";
  const std::string text = read_file(path, kMostParameterBytes);
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) throw FileError(name + " is no JSON object of parameters");
  std::map<std::string, std::string> parameters;
  for (const auto& [key, value] : document.items()) parameters[key] = text_of(value, key);
  return parameters;
}

}  // namespace qsim::cli
