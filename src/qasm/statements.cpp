// Statements that define gates and that act on qubits: operands, broadcast, conditions, limits before expansion.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "qasm/parser.h"
#include "qasm/text/expansion.h"

namespace qsim::qasm {
namespace {

constexpr std::size_t kQuadraticOperands = 12;  // up to here comparing all pairs beats sorting

}  // namespace

// Steps over ',' between the entries of a list; a last comma before `close` is tolerated.
bool Parser::end_of_list(TokenKind close) {
  if (stream_->kind() == close) return true;
  if (!stream_->accept(TokenKind::kComma)) return true;
  return stream_->kind() == close;
}

// ---- definitions ----

void Parser::gate_definition() {
  stream_->advance();
  const Token name = stream_->expect(TokenKind::kIdentifier, "the gate's name");
  check_new_name(name);
  const std::string_view text = stream_->text(name);
  declaring_ = text;
  formal_parameters();
  formal_qubits();
  if (stream_->kind() != TokenKind::kLeftBrace) stream_->fail_expected("'{' and the gate's body");
  in_body_ = true;
  gates_.begin_body();
  try {
    stream_->advance();
    gate_body(text);
  } catch (const Failure&) {
    gates_.discard_body();
    throw;
  }
  gates_.define(text, static_cast<std::uint32_t>(parameters_.size()), static_cast<std::uint32_t>(body_names_.size()));
  declaring_ = {};
  in_body_ = false;
  stream_->advance();
}

void Parser::opaque_declaration() {
  stream_->advance();
  const Token name = stream_->expect(TokenKind::kIdentifier, "the gate's name");
  check_new_name(name);
  declaring_ = stream_->text(name);
  formal_parameters();
  formal_qubits();
  check_semicolon("the declaration");
  const auto parameters = static_cast<std::uint32_t>(parameters_.size());
  const auto qubits = static_cast<std::uint32_t>(body_names_.size());
  if (const auto given = options_.unitaries.find(std::string(declaring_)); given != options_.unitaries.end()) {
    used_unitaries_.insert(given->first);
    check_unitary(name, given->second, parameters, qubits);
    gates_.define_matrix(declaring_, given->second, qubits);
  } else {
    gates_.define_opaque(declaring_, parameters, qubits);
  }
  declaring_ = {};
  stream_->advance();
}

void Parser::formal_parameters() {
  parameters_.clear();
  if (!stream_->accept(TokenKind::kLeftParen)) return;
  while (stream_->kind() != TokenKind::kRightParen) {
    const Token name = stream_->expect(TokenKind::kIdentifier, "a parameter's name");
    const auto position = static_cast<std::uint32_t>(parameters_.size());
    if (!parameters_.emplace(stream_->text(name), position).second) {
      throw Failure{name.offset, "parameter " + quoted(stream_->text(name)) + " is named twice", ""};
    }
    if (end_of_list(TokenKind::kRightParen)) break;
  }
  stream_->expect(TokenKind::kRightParen, "')' after the parameters");
}

void Parser::formal_qubits() {
  body_names_.clear();
  do {
    const Token name = stream_->expect(TokenKind::kIdentifier, "the name of a qubit of the gate");
    const std::string_view text = stream_->text(name);
    const auto position = static_cast<std::uint32_t>(body_names_.size());
    if (parameters_.contains(text) || !body_names_.emplace(text, position).second) {
      throw Failure{name.offset, quoted(text) + " is named twice in this gate", ""};
    }
    if (!stream_->accept(TokenKind::kComma)) return;
  } while (stream_->kind() == TokenKind::kIdentifier);
}

void Parser::gate_body(std::string_view name) {
  while (stream_->kind() != TokenKind::kRightBrace) {
    switch (stream_->kind()) {
      case TokenKind::kIdentifier:
      case TokenKind::kBuiltinU:
      case TokenKind::kBuiltinCx:
        body_call(name);
        break;
      case TokenKind::kBarrier:
        body_barrier();
        break;
      case TokenKind::kReset:
        body_reset();
        break;
      case TokenKind::kSemicolon:
        break;
      case TokenKind::kMeasure:
      case TokenKind::kIf:
      case TokenKind::kGate:
      case TokenKind::kOpaque:
      case TokenKind::kQreg:
      case TokenKind::kCreg:
      case TokenKind::kInclude:
      case TokenKind::kOpenQasm:
        throw Failure{stream_->token().offset, quoted(stream_->text()) + " is not allowed in a gate body",
                      "a body holds gates and barriers and ends with '}'"};
      default:
        stream_->fail_expected("a gate or '}'");
    }
    check_semicolon("a statement of the gate body");
    stream_->advance();
  }
}

void Parser::body_angles() {
  body_angles_.clear();
  if (!stream_->accept(TokenKind::kLeftParen)) return;
  while (stream_->kind() != TokenKind::kRightParen) {
    ExpressionParser parser(*stream_, gates_.arena(), &parameters_);
    body_angles_.push_back(parser.parse());
    if (end_of_list(TokenKind::kRightParen)) break;
  }
  stream_->expect(TokenKind::kRightParen, "')' after the angles");
}

void Parser::body_operands(const char* statement) {
  body_qubits_.clear();
  while (stream_->kind() != TokenKind::kSemicolon) {
    const Token name = stream_->expect(TokenKind::kIdentifier, "a qubit of the gate");
    const std::string_view text = stream_->text(name);
    const auto found = body_names_.find(text);
    if (found == body_names_.end()) {
      NearestName nearest(text);
      for (const auto& [known, position] : body_names_) nearest.offer(known);
      throw Failure{name.offset, quoted(text) + " is not a qubit of this gate", nearest.hint()};
    }
    if (stream_->kind() == TokenKind::kLeftBracket) {
      throw Failure{stream_->token().offset, "the qubits of a gate body have no index", ""};
    }
    body_qubits_.push_back(found->second);
    if (end_of_list(TokenKind::kSemicolon)) break;
  }
  check_semicolon(statement);
}

void Parser::body_call(std::string_view name) {
  const Token called = stream_->token();
  if (stream_->text() == name) {
    throw Failure{called.offset, "gate " + quoted(name) + " applies itself: definitions may not be recursive", ""};
  }
  const GateEntry& entry = find_gate_entry(called);
  stream_->advance();
  body_angles();
  body_operands("the gate's qubits");
  check_arity(called, entry, body_angles_.size(), body_qubits_.size());
  check_distinct(called, body_qubits_);
  gates_.add_call(entry, body_qubits_, body_angles_);
}

/// No gate of the language, but what Qiskit writes for `initialize`.
void Parser::body_reset() {
  const Token keyword = stream_->token();
  stream_->advance();
  body_operands("the qubit");
  if (body_qubits_.size() != 1) throw Failure{keyword.offset, "reset takes one qubit", ""};
  gates_.add_reset(body_qubits_[0]);
}

void Parser::body_barrier() {
  stream_->advance();
  body_operands("the barrier");
  std::ranges::sort(body_qubits_);
  body_qubits_.erase(std::unique(body_qubits_.begin(), body_qubits_.end()), body_qubits_.end());
  if (body_qubits_.empty()) {  // a bare barrier is one over all qubits
    for (std::uint32_t i = 0; i < body_names_.size(); ++i) body_qubits_.push_back(i);
  }
  gates_.add_barrier(body_qubits_);
}

// ---- names and operands ----

void Parser::unknown_gate(const Token& name) {
  const std::string_view text = stream_->text(name);
  if (poisoned_.contains(text)) throw Failure{name.offset, "", "", ExitCode::kCircuit, false, true};
  Failure failure{name.offset, "gate " + quoted(text) + " is not defined", ""};
  if (!gates_.has_library() && GateBook::in_library(text)) {
    failure.hint = "it is in the library: include \"qelib1.inc\";";
    throw failure;
  }
  hint_language(failure, text);
  NearestName nearest(text);
  gates_.offer_names(nearest);
  for (const std::string_view word : {"qreg", "creg", "gate", "opaque", "barrier", "measure", "reset", "include"}) {
    nearest.offer(word);
  }
  failure.hint = nearest.hint();
  throw failure;
}

const GateEntry& Parser::find_gate_entry(const Token& name) {
  const GateEntry* entry = gates_.find(stream_->text(name));
  if (entry == nullptr && !poisoned_.contains(stream_->text(name))) entry = gates_.find_further(stream_->text(name));
  if (entry == nullptr) unknown_gate(name);
  return *entry;
}

const Parser::RegisterEntry& Parser::find_register(const Token& name, bool quantum) {
  const std::string_view text = stream_->text(name);
  if (text == last_register_ && last_entry_->quantum == quantum) return *last_entry_;
  const auto found = registers_.find(text);
  if (found != registers_.end() && found->second.quantum == quantum) {
    last_register_ = text;
    last_entry_ = &found->second;
    return found->second;
  }
  if (poisoned_.contains(text)) throw Failure{name.offset, "", "", ExitCode::kCircuit, false, true};
  NearestName nearest(text);
  for (const auto& [known, entry] : registers_) {
    if (entry.quantum == quantum) nearest.offer(known);
  }
  throw Failure{name.offset, quoted(text) + " is not a " + (quantum ? "quantum" : "classical") + " register",
                nearest.hint()};
}

Parser::Operand Parser::operand(bool quantum) {
  const Token name =
      stream_->expect(TokenKind::kIdentifier, quantum ? "a qubit or quantum register" : "a bit or classical register");
  const RegisterEntry& entry = find_register(name, quantum);
  if (!stream_->accept(TokenKind::kLeftBracket)) return {entry.first, entry.size, true};
  const Token position = stream_->expect(TokenKind::kInteger, "an index");
  const std::uint64_t index = integer(position);
  if (index >= entry.size) {
    throw Failure{position.offset,
                  "index " + std::to_string(index) + " is out of range for " + quoted(stream_->text(name)) +
                      ", which has " + counted(entry.size, quantum ? "qubit" : "bit"),
                  "indices begin at 0"};
  }
  stream_->expect(TokenKind::kRightBracket, "']'");
  return {entry.first + static_cast<std::uint32_t>(index), 1, false};
}

void Parser::operands() {
  operands_.clear();
  while (stream_->kind() != TokenKind::kSemicolon) {
    operands_.push_back(operand(true));
    if (end_of_list(TokenKind::kSemicolon)) break;
  }
}

void Parser::angles() {
  angles_.clear();
  if (!stream_->accept(TokenKind::kLeftParen)) return;
  while (stream_->kind() != TokenKind::kRightParen) {
    ExpressionParser parser(*stream_, arena_, nullptr);
    arena_.truncate(0);
    angles_.push_back(arena_.evaluate(parser.parse(), {}));
    if (end_of_list(TokenKind::kRightParen)) break;
  }
  stream_->expect(TokenKind::kRightParen, "')' after the angles");
}

void Parser::check_arity(const Token& name, const GateEntry& entry, std::size_t parameters, std::size_t qubits) const {
  const std::string text = quoted(stream_->text(name));
  if (parameters != entry.parameters) {
    throw Failure{name.offset,
                  text + " takes " + counted(entry.parameters, "angle") + ", got " + std::to_string(parameters), ""};
  }
  if (qubits != entry.qubits) {
    throw Failure{name.offset, text + " takes " + counted(entry.qubits, "qubit") + ", got " + std::to_string(qubits),
                  ""};
  }
}

void Parser::check_distinct(const Token& at, std::span<const Qubit> qubits) {
  bool repeated = false;
  if (qubits.size() <= kQuadraticOperands) {
    for (std::size_t i = 1; i < qubits.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) repeated = repeated || qubits[i] == qubits[j];
    }
  } else {
    sorted_.assign(qubits.begin(), qubits.end());
    std::sort(sorted_.begin(), sorted_.end());
    repeated = std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end();
  }
  if (repeated) throw Failure{at.offset, quoted(stream_->text(at)) + ": the same qubit is used twice", ""};
}

