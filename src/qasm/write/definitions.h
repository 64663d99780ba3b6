// What both versions of the language write alike: definitions of gates without a name, numbers of conditions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "qsim/qasm.h"

namespace qsim {

/// The number that a condition compares with, of any width.
std::string condition_number(const Condition& condition);

/// Definitions of what has no name of its own; equal bodies share one.
class GateDefinitions {
 public:
  GateDefinitions(const Circuit& circuit, QasmVersion version) : circuit_(circuit), version_(version) {}
  /// Definitions must be called otherwise than `name` is.
  void avoid(std::string_view name) {
    while (name.starts_with(prefix_)) prefix_ += '_';
  }
  const std::string& prefix() const { return prefix_; }
  /// Name of the definition that does what `op` does on its controls, then targets; empty when there is nothing to do.
  std::string_view of(const Operation& op);
  const std::string& text() const { return text_; }

 private:
  const Circuit& circuit_;
  const QasmVersion version_;
  std::string prefix_ = "qsim_";
  std::map<std::string, std::string> names_;
  std::string text_;
};

}  // namespace qsim
