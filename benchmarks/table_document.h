// A `qsim.table/1` document on standard output, for benchmarks that use the public API alone.
#pragma once

#include <cstdio>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "qsim/simulator.h"

namespace table {

class Document {
 public:
  explicit Document(std::string kind) : kind_(std::move(kind)) {}
  void row(const std::vector<std::pair<std::string, std::string>>& values) {
    std::string line;
    for (const auto& [key, value] : values) line += (line.empty() ? "\"" : ", \"") + key + "\": " + value;
    rows_.push_back("    {" + line + "}");
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  void print() const {
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &parts);
    const qsim::EnvironmentSummary environment = qsim::environment();
    std::string machine = environment.host;
    for (const std::string& device : environment.devices) machine += ", " + device;
    std::printf("{\n  \"schema\": \"qsim.table/1\",\n  \"kind\": \"%s\",\n  \"date\": \"%s\",\n", kind_.c_str(), date);
    std::printf("  \"machine\": \"%s\",\n  \"commit\": \"%s\",\n  \"rows\": [\n", machine.c_str(),
                environment.commit.c_str());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::printf("%s%s\n", rows_[i].c_str(), i + 1 < rows_.size() ? "," : "");
    }
    std::printf("  ]\n}\n");
  }

 private:
  std::string kind_;
  std::vector<std::string> rows_;
};

inline std::string quoted(const std::string& text) { return "\"" + text + "\""; }
inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

}  // namespace table
