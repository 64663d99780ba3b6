// Recursive descent over OpenQASM 2.0: top-level statements go straight into the circuit.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "qasm/gates.h"
#include "qasm/text/files.h"
#include "qasm/text/source.h"

namespace qsim::qasm {

class Parser {
 public:
  /// `program` must outlive the parser.
  Parser(const Source& program, const QasmOptions& options);

  /// Reads everything it can; the circuit is meaningful only without diagnostics.
  void run();
  Circuit take_circuit() { return std::move(circuit_); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  std::vector<std::string> included_files() const { return files_.paths(); }
  bool stopped_early() const { return stopped_early_; }
  /// The names of QasmOptions::unitaries that the program declares.
  const std::set<std::string>& used_unitaries() const { return used_unitaries_; }

 private:
  struct RegisterEntry {
    bool quantum = false;
    std::uint32_t index = 0, first = 0, size = 0;
  };
  struct Operand {
    std::uint32_t first = 0, size = 1;
    bool whole = false;  // a register, not one of its bits
  };

  // parser.cpp: programs, declarations, includes, recovery
  void statements();
  void statement();
  void recover(std::uint32_t start);
  void report(const Failure& failure);
  void header();
  void hint_language(const Failure& failure, std::string_view word);
  void declare_register(bool quantum);
  void include();
  void read_include(const Token& at, std::string_view name);
  void library_include(const Token& at);
  void check_new_name(const Token& name) const;
  void check_semicolon(const char* after) const;

  // statements.cpp: gate and opaque
  void gate_definition();
  void opaque_declaration();
  void formal_parameters();
  void formal_qubits();
  void gate_body(std::string_view name);
  void body_call(std::string_view name);
  void body_barrier();
  void body_reset();
  void check_unitary(const Token& name, const Matrix& matrix, std::uint32_t parameters, std::uint32_t qubits) const;
  void body_operands(const char* statement);
  void body_angles();

  // statements.cpp: what acts on qubits
  void if_statement();
  bool operation();
  void gate_call();
  void measure();
  void reset();
  void barrier();
  const GateEntry& find_gate_entry(const Token& name);
  const RegisterEntry& find_register(const Token& name, bool quantum);
  Operand operand(bool quantum);
  void operands();
  void angles();
  std::uint32_t broadcast_size(const Token& at) const;
  [[noreturn]] void unknown_gate(const Token& name);
  bool end_of_list(TokenKind close);
  void check_distinct(const Token& at, std::span<const Qubit> qubits);
  void apply_broadcast(const Token& name, const GateEntry& entry);
  void charge(const Token& at, std::uint64_t operations, std::uint64_t steps);
  void check_arity(const Token& name, const GateEntry& entry, std::size_t parameters, std::size_t qubits) const;
  std::uint64_t integer(const Token& token) const;
  Condition wide_integer(const Token& token, std::uint32_t size) const;

  const QasmOptions& options_;
  std::deque<Source> includes_;
  IncludedFiles files_;
  const Source* source_;           // being read
  TokenStream* stream_ = nullptr;  // over source_
  bool has_header_ = false;
  bool anything_read_ = false;
  bool stop_ = false;
  bool stopped_early_ = false;
  bool in_body_ = false;
  std::string_view declaring_;  // name of the declaration being read: when it fails, its uses are not errors

  Circuit circuit_;
  Circuit::When condition_;  // of the statement being read
  GateBook gates_;
  std::unordered_map<std::string_view, RegisterEntry> registers_;
  std::unordered_set<std::string_view> poisoned_;
  std::vector<Diagnostic> diagnostics_;
  std::set<std::string> used_unitaries_;
  std::uint64_t qubits_ = 0, clbits_ = 0;  // at most 2^32 - 1
  std::uint64_t operations_ = 0, steps_ = 0;

  ParameterNames parameters_, body_names_;  // of the gate being defined
  std::vector<std::uint32_t> body_qubits_;  // scratch
  std::vector<ExpressionRange> body_angles_;
  std::vector<Operand> operands_;
  std::vector<double> angles_;
  std::vector<Qubit> qubits_scratch_, sorted_;
  ExpressionArena arena_;
  std::string_view last_register_;  // of the last operand: neighbours usually name the same one
  const RegisterEntry* last_entry_ = nullptr;
};

}  // namespace qsim::qasm
