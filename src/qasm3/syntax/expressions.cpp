// Expressions: operators by their strength, chains of one strength are loops; index operators, calls, gate calls.
#include <array>
#include <charconv>

#include "qasm3/syntax/nesting.h"
#include "qasm3/syntax/parser.h"

namespace qsim::qasm3 {
namespace {

using qasm::quoted;

// By operator, up to kModulo; larger binds tighter. Powers and signs are handled apart.
constexpr std::array<int, static_cast<std::size_t>(Operator::kModulo) + 1> kStrength = {1, 2, 3, 4, 5, 6, 6,  7,  7,
                                                                                        7, 7, 8, 8, 9, 9, 10, 10, 10};

}  // namespace

NodeId Parser::expression(int strength) { return continue_expression(unary(), strength); }

// Takes in the binary operators of more than `strength` that follow `left`.
NodeId Parser::continue_expression(NodeId left, int strength) {
  while (token_.kind == TokenKind::kOperator) {
    Node node = make(NodeKind::kBinary);
    node.op = token_.op;
    if (node.op == Operator::kPower) {  // after a postfix expression that was read alone
      const Nesting guard(depth_, token_.offset);
      advance();
      node.a = left;
      node.b = unary();
      left = tree_.add(node);
      continue;
    }
    if (node.op > Operator::kModulo) break;
    const int own = kStrength[static_cast<std::size_t>(node.op)];
    if (own <= strength) break;
    const Nesting guard(depth_, token_.offset);
    advance();
    node.a = left;
    node.b = expression(own);
    left = tree_.add(node);
  }
  return left;
}

// Signs bind weaker than a power on their right: -2 ** 2 is -(2 ** 2).
NodeId Parser::unary() {
  const bool minus = is_sign(Operator::kSubtract), plus = is_sign(Operator::kAdd);
  if (!minus && !plus && !is_sign(Operator::kNot) && !is_sign(Operator::kInvert)) {
    const NodeId base = postfix();
    if (!is_sign(Operator::kPower)) return base;
    const Nesting guard(depth_, token_.offset);
    Node node = make(NodeKind::kBinary);
    node.op = Operator::kPower;
    advance();
    node.a = base;
    node.b = unary();
    return tree_.add(node);
  }
  const Nesting guard(depth_, token_.offset);
  Node node = make(NodeKind::kUnary);
  node.op = minus ? Operator::kNegate : token_.op;
  advance();
  node.a = unary();
  return plus ? node.a : tree_.add(node);
}

NodeId Parser::postfix() { return postfix_of(primary()); }

NodeId Parser::postfix_of(NodeId base) {
  while (token_.kind == TokenKind::kLeftBracket) {
    Node node = make(NodeKind::kIndex);
    node.at = tree_[base].at;
    advance();
    node.a = base;
    if (token_.kind == TokenKind::kLeftBrace) {
      node.b = set();
      expect(TokenKind::kRightBracket, "']'");
    } else {
      ListMaker items(tree_);
      do {
        if (token_.kind == TokenKind::kRightBracket) break;
        items.add(range_or_expression());
      } while (accept(TokenKind::kComma));
      if (items.first() == 0) fail_expected("an index");
      expect(TokenKind::kRightBracket, "']'");
      node.b = items.first();
    }
    base = tree_.add(node);
  }
  return base;
}

NodeId Parser::range_or_expression() {
  Node node = make(NodeKind::kRange);
  if (token_.kind != TokenKind::kColon) {
    const NodeId first = expression();
    if (token_.kind != TokenKind::kColon) return first;
    node.a = first;
  }
  advance();
  const auto ends = [this] { return token_.kind == TokenKind::kRightBracket || token_.kind == TokenKind::kComma; };
  if (!ends() && token_.kind != TokenKind::kColon) node.c = expression();
  if (accept(TokenKind::kColon)) {  // start : step : stop
    node.b = node.c;
    node.c = ends() ? 0 : expression();
  }
  return tree_.add(node);
}

NodeId Parser::set() {
  Node node = make(NodeKind::kSet);
  expect(TokenKind::kLeftBrace, "'{'");
  node.a = expression_list(TokenKind::kRightBrace);
  if (node.a == 0) throw Failure{node.at - first_, "a set needs values", ""};
  return tree_.add(node);
}

// Expressions up to `close`, a comma before it allowed; `close` is taken in unless it begins a block.
NodeId Parser::expression_list(TokenKind close) {
  ListMaker list(tree_);
  while (token_.kind != close) {
    list.add(expression());
    if (token_.kind != close && !accept(TokenKind::kComma)) fail_expected("',' or the end of the list");
  }
  if (close != TokenKind::kLeftBrace) advance();
  return list.first();
}

NodeId Parser::primary() {
  switch (token_.kind) {
    case TokenKind::kInteger:
      return text_node(NodeKind::kInteger);
    case TokenKind::kReal:
      return text_node(NodeKind::kReal);
    case TokenKind::kImaginary:
      return text_node(NodeKind::kImaginary);
    case TokenKind::kTime:
      return text_node(NodeKind::kTime);
    case TokenKind::kString: {
      const std::string_view text = lexer_.view(token_);
      if (text.size() < 3 || text.find_first_not_of("01_", 1) != text.size() - 1) {
        fail_expected("an expression", "a bit string holds 0 and 1 alone");
      }
      return text_node(NodeKind::kBitString);
    }
    case TokenKind::kPhysical: {
      Node node = make(NodeKind::kPhysical);
      const std::string_view digits = lexer_.view(token_).substr(1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), node.a);
      if (error != std::errc{}) throw Failure{token_.offset, "physical qubit " + quoted(digits) + " is too large", ""};
      advance();
      return tree_.add(node);
    }
    case TokenKind::kIdentifier:
      return call_or_name();
    case TokenKind::kLeftParen: {
      const Nesting guard(depth_, token_.offset);
      advance();
      const NodeId inner = expression();
      expect(TokenKind::kRightParen, "')'");
      return inner;
    }
    case TokenKind::kWord:
      return word_primary();
    default:
      fail_expected("an expression");
  }
}