// Sizes of whole registers must agree; single qubits are repeated for each of their elements.
std::uint32_t Parser::broadcast_size(const Token& at) const {
  std::uint32_t size = 1;
  bool whole = false;
  for (const Operand& each : operands_) {
    if (!each.whole) continue;
    if (whole && each.size != size) {
      throw Failure{at.offset,
                    quoted(stream_->text(at)) + ": registers of different sizes (" + std::to_string(size) + " and " +
                        std::to_string(each.size) + ")",
                    ""};
    }
    whole = true;
    size = each.size;
  }
  return size;
}

// Counts what a statement will append before anything is expanded.
void Parser::charge(const Token& at, std::uint64_t operations, std::uint64_t steps) {
  operations_ = saturating_add(operations_, operations);
  steps_ = saturating_add(steps_, steps);
  const Expansion most(options_.max_operations, qubits_);
  if (!most.holds(operations_, steps_)) throw most.failure(at.offset, "gates");
}

// ---- operations ----

// The number that a register of `size` bits is compared with. A register of fewer than 64 bits never equals a number of
// more than 64; 2^64 - 1 stands for all of those.
Condition Parser::wide_integer(const Token& token, std::uint32_t size) const {
  constexpr std::size_t kMaxDigits = 5000;
  const std::string_view digits = stream_->text(token);
  if (digits.size() > kMaxDigits) {
    throw Failure{token.offset, "integer of more than " + std::to_string(kMaxDigits) + " digits", "",
                  ExitCode::kUnsupported};
  }
  std::vector<Index> words(1, 0);
  for (const char digit : digits) {
    auto carry = static_cast<Index>(digit - '0');
    for (Index& word : words) {  // words * 10 + carry, in halves of 32 bits
      const Index low = (word & 0xffffffffu) * 10 + carry;
      const Index high = (word >> 32) * 10 + (low >> 32);
      word = high << 32 | (low & 0xffffffffu);
      carry = high >> 32;
    }
    if (carry != 0) words.push_back(carry);
  }
  Condition condition;
  condition.value = words.front();
  if (words.size() > 1 && size < 64) {
    condition.value = std::numeric_limits<Index>::max();
  } else {
    condition.high.assign(words.begin() + 1, words.end());
  }
  return condition;
}

