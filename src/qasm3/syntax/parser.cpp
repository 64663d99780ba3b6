// Statements, their dispatch, and recovery after errors.
#include "qasm3/syntax/parser.h"

#include "qasm3/syntax/nesting.h"

namespace qsim::qasm3 {

using qasm::quoted;

void Parser::advance() {
  const Token token = lexer_.next();
  token_ = token;
  if (token.kind == TokenKind::kBad) throw lexer_.failure(token);
}

bool Parser::accept(TokenKind kind) {
  if (token_.kind != kind) return false;
  advance();
  return true;
}

bool Parser::accept_word(Word word) {
  if (!is_word(word)) return false;
  advance();
  return true;
}

Token Parser::expect(TokenKind kind, const char* what) {
  if (token_.kind != kind) fail_expected(what);
  const Token taken = token_;
  advance();
  return taken;
}

void Parser::expect_word(Word word, const char* what) {
  if (!accept_word(word)) fail_expected(what);
}

Name Parser::expect_name(const char* what) {
  if (token_.kind == TokenKind::kWord) fail_expected(what, quoted(names_.text(token_.name)) + " is a reserved word");
  return expect(TokenKind::kIdentifier, what).name;
}

void Parser::fail_expected(const std::string& what, std::string hint) const {
  const std::string found = at_end() ? "the end of the file" : quoted(lexer_.view(token_), 40);
  throw Failure{token_.offset, "expected " + what + ", found " + found, std::move(hint)};
}

// The end of a statement is checked before it takes effect.
void Parser::semicolon(const char* after) {
  if (token_.kind != TokenKind::kSemicolon) fail_expected("';' after " + std::string(after));
  advance();
}

Node Parser::make(NodeKind kind) const {
  Node node;
  node.kind = kind;
  node.at = first_ + token_.offset;
  node.line = token_.line;
  return node;
}

NodeId Parser::text_node(NodeKind kind) {
  Node node = make(kind);
  node.a = token_.length;
  advance();
  return tree_.add(node);
}

std::string_view Parser::version() {
  if (!is_word(kWordOpenQasm)) return {};
  advance();
  if (token_.kind != TokenKind::kReal && token_.kind != TokenKind::kInteger) {
    fail_expected("a version number such as 3.0");
  }
  const std::string_view text = lexer_.view(token_);
  advance();
  semicolon("the version");
  return text;
}

NodeId Parser::statement() {
  open_blocks_ = 0;
  depth_ = 0;
  return statement_or_block();
}

NodeId Parser::lone_value() {
  const NodeId value = value_of("a value");
  if (!at_end()) fail_expected("the end of the value");
  return value;
}

NodeId Parser::statement_or_block() {
  const Nesting guard(depth_, token_.offset);
  switch (token_.kind) {
    case TokenKind::kWord:
      return word_statement();
    case TokenKind::kIdentifier:
      return name_statement();
    case TokenKind::kSemicolon:
      advance();
      return 0;
    case TokenKind::kLeftBrace:
      return block();
    case TokenKind::kAt:
      return annotation();
    case TokenKind::kRightBrace:
      throw Failure{token_.offset, "'}' without its '{'", ""};
    case TokenKind::kEnd:
      fail_expected("a statement");
    default: {
      Node node = make(NodeKind::kExpression);
      node.a = expression();
      semicolon("the expression");
      return tree_.add(node);
    }
  }
}

// What begins with a reserved word.
NodeId Parser::word_statement() {
  if (at_type()) return declaration(0);
  switch (token_.name) {
    case kWordOpenQasm:
      throw Failure{token_.offset, "the version statement must come first", ""};
    case kWordConst:
      advance();
      return declaration(kConst);
    case kWordInput:
      advance();
      return declaration(kInput);
    case kWordOutput:
      advance();
      return declaration(kOutput);
    case kWordQubit:
      return declaration(0);
    case kWordQreg:
    case kWordCreg:
      return old_register();
    case kWordLet:
      return alias();
    case kWordIf:
      return if_statement();
    case kWordFor:
      return for_statement();
    case kWordWhile:
      return while_statement();
    case kWordSwitch:
      return switch_statement();
    case kWordGate:
      return gate_definition();
    case kWordDef:
      return subroutine();
    case kWordExtern:
      return extern_declaration();
    case kWordBox:
      return box();
    case kWordDefcalgrammar:
    case kWordCal:
    case kWordDefcal:
    case kWordPragma:
      return calibration();
    case kWordInclude:
      return include();
    case kWordElse:
      throw Failure{token_.offset, "'else' without its 'if'", ""};
    default:
      return quantum_word();
  }
}

NodeId Parser::include() {
  advance();
  Node node = make(NodeKind::kInclude);
  node.a = token_.length;
  expect(TokenKind::kString, "a file name in quotes");
  semicolon("the file name");
  return tree_.add(node);
}

NodeId Parser::quantum_word() {
  const auto alone = [this](NodeKind kind, const char* what) {
    const Node node = make(kind);
    advance();
    semicolon(what);
    return tree_.add(node);
  };
  switch (token_.name) {
    case kWordBreak:
      return alone(NodeKind::kBreak, "'break'");
    case kWordContinue:
      return alone(NodeKind::kContinue, "'continue'");
    case kWordEnd:
      return alone(NodeKind::kEnd, "'end'");
    case kWordGphase:
    case kWordInv:
    case kWordPow:
    case kWordCtrl:
    case kWordNegctrl: {
      const Node start = make(NodeKind::kGateCall);
      return gate_call(start, modifiers());
    }
    case kWordMeasure:
      return measure_statement();
    default:
      return statement_with_operands();
  }
}

// measure q; measure q -> c;
NodeId Parser::measure_statement() {
  Node node = make(NodeKind::kExpression);
  node.a = measure();
  if (accept(TokenKind::kArrow)) {
    node.kind = NodeKind::kAssign;
    node.b = node.a;
    node.a = operand();
  }
  semicolon("the measurement");
  return tree_.add(node);
}

NodeId Parser::statement_with_operands() {
  Node node = make(NodeKind::kReset);
  const Name word = token_.name;
  switch (word) {
    case kWordReturn:
      node.kind = NodeKind::kReturn;
      advance();
      if (token_.kind != TokenKind::kSemicolon) node.a = value_of("a value");
      break;
    case kWordReset:
      advance();
      node.a = operand();
      break;
    case kWordBarrier:
    case kWordNop:
      node.kind = word == kWordBarrier ? NodeKind::kBarrier : NodeKind::kNop;
      advance();
      if (token_.kind != TokenKind::kSemicolon) node.a = operands();
      break;
    case kWordDelay:
      node.kind = NodeKind::kDelay;
      advance();
      node.a = designator();
      if (node.a == 0) fail_expected("'[' and a duration");
      if (token_.kind != TokenKind::kSemicolon) node.b = operands();
      break;
    default:
      node.kind = NodeKind::kExpression;  // true, durationof, ...
      node.a = expression();
      break;
  }
  semicolon("the statement");
  return tree_.add(node);
}

// @keyword and the rest of its line; the statement that it belongs to follows.
NodeId Parser::annotation() {
  while (token_.kind == TokenKind::kAt) {
    lexer_.skip_line();
    advance();
  }
  return statement_or_block();
}

NodeId Parser::block() {
  Node node = make(NodeKind::kBlock);
  expect(TokenKind::kLeftBrace, "'{'");
  ++open_blocks_;
  ListMaker list(tree_);
  while (token_.kind != TokenKind::kRightBrace) {
    if (at_end()) fail_expected("'}'");
    if (const NodeId statement = statement_or_block(); statement != 0) list.add(statement);
  }
  advance();
  --open_blocks_;
  node.a = list.first();
  return tree_.add(node);
}

// What a condition or a loop governs: always a block in the tree.
NodeId Parser::body() {
  if (token_.kind == TokenKind::kLeftBrace) return block();
  Node node = make(NodeKind::kBlock);
  if (token_.kind == TokenKind::kSemicolon) fail_expected("a statement or a block");
  node.a = statement_or_block();
  return tree_.add(node);
}

// name ... : a gate, a subroutine, an assignment or an expression.
NodeId Parser::name_statement() {
  const Node start = make(NodeKind::kGateCall);
  Node name = make(NodeKind::kName);
  name.name = token_.name;
  advance();
  if (token_.kind == TokenKind::kIdentifier || token_.kind == TokenKind::kPhysical) {
    Node call = start;
    call.name = name.name;
    call.c = operands();
    semicolon("the gate's qubits");
    return tree_.add(call);
  }
  NodeId left = 0;
  if (token_.kind == TokenKind::kLeftParen) {
    name.kind = NodeKind::kCall;
    advance();
    name.a = expression_list(TokenKind::kRightParen);
    if (token_.kind == TokenKind::kIdentifier || token_.kind == TokenKind::kPhysical) {
      Node call = start;
      call.flags = kCalled;
      call.name = name.name;
      call.b = name.a;
      call.c = operands();
      semicolon("the gate's qubits");
      return tree_.add(call);
    }
  }
  left = postfix_of(tree_.add(name));
  if (token_.kind == TokenKind::kAssign || token_.kind == TokenKind::kAssignBinary) return assignment(start, left);
  Node node = start;
  node.kind = NodeKind::kExpression;
  node.a = continue_expression(left, 0);
  semicolon(tree_[left].kind == NodeKind::kName ? "the name" : "the expression");
  return tree_.add(node);
}

NodeId Parser::assignment(const Node& start, NodeId target) {
  if (tree_[target].kind != NodeKind::kName && tree_[target].kind != NodeKind::kIndex) {
    throw Failure{tree_[target].at - first_, "only a variable can be assigned to", ""};
  }
  Node node = start;
  node.kind = NodeKind::kAssign;
  node.a = target;
  if (token_.kind == TokenKind::kAssignBinary) {
    node.flags = kCompound;
    node.op = token_.op;
  }
  advance();
  node.b = value_of("a value");
  semicolon("the assignment");
  return tree_.add(node);
}

void Parser::recover(std::uint32_t mark) {
  int open = open_blocks_;
  for (TokenKind kind = token_.kind; kind != TokenKind::kEnd; kind = token_.kind) {
    const bool begins = kind == TokenKind::kWord && token_.name < kWordInv && token_.name != kWordElse &&
                        token_.name != kWordIn && token_.name != kWordCase && token_.name != kWordDefault;
    if (open == 0 && begins && token_.offset >= mark) return;
    if (kind == TokenKind::kLeftBrace) ++open;
    if (kind == TokenKind::kRightBrace && open > 0) --open;
    token_ = lexer_.next();
    if (open == 0 && (kind == TokenKind::kSemicolon || kind == TokenKind::kRightBrace)) return;
  }
}

}  // namespace qsim::qasm3
