// Types and declarations.
#include "qasm3/syntax/parser.h"

namespace qsim::qasm3 {

using qasm::quoted;

bool Parser::at_type() const {
  if (token_.kind != TokenKind::kWord) return false;
  return token_.name >= kWordBool && token_.name <= kWordStretch && token_.name != kWordVoid;
}

// [size], or none.
NodeId Parser::designator() {
  if (!accept(TokenKind::kLeftBracket)) return 0;
  const NodeId size = expression();
  expect(TokenKind::kRightBracket, "']'");
  return size;
}

NodeId Parser::type() {
  if (is_word(kWordArray)) return array_type();
  Node node = make(NodeKind::kType);
  node.word = static_cast<std::uint8_t>(token_.name);
  const std::string word(names_.text(token_.name));
  advance();
  if (token_.kind != TokenKind::kLeftBracket) return tree_.add(node);
  switch (node.word) {
    case kWordBool:
    case kWordDuration:
    case kWordStretch:
      throw Failure{token_.offset, quoted(word) + " has no size", ""};
    case kWordComplex:
      advance();
      if (!is_word(kWordFloat) && !is_word(kWordInt)) fail_expected("float[n] as the type of the parts");
      node.b = type();
      expect(TokenKind::kRightBracket, "']'");
      break;
    default:
      node.a = designator();
      break;
  }
  return tree_.add(node);
}

// array[type, sizes...] or array[type, #dim = n]
NodeId Parser::array_type() {
  Node node = make(NodeKind::kType);
  node.word = kWordArray;
  advance();
  expect(TokenKind::kLeftBracket, "'[' and the type of the elements");
  const bool scalar = at_type() && !is_word(kWordArray) && !is_word(kWordStretch);
  if (!scalar) fail_expected("the type of the elements");
  node.b = type();
  expect(TokenKind::kComma, "',' and the array's sizes");
  if (accept_word(kWordDim)) {
    node.flags = kDimCount;
    expect(TokenKind::kAssign, "'=' after '#dim'");
    node.c = expression();
    expect(TokenKind::kRightBracket, "']'");
    return tree_.add(node);
  }
  if (token_.kind == TokenKind::kRightBracket) fail_expected("the array's size");
  node.c = expression_list(TokenKind::kRightBracket);
  return tree_.add(node);
}

NodeId Parser::array_literal() {
  Node node = make(NodeKind::kArrayLiteral);
  expect(TokenKind::kLeftBrace, "'{'");
  ListMaker list(tree_);
  while (token_.kind != TokenKind::kRightBrace) {
    list.add(token_.kind == TokenKind::kLeftBrace ? array_literal() : expression());
    if (token_.kind != TokenKind::kRightBrace && !accept(TokenKind::kComma)) fail_expected("',' or '}'");
  }
  advance();
  node.a = list.first();
  return tree_.add(node);
}

// The right side of '=': a measurement, an array or an expression.
NodeId Parser::value_of(const char* what) {
  if (is_word(kWordMeasure)) return measure();
  if (token_.kind == TokenKind::kLeftBrace) return array_literal();
  if (token_.kind == TokenKind::kSemicolon) fail_expected(what);
  const NodeId value = expression();
  if (is_word(kWordMeasure)) fail_expected("';'", "a measurement stands alone on the right of '='");
  return value;
}

NodeId Parser::declaration(std::uint8_t flags) {
  Node node = make(NodeKind::kDeclare);
  node.flags = flags;
  const bool quantum = is_word(kWordQubit);
  if (quantum ? flags != 0 : !at_type()) fail_expected("the type of a variable");
  node.a = type();
  if ((tree_[node.a].flags & kDimCount) != 0) {
    throw Failure{tree_[node.a].at - first_, "'#dim' says the sizes of an argument, not of a variable", ""};
  }
  node.name = expect_name("the variable's name");
  if (token_.kind == TokenKind::kLeftBracket && !quantum) {
    fail_expected("'=' or ';'", "the size belongs to the type, as in int[8] name");
  }
  const bool may_have_value = !quantum && flags != kInput && tree_[node.a].word != kWordStretch;
  if (flags == kConst && token_.kind != TokenKind::kAssign) fail_expected("'=' and the value of the constant");
  if (may_have_value && accept(TokenKind::kAssign)) node.b = value_of("the value");
  semicolon("the declaration");
  return tree_.add(node);
}

// qreg name[size]; creg name[size];
NodeId Parser::old_register() {
  Node node = make(NodeKind::kDeclare);
  Node type = make(NodeKind::kType);
  type.word = static_cast<std::uint8_t>(is_word(kWordQreg) ? kWordQubit : kWordBit);
  advance();
  node.name = expect_name("the register's name");
  type.a = designator();
  node.a = tree_.add(type);
  semicolon("the declaration");
  return tree_.add(node);
}

NodeId Parser::alias() {
  Node node = make(NodeKind::kAlias);
  advance();
  node.name = expect_name("the alias's name");
  expect(TokenKind::kAssign, "'='");
  node.a = expression();
  while (token_.kind == TokenKind::kConcat) {
    Node both = make(NodeKind::kConcat);
    advance();
    both.a = node.a;
    both.b = expression();
    node.a = tree_.add(both);
  }
  semicolon("the alias");
  return tree_.add(node);
}

}  // namespace qsim::qasm3
