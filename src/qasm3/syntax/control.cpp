// Control flow, definitions and directives.
#include "qasm3/syntax/parser.h"

namespace qsim::qasm3 {

using qasm::quoted;

NodeId Parser::if_statement() {
  Node node = make(NodeKind::kIf);
  advance();
  expect(TokenKind::kLeftParen, "'(' after 'if'");
  node.a = expression();
  expect(TokenKind::kRightParen, "')'");
  node.b = body();
  if (accept_word(kWordElse)) node.c = body();
  return tree_.add(node);
}

NodeId Parser::while_statement() {
  Node node = make(NodeKind::kWhile);
  advance();
  expect(TokenKind::kLeftParen, "'(' after 'while'");
  node.a = expression();
  expect(TokenKind::kRightParen, "')'");
  node.b = body();
  return tree_.add(node);
}

NodeId Parser::for_statement() {
  Node node = make(NodeKind::kFor);
  advance();
  if (!at_type()) {
    const bool untyped = token_.kind == TokenKind::kIdentifier;
    fail_expected("the type of the loop variable",
                  untyped ? "early drafts had 'for i in'; the language has 'for int i in'" : "");
  }
  node.a = type();
  node.name = expect_name("the loop variable's name");
  expect_word(kWordIn, "'in'");
  if (token_.kind == TokenKind::kLeftBrace) {
    node.b = set();
  } else if (token_.kind == TokenKind::kLeftBracket) {
    advance();
    node.b = range_or_expression();
    if (tree_[node.b].kind != NodeKind::kRange) fail_expected("':' and the end of the range");
    expect(TokenKind::kRightBracket, "']'");
  } else {
    node.b = expression();
  }
  node.c = body();
  return tree_.add(node);
}

NodeId Parser::switch_statement() {
  Node node = make(NodeKind::kSwitch);
  advance();
  expect(TokenKind::kLeftParen, "'(' after 'switch'");
  node.a = expression();
  expect(TokenKind::kRightParen, "')'");
  expect(TokenKind::kLeftBrace, "'{' and the cases");
  ++open_blocks_;
  ListMaker cases(tree_);
  while (token_.kind != TokenKind::kRightBrace) {
    Node each = make(NodeKind::kCase);
    if (accept_word(kWordCase)) {
      each.a = expression_list(TokenKind::kLeftBrace);
      if (each.a == 0) fail_expected("a value after 'case'");
    } else if (accept_word(kWordDefault)) {
      each.word = kWordDefault;
    } else {
      fail_expected("'case', 'default' or '}'");
    }
    if (each.word == kWordDefault && token_.kind != TokenKind::kLeftBrace) fail_expected("'{' after 'default'");
    each.b = each.word == kWordDefault ? block() : body();
    cases.add(tree_.add(each));
  }
  advance();
  --open_blocks_;
  node.b = cases.first();
  return tree_.add(node);
}

// Names up to `close`, which is taken in too where it is a parenthesis.
NodeId Parser::name_list(const char* what, TokenKind close) {
  ListMaker list(tree_);
  while (token_.kind != close) {
    Node node = make(NodeKind::kName);
    node.name = expect_name(what);
    list.add(tree_.add(node));
    if (token_.kind != close && !accept(TokenKind::kComma)) fail_expected("',' or the end of the list");
  }
  if (close == TokenKind::kRightParen) advance();
  return list.first();
}

NodeId Parser::gate_definition() {
  Node node = make(NodeKind::kGate);
  advance();
  node.name = expect_name("the gate's name");
  if (accept(TokenKind::kLeftParen)) node.a = name_list("a parameter", TokenKind::kRightParen);
  node.b = name_list("a qubit's name", TokenKind::kLeftBrace);
  node.c = block();
  return tree_.add(node);
}

NodeId Parser::argument() {
  Node node = make(NodeKind::kDeclare);
  if (is_word(kWordQreg) || is_word(kWordCreg)) {  // creg c[n]
    Node type = make(NodeKind::kType);
    type.word = static_cast<std::uint8_t>(is_word(kWordCreg) ? kWordBit : kWordQubit);
    advance();
    node.name = expect_name("the argument's name");
    type.a = designator();
    node.a = tree_.add(type);
    return tree_.add(node);
  }
  if (accept_word(kWordReadonly)) node.flags = kReadonly;
  if (node.flags == 0 && accept_word(kWordMutable)) node.flags = kMutable;
  if (!at_type() && !is_word(kWordQubit)) fail_expected("the type of an argument");
  if (node.flags != 0 && !is_word(kWordArray)) fail_expected("'array' after 'readonly' or 'mutable'");
  node.a = type();
  node.name = expect_name("the argument's name");
  return tree_.add(node);
}

// Behind the name of a subroutine or an external function: ( arguments ) -> type.
void Parser::signature(Node& node, const char* what, NodeId (Parser::*each)()) {
  expect(TokenKind::kLeftParen, what);
  ListMaker list(tree_);
  while (token_.kind != TokenKind::kRightParen) {
    list.add((this->*each)());
    if (token_.kind != TokenKind::kRightParen && !accept(TokenKind::kComma)) fail_expected("',' or ')'");
  }
  advance();
  node.a = list.first();
  if (!accept(TokenKind::kArrow)) return;
  if (!at_type()) fail_expected("the type of what is returned");
  node.b = type();
}

NodeId Parser::subroutine() {
  Node node = make(NodeKind::kSubroutine);
  advance();
  node.name = expect_name("the subroutine's name");
  signature(node, "'(' and the arguments", &Parser::argument);
  node.c = block();
  return tree_.add(node);
}

NodeId Parser::argument_type() {
  if (is_word(kWordCreg)) {
    Node old = make(NodeKind::kType);
    old.word = kWordBit;
    advance();
    old.a = designator();
    return tree_.add(old);
  }
  accept_word(kWordReadonly) || accept_word(kWordMutable);
  if (!at_type() && !is_word(kWordQubit)) fail_expected("the type of an argument");
  return type();
}

NodeId Parser::extern_declaration() {
  Node node = make(NodeKind::kExtern);
  advance();
  node.name = expect_name("the name of the external function");
  signature(node, "'(' and the types of the arguments", &Parser::argument_type);
  semicolon("the declaration");
  return tree_.add(node);
}

// cal { ... }, defcal ... { ... }, defcalgrammar "...";, pragma ...: read over.
NodeId Parser::calibration() {
  Node node = make(NodeKind::kCalibration);
  node.word = static_cast<std::uint8_t>(token_.name);
  const std::uint32_t at = token_.offset;
  const auto unclosed = [at] { return Failure{at, "this calibration has no end", "close it with '}'"}; };
  switch (token_.name) {
    case kWordPragma:
      node.kind = NodeKind::kPragma;
      lexer_.skip_line();
      break;
    case kWordDefcalgrammar:
      advance();
      expect(TokenKind::kString, "the name of a grammar in quotes");
      semicolon("the grammar's name");
      return tree_.add(node);
    case kWordCal:
      advance();
      if (token_.kind != TokenKind::kLeftBrace) fail_expected("'{' after 'cal'");
      if (!lexer_.skip_braces()) throw unclosed();
      break;
    default:
      advance();
      if (token_.kind != TokenKind::kIdentifier && token_.kind != TokenKind::kWord) fail_expected("what is calibrated");
      node.name = token_.name;
      node.a = calibration_head();
      if (!lexer_.skip_braces()) throw unclosed();
      break;
  }
  advance();
  return tree_.add(node);
}

// Up to the '{' of a defcal; at most one result is named. Returns the physical qubits that are.
NodeId Parser::calibration_head() {
  int results = 0;
  ListMaker qubits(tree_);
  while (token_.kind != TokenKind::kLeftBrace) {
    if (token_.kind == TokenKind::kArrow) ++results;
    if (results > 1 || at_end()) fail_expected("'{'");
    if (token_.kind == TokenKind::kPhysical) {
      qubits.add(primary());
    } else {
      advance();
    }
  }
  return qubits.first();
}

NodeId Parser::box() {
  Node node = make(NodeKind::kBox);
  advance();
  node.a = designator();
  node.b = block();
  return tree_.add(node);
}

}  // namespace qsim::qasm3
