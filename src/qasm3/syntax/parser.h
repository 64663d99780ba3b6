// Recursive descent over OpenQASM 3, operators by their strength; one statement at a time, into the tree.
#pragma once

#include <cstdint>
#include <string>

#include "qasm3/syntax/tree.h"

namespace qsim::qasm3 {

constexpr int kMaxNesting = 256;  // of expressions and blocks together

class Parser {
 public:
  /// `first`: place of the text's first byte.
  Parser(std::string_view text, std::uint32_t first, Names& names, Tree& tree)
      : lexer_(text, names), names_(names), tree_(tree), first_(first) {}

  /// Steps to the first token. Failure as next().
  void begin() { advance(); }
  bool at_end() const { return token_.kind == TokenKind::kEnd; }
  /// A version statement, if one is next: its text without "OPENQASM", else empty.
  std::string_view version();
  /// The next statement; 0 for an empty one. Throws Failure with its offset in this text; then call recover().
  NodeId statement();
  /// A value alone up to the end of the text.
  NodeId lone_value();
  /// Skips to where a statement may begin; bytes before the one given by mark() are taken in whatever happens.
  void recover(std::uint32_t mark);
  std::uint32_t mark() const { return token_.offset + token_.length; }

 private:
  // parser.cpp
  void advance();
  bool accept(TokenKind kind);
  bool accept_word(Word word);
  bool is_word(Word word) const { return token_.kind == TokenKind::kWord && token_.name == word; }
  bool is_sign(Operator op) const { return token_.kind == TokenKind::kOperator && token_.op == op; }
  Token expect(TokenKind kind, const char* what);
  void expect_word(Word word, const char* what);
  Name expect_name(const char* what);
  [[noreturn]] void fail_expected(const std::string& what, std::string hint = {}) const;
  void semicolon(const char* after);
  Node make(NodeKind kind) const;
  NodeId text_node(NodeKind kind);

  NodeId word_statement();
  NodeId include();
  NodeId quantum_word();
  NodeId measure_statement();
  NodeId statement_with_operands();
  NodeId statement_or_block();
  NodeId block();
  NodeId body();
  NodeId name_statement();
  NodeId assignment(const Node& start, NodeId target);
  NodeId annotation();

  // control.cpp: control flow, definitions, directives
  NodeId if_statement();
  NodeId for_statement();
  NodeId while_statement();
  NodeId switch_statement();
  NodeId gate_definition();
  NodeId subroutine();
  NodeId argument_type();
  void signature(Node& node, const char* what, NodeId (Parser::*each)());
  NodeId argument();
  NodeId extern_declaration();
  NodeId calibration();
  NodeId calibration_head();
  NodeId box();
  NodeId name_list(const char* what, TokenKind close);

  // declarations.cpp
  bool at_type() const;
  NodeId type();
  NodeId array_type();
  NodeId designator();
  NodeId declaration(std::uint8_t flags);
  NodeId old_register();
  NodeId alias();
  NodeId array_literal();
  NodeId value_of(const char* what);

  // expressions.cpp
  NodeId expression(int strength = 0);
  NodeId unary();
  NodeId postfix();
  NodeId postfix_of(NodeId base);
  NodeId continue_expression(NodeId left, int strength);
  NodeId primary();
  NodeId word_primary();
  NodeId call_or_name();
  NodeId measure();
  NodeId range_or_expression();
  NodeId set();
  NodeId expression_list(TokenKind close);
  NodeId operand();
  NodeId operands();
  NodeId modifiers();
  NodeId gate_call(const Node& start, NodeId modifiers);

  Lexer lexer_;
  Names& names_;
  Tree& tree_;
  std::uint32_t first_;
  Token token_;
  int depth_ = 0;
  int open_blocks_ = 0;  // where recovery begins
};

}  // namespace qsim::qasm3