void Parser::if_statement() {
  stream_->advance();
  stream_->expect(TokenKind::kLeftParen, "'(' after 'if'");
  const Token name = stream_->expect(TokenKind::kIdentifier, "a classical register");
  const RegisterEntry& entry = find_register(name, false);
  stream_->expect(TokenKind::kEqual, "'=='");
  const Token number = stream_->expect(TokenKind::kInteger, "an integer");
  Condition condition = wide_integer(number, entry.size);
  condition.creg = entry.index;
  condition_ = circuit_.when(condition);
  stream_->expect(TokenKind::kRightParen, "')'");
  if (!operation()) stream_->fail_expected("a gate, 'measure' or 'reset' after if(...)");
}

void Parser::gate_call() {
  const Token name = stream_->token();
  const GateEntry& entry = find_gate_entry(name);
  stream_->advance();
  angles();
  operands();
  check_semicolon("the gate's qubits");
  check_arity(name, entry, angles_.size(), operands_.size());
  apply_broadcast(name, entry);
  stream_->advance();
}

void Parser::apply_broadcast(const Token& name, const GateEntry& entry) {
  const std::uint32_t size = broadcast_size(name);
  qubits_scratch_.resize(operands_.size());
  if (!entry.in_table) {
    const Definition& definition = gates_.definition(entry);
    if (!definition.opaque_name.empty()) {
      const std::string name_shown(definition.opaque_name.substr(0, 40));
      throw Failure{name.offset,
                    "opaque gate " + quoted(definition.opaque_name) + " is applied, but nothing says what it does",
                    "give it a definition: gate " + name_shown + " ... { ... }, or its matrix: `unitaries` " +
                        name_shown + "=FILE.npy",
                    ExitCode::kUnsupported};
    }
  }
  charge(name, saturating_multiply(gates_.operations(entry), size), saturating_multiply(gates_.steps(entry), size));
  for (std::uint32_t element = 0; element < size; ++element) {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      qubits_scratch_[i] = operands_[i].first + (operands_[i].whole ? element : 0);
    }
    if (element == 0 || operands_.size() > 1) check_distinct(name, qubits_scratch_);
    try {
      gates_.apply(entry, qubits_scratch_, angles_, circuit_);
    } catch (Failure& failure) {  // an angle inside the definition: say where the gate is applied
      throw Failure{name.offset, "in gate " + quoted(stream_->text(name)) + " with these angles: " + failure.message,
                    ""};
    }
  }
}

