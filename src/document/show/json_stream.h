// A document written part by part as nlohmann's dump(1) would write it whole: the answers of a large run must not be
// held three times.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace qsim {

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
  /// `name` has nothing to escape.
  void key(std::string_view name) {
    next();
    sink_("\"");
    sink_(name);
    sink_("\": ");
  }
  /// A value as dump(1) writes it.
  void value(std::string lines) {
    for (std::size_t at = lines.find('\n'); at != std::string::npos; at = lines.find('\n', at + 1)) {
      lines.insert(at + 1, empty_.size(), ' ');
    }
    sink_(lines);
  }
  void member(std::string_view name, std::string value_of) {
    key(name);
    value(std::move(value_of));
  }

 private:
  const TextSink& sink_;
  std::vector<bool> empty_;  // of the open brackets
};

}  // namespace qsim
