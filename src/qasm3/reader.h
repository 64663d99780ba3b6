// A program of OpenQASM 3 from text to flow: statement by statement, so that memory is that of the circuit.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "qasm/text/files.h"
#include "qasm3/lower/lowering.h"
#include "qasm3/syntax/parser.h"

namespace qsim::qasm3 {

class Reader {
 public:
  /// `program` must outlive the reader.
  Reader(const Source& program, const QasmOptions& options);

  void run();
  /// Only without diagnostics.
  Flow take_flow() { return std::move(flow_); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  bool stopped_early() const { return stopped_early_; }
  std::vector<std::string> notes() const;
  std::vector<std::string> included_files() const { return files_.paths(); }
  /// Names of given parameters that are no inputs.
  std::vector<std::string> unused_parameters() const;

 private:
  void read(const Source& source);
  void version(Parser& parser, const Source& source);
  void statement(Parser& parser, const Source& source);
  void include(const Node& node, const Source& source);
  NodeId input_value(const Symbol& symbol, std::uint32_t at);
  void finish();
  void report(const Failure& failure);

  const QasmOptions& options_;
  const Source* program_;
  qasm::IncludedFiles files_;
  std::deque<Source> includes_;
  std::deque<Source> values_;  // of inputs
  std::deque<std::string> value_texts_;
  Model model_;
  Checker checker_;
  Lowering lowering_;
  Flow flow_;  // once everything is read
  std::set<std::string> used_parameters_;
  std::vector<Failure> missing_;  // inputs without a value
  std::vector<Diagnostic> diagnostics_;
  std::uint32_t first_ = 0;  // place of the text being read
  bool anything_read_ = false;
  bool stop_ = false;
  bool stopped_early_ = false;
};

}  // namespace qsim::qasm3