void Parser::measure() {
  const Token keyword = stream_->token();
  stream_->advance();
  const Operand from = operand(true);
  stream_->expect(TokenKind::kArrow, "'->'");
  const Operand to = operand(false);
  check_semicolon("the measurement");
  if (from.size != to.size) {
    throw Failure{keyword.offset,
                  "measure: sizes differ (" + counted(from.size, "qubit") + " into " + counted(to.size, "bit") + ")",
                  ""};
  }
  charge(keyword, from.size, saturating_multiply(from.size, 3));
  for (std::uint32_t i = 0; i < from.size; ++i) circuit_.add_measure(from.first + i, to.first + i);
  stream_->advance();
}

void Parser::reset() {
  const Token keyword = stream_->token();
  stream_->advance();
  const Operand target = operand(true);
  check_semicolon("the qubit");
  charge(keyword, target.size, saturating_multiply(target.size, 2));
  for (std::uint32_t i = 0; i < target.size; ++i) circuit_.add_reset(target.first + i);
  stream_->advance();
}

void Parser::barrier() {
  const Token keyword = stream_->token();
  stream_->advance();
  operands();
  check_semicolon("the barrier");
  // A bare barrier is one over all qubits.
  if (operands_.empty()) operands_.push_back({0, static_cast<std::uint32_t>(qubits_), true});
  std::uint64_t wires = 0;
  for (const Operand& each : operands_) wires = saturating_add(wires, each.size);
  charge(keyword, 1, saturating_add(1, wires));
  qubits_scratch_.clear();
  for (const Operand& each : operands_) {
    for (std::uint32_t i = 0; i < each.size; ++i) qubits_scratch_.push_back(each.first + i);
  }
  std::sort(qubits_scratch_.begin(), qubits_scratch_.end());
  qubits_scratch_.erase(std::unique(qubits_scratch_.begin(), qubits_scratch_.end()), qubits_scratch_.end());
  if (!qubits_scratch_.empty()) circuit_.add_barrier(qubits_scratch_);
  stream_->advance();
}

}  // namespace qsim::qasm
