#include "support/json_schema.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>

namespace qsim::test {
namespace {

using nlohmann::json;

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  throw std::runtime_error("schema: unknown type " + type);
}

class Checker {
 public:
  std::vector<std::string> found;

  void check(const json& value, const json& schema, const std::string& where) {
    for (const auto& [keyword, rule] : schema.items()) check_keyword(value, keyword, rule, schema, where);
  }

 private:
  void expect(bool good, const std::string& where, const std::string& what) {
    if (!good) found.push_back(where + ": " + what);
  }

  void check_keyword(const json& value, const std::string& keyword, const json& rule, const json& schema,
                     const std::string& where) {
    if (keyword == "type") {
      bool good = false;
      for (const json& type : rule.is_array() ? rule : json::array({rule})) good = good || has_type(value, type);
      expect(good, where, value.dump().substr(0, 60) + " is not " + rule.dump());
    } else if (keyword == "const") {
      expect(value == rule, where, value.dump() + " is not " + rule.dump());
    } else if (keyword == "enum") {
      expect(std::find(rule.begin(), rule.end(), value) != rule.end(), where, value.dump() + " not in " + rule.dump());
    } else if (keyword == "pattern") {
      expect(!value.is_string() || std::regex_search(value.get<std::string>(), std::regex(rule.get<std::string>())),
             where, value.dump() + " does not match " + rule.dump());
    } else if (keyword == "required") {
      for (const json& key : rule) {
        expect(!value.is_object() || value.contains(key.get<std::string>()), where, "no key " + key.dump());
      }
    } else if (keyword == "properties") {
      check_properties(value, rule, schema, where);
    } else if (keyword == "items") {
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        check(value[i], rule, where + "[" + std::to_string(i) + "]");
      }
    } else if (keyword == "prefixItems") {
      for (std::size_t i = 0; value.is_array() && i < std::min(value.size(), rule.size()); ++i) {
        check(value[i], rule[i], where + "[" + std::to_string(i) + "]");
      }
    } else if (keyword == "additionalProperties" && rule.is_object() && value.is_object()) {
      for (const auto& [key, inner] : value.items()) check(inner, rule, where + "." + key);
    }
  }

  void check_properties(const json& value, const json& rule, const json& schema, const std::string& where) {
    if (!value.is_object()) return;
    const bool closed = schema.value("additionalProperties", json(true)) == json(false);
    for (const auto& [key, inner] : value.items()) {
      if (rule.contains(key)) {
        check(inner, rule[key], where + "." + key);
      } else {
        expect(!closed, where, "key '" + key + "' is not in the schema");
      }
    }
  }
};

}  // namespace

std::vector<std::string> schema_violations(const std::string& document, const std::string& schema_file) {
  std::ifstream file(std::string(QSIM_SOURCE_DIR) + "/docs/schema/" + schema_file);
  const json schema = json::parse(file);
  Checker checker;
  checker.check(json::parse(document), schema, "$");
  return checker.found;
}

}  // namespace qsim::test