// true, durationof, pow as a function, casts.
NodeId Parser::word_primary() {
  if (is_word(kWordTrue) || is_word(kWordFalse)) {
    Node node = make(NodeKind::kTruth);
    node.a = is_word(kWordTrue) ? 1 : 0;
    advance();
    return tree_.add(node);
  }
  if (is_word(kWordDurationof)) {
    Node node = make(NodeKind::kDurationOf);
    advance();
    expect(TokenKind::kLeftParen, "'(' after 'durationof'");
    node.a = block();
    expect(TokenKind::kRightParen, "')'");
    return tree_.add(node);
  }
  if (is_word(kWordPow)) return call_or_name();
  if (at_type()) {
    const Nesting guard(depth_, token_.offset);
    Node node = make(NodeKind::kCast);
    node.a = type();
    expect(TokenKind::kLeftParen, "'(' and the value to convert");
    node.b = expression();
    expect(TokenKind::kRightParen, "')'");
    return tree_.add(node);
  }
  fail_expected("an expression");
}

NodeId Parser::call_or_name() {
  Node node = make(NodeKind::kName);
  node.name = token_.name;
  advance();
  if (token_.kind == TokenKind::kLeftParen) {
    const Nesting guard(depth_, token_.offset);
    advance();
    node.kind = NodeKind::kCall;
    node.a = expression_list(TokenKind::kRightParen);
  } else if (node.name == kWordPow) {
    fail_expected("'(' after 'pow'");
  }
  return tree_.add(node);
}

NodeId Parser::measure() {
  Node node = make(NodeKind::kMeasure);
  advance();
  node.a = operand();
  return tree_.add(node);
}

// A qubit, a register, or part of one.
NodeId Parser::operand() {
  if (token_.kind == TokenKind::kPhysical) return primary();
  Node node = make(NodeKind::kName);
  node.name = expect_name("a qubit or a register");
  return postfix_of(tree_.add(node));
}

NodeId Parser::operands() {
  ListMaker list(tree_);
  do {
    if (token_.kind == TokenKind::kSemicolon) break;
    list.add(operand());
  } while (accept(TokenKind::kComma));
  return list.first();
}

NodeId Parser::modifiers() {
  ListMaker list(tree_);
  while (token_.kind == TokenKind::kWord && token_.name >= kWordInv && token_.name <= kWordNegctrl) {
    Node node = make(NodeKind::kModifier);
    node.word = static_cast<std::uint8_t>(token_.name);
    advance();
    if (token_.kind == TokenKind::kLeftParen) {
      if (node.word == kWordInv) fail_expected("'@' after 'inv'");
      advance();
      node.a = expression();
      expect(TokenKind::kRightParen, "')'");
    } else if (node.word == kWordPow) {
      fail_expected("'(' and the exponent after 'pow'");
    }
    expect(TokenKind::kAt, "'@' after the modifier");
    list.add(tree_.add(node));
  }
  return list.first();
}

NodeId Parser::gate_call(const Node& start, NodeId modifiers) {
  Node node = start;
  node.a = modifiers;
  if (is_word(kWordGphase)) {
    node.name = kWordGphase;
    advance();
  } else {
    node.name = expect_name("a gate's name");
  }
  if (accept(TokenKind::kLeftParen)) {
    node.flags = kCalled;
    node.b = expression_list(TokenKind::kRightParen);
  }
  node.c = operands();
  semicolon("the gate");
  return tree_.add(node);
}

}  // namespace qsim::qasm3
