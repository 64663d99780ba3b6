// Rows of a `qsim.table/1` document on standard output; needs nothing but the standard library.
#pragma once

#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace table {

/// Names and JSON values, in order.
using Fields = std::vector<std::pair<std::string, std::string>>;

inline std::string quoted(const std::string& text) { return "\"" + text + "\""; }
inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}
inline const char* truth(bool value) { return value ? "true" : "false"; }

class Rows {
 public:
  explicit Rows(std::string kind) : kind_(std::move(kind)) {}
  /// Also shown at once on standard error. A field `equal` that is not true makes the document wrong.
  void row(const Fields& values) {
    std::string line;
    for (const auto& [key, value] : values) {
      line += (line.empty() ? "\"" : ", \"") + key + "\": " + value;
      all_equal_ = all_equal_ && (key != "equal" || value == "true");
    }
    rows_.push_back("    {" + line + "}");
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  /// `head`: what the document says about where it was made.
  void print(const Fields& head) const {
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts);
    std::printf("{\n  \"schema\": \"qsim.table/1\",\n  \"kind\": \"%s\",\n  \"date\": \"%s\",\n", kind_.c_str(), date);
    for (const auto& [key, value] : head) std::printf("  \"%s\": %s,\n", key.c_str(), value.c_str());
    std::printf("  \"rows\": [\n");
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::printf("%s%s\n", rows_[i].c_str(), i + 1 < rows_.size() ? "," : "");
    }
    std::printf("  ]\n}\n");
  }
  /// 0, or 8 where a row's check failed.
  int exit_code() const { return all_equal_ ? 0 : 8; }

 private:
  std::string kind_;
  std::vector<std::string> rows_;
  bool all_equal_ = true;
};

}  // namespace table
