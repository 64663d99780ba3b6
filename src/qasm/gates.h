// What a gate name means while a program is read: a row of the gate table, a definition of the program, or opaque.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bits.h"
#include "qasm/syntax.h"
#include "qsim/circuit.h"

namespace qsim::qasm {

enum class BodyKind : std::uint8_t { kTableGate, kCall, kBarrier, kReset, kMatrix };

/// One statement of a gate body; its operands and angles live in the book's pools.
struct BodyStatement {
  BodyKind kind = BodyKind::kTableGate;
  Gate gate = Gate::kId;
  std::uint16_t controls = 0;
  std::uint32_t callee = 0;  // definition, for kCall; for kMatrix its place among the matrices
  std::uint32_t qubit_begin = 0, qubit_end = 0;
  std::uint32_t angle_begin = 0, angle_end = 0;
};

/// A gate of the program. `operations` and `steps` are known before anything is expanded (saturating).
struct Definition {
  std::uint32_t parameters = 0, qubits = 0;
  std::uint32_t begin = 0, end = 0;  // body statements
  std::uint64_t operations = 0;      // that one application appends
  std::uint64_t steps = 1;           // work of one application: statements, operands and expression nodes
  std::string_view opaque_name;      // the opaque gate that applying this one would apply; empty = none
};

struct GateEntry {
  bool in_table = false;
  bool replaceable = false;  // of qelib1.inc, but younger than the language: the program may define it anew
  Gate gate = Gate::kId;
  std::uint16_t controls = 0;
  std::uint32_t definition = 0;
  std::uint32_t parameters = 0, qubits = 0;
};

/// All gates that the program may name, and the bodies of those that it defines.
class GateBook {
 public:
  GateBook();

  /// Names of qelib1.inc; names that the program already defined keep their definition. Returns a name of the
  /// paper's 23 that the program has defined itself, or empty.
  std::string_view add_library();
  bool has_library() const { return has_library_; }
  /// True when `name` is in qelib1.inc, included or not.
  static bool in_library(std::string_view name);

  /// A standard gate that the library has not, from now on known; null for other names and without the library.
  const GateEntry* find_further(std::string_view name);
  const GateEntry* find(std::string_view name) const;
  /// Offers all names to a suggestion.
  void offer_names(NearestName& nearest) const;

  /// Adds one statement to the body of the definition being read (begin_body .. finish_body).
  void begin_body();
  void add_call(const GateEntry& entry, std::span<const std::uint32_t> qubits, std::span<const ExpressionRange> angles);
  void add_barrier(std::span<const std::uint32_t> qubits) { add_plain(BodyKind::kBarrier, qubits); }
  void add_reset(std::uint32_t qubit) { add_plain(BodyKind::kReset, {&qubit, 1}); }
  void discard_body();
  void define(std::string_view name, std::uint32_t parameters, std::uint32_t qubits);
  void define_opaque(std::string_view name, std::uint32_t parameters, std::uint32_t qubits);
  /// A gate that `matrix`, which outlives the book, says all of; unitary, of order 2^qubits.
  void define_matrix(std::string_view name, const Matrix& matrix, std::uint32_t qubits);
  ExpressionArena& arena() { return arena_; }

  const Definition& definition(const GateEntry& entry) const { return definitions_[entry.definition]; }
  /// Operations and steps of one application.
  std::uint64_t operations(const GateEntry& entry) const;
  std::uint64_t steps(const GateEntry& entry) const;
  /// Appends one application to `circuit`. Throws Failure when an angle is not finite.
  void apply(const GateEntry& entry, std::span<const Qubit> qubits, std::span<const double> angles, Circuit& circuit);

 private:
  struct Frame {
    std::uint32_t next, end;       // statements
    std::uint32_t qubits, angles;  // where this application's operands begin
  };
  void add_table_name(std::string_view name, bool replaceable);
  void add_plain(BodyKind kind, std::span<const std::uint32_t> qubits, std::uint32_t matrix = 0);
  void count(std::uint64_t operations, std::uint64_t steps);
  void expand(const Definition& definition, Circuit& circuit);
  void push_operands(const BodyStatement& statement, const Frame& frame);

  std::unordered_map<std::string_view, GateEntry> gates_;
  bool has_library_ = false;
  std::vector<Definition> definitions_;
  std::vector<BodyStatement> statements_;
  std::vector<const Matrix*> matrices_;
  std::vector<std::uint32_t> body_qubits_;
  std::vector<ExpressionRange> body_angles_;
  ExpressionArena arena_;

  Definition open_;  // the definition being read
  std::uint32_t open_qubits_ = 0, open_angles_ = 0, open_nodes_ = 0;
  std::vector<Frame> frames_;  // scratch of expand: no recursion
  std::vector<Qubit> qubit_stack_;
  std::vector<double> angle_stack_;
};

}  // namespace qsim::qasm
