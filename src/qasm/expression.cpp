// Expressions: precedence levels + -, * /, unary, ^ (right associative); chains of + - * / are loops, not recursion.
#include <charconv>
#include <cmath>
#include <numbers>

#include "qasm/syntax.h"

namespace qsim::qasm {
namespace {

bool is_binary(ExpressionKind kind) { return kind >= ExpressionKind::kAdd && kind <= ExpressionKind::kPower; }

double apply(ExpressionKind kind, double a, double b) {
  switch (kind) {
    case ExpressionKind::kNegate:
      return -a;
    case ExpressionKind::kAdd:
      return a + b;
    case ExpressionKind::kSubtract:
      return a - b;
    case ExpressionKind::kMultiply:
      return a * b;
    case ExpressionKind::kDivide:
      return a / b;
    case ExpressionKind::kPower:
      return std::pow(a, b);
    case ExpressionKind::kSin:
      return std::sin(a);
    case ExpressionKind::kCos:
      return std::cos(a);
    case ExpressionKind::kTan:
      return std::tan(a);
    case ExpressionKind::kExp:
      return std::exp(a);
    case ExpressionKind::kLn:
      return std::log(a);
    case ExpressionKind::kSqrt:
      return std::sqrt(a);
    case ExpressionKind::kNumber:
    case ExpressionKind::kParameter:
      break;
  }
  throw Error("an expression node without an operation was applied");
}

Failure not_finite(const Expression& node, double a, double b) {
  std::string why = "this value is not a finite number";
  if (node.kind == ExpressionKind::kDivide && b == 0) why = "division by zero";
  if (node.kind == ExpressionKind::kSqrt) why = "square root of a negative number (" + std::to_string(a) + ")";
  if (node.kind == ExpressionKind::kLn) why = "logarithm of a number that is not positive (" + std::to_string(a) + ")";
  return Failure{node.offset, why, ""};
}

// Counts nesting while a sub-expression is read.
class DepthGuard {
 public:
  DepthGuard(int& depth, const Token& at) : depth_(depth) {
    if (depth_ >= kMaxExpressionDepth) {
      throw Failure{at.offset, "expression nested deeper than " + std::to_string(kMaxExpressionDepth) + " levels", ""};
    }
    ++depth_;
  }
  ~DepthGuard() { --depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;

 private:
  int& depth_;
};

}  // namespace

double ExpressionArena::evaluate(ExpressionRange range, std::span<const double> parameters) {
  const Expression& root = nodes_[range.end - 1];
  if (root.kind == ExpressionKind::kNumber) return root.value;
  if (root.kind == ExpressionKind::kParameter) return parameters[root.lhs];
  values_.resize(range.end - range.begin);
  for (std::uint32_t i = range.begin; i < range.end; ++i) {
    const Expression& node = nodes_[i];
    double& value = values_[i - range.begin];
    if (node.kind == ExpressionKind::kNumber) {
      value = node.value;
    } else if (node.kind == ExpressionKind::kParameter) {
      value = parameters[node.lhs];
    } else {
      const double a = values_[node.lhs - range.begin];
      const double b = is_binary(node.kind) ? values_[node.rhs - range.begin] : 0;
      value = apply(node.kind, a, b);
      if (!std::isfinite(value)) throw not_finite(node, a, b);
    }
  }
  return values_.back();
}

ExpressionRange ExpressionParser::parse() {
  const std::uint32_t begin = arena_.size();
  sum();
  return {begin, arena_.size()};
}

std::uint32_t ExpressionParser::constant(std::uint32_t offset, double value) {
  return arena_.add({ExpressionKind::kNumber, offset, 0, 0, value});
}

// Adds an operator over nodes at the arena's end, or replaces them by their value when they are constants.
std::uint32_t ExpressionParser::combine(const Expression& node) {
  const Expression& left = arena_[node.lhs];
  const Expression& right = arena_[is_binary(node.kind) ? node.rhs : node.lhs];
  if (left.kind == ExpressionKind::kNumber && right.kind == ExpressionKind::kNumber) {
    const double a = left.value, b = right.value;
    const double value = apply(node.kind, a, b);
    if (std::isfinite(value)) {
      arena_.truncate(node.lhs);
      return constant(node.offset, value);
    }
    if (parameters_ == nullptr) throw not_finite(node, a, b);
  }
  return arena_.add(node);
}

std::uint32_t ExpressionParser::sum() {
  std::uint32_t lhs = product();
  while (stream_.kind() == TokenKind::kPlus || stream_.kind() == TokenKind::kMinus) {
    const auto kind = stream_.kind() == TokenKind::kPlus ? ExpressionKind::kAdd : ExpressionKind::kSubtract;
    const std::uint32_t offset = stream_.token().offset;
    stream_.advance();
    const std::uint32_t rhs = product();
    lhs = combine({kind, offset, lhs, rhs, 0});
  }
  return lhs;
}

std::uint32_t ExpressionParser::product() {
  std::uint32_t lhs = unary();
  while (stream_.kind() == TokenKind::kTimes || stream_.kind() == TokenKind::kDivide) {
    const auto kind = stream_.kind() == TokenKind::kTimes ? ExpressionKind::kMultiply : ExpressionKind::kDivide;
    const std::uint32_t offset = stream_.token().offset;
    stream_.advance();
    const std::uint32_t rhs = unary();
    lhs = combine({kind, offset, lhs, rhs, 0});
  }
  return lhs;
}

std::uint32_t ExpressionParser::unary() {
  if (stream_.kind() != TokenKind::kMinus && stream_.kind() != TokenKind::kPlus) return power();
  const DepthGuard guard(depth_, stream_.token());
  const std::uint32_t offset = stream_.token().offset;
  const bool negative = stream_.kind() == TokenKind::kMinus;
  stream_.advance();
  const std::uint32_t operand = unary();
  return negative ? combine({ExpressionKind::kNegate, offset, operand, 0, 0}) : operand;
}

std::uint32_t ExpressionParser::power() {
  const std::uint32_t base = primary();
  if (stream_.kind() != TokenKind::kPower) return base;
  const DepthGuard guard(depth_, stream_.token());
  const std::uint32_t offset = stream_.token().offset;
  stream_.advance();
  const std::uint32_t exponent = unary();  // right associative, and 2^-1 is allowed
  return combine({ExpressionKind::kPower, offset, base, exponent, 0});
}

std::uint32_t ExpressionParser::primary() {
  const Token token = stream_.token();
  switch (token.kind) {
    case TokenKind::kInteger:
    case TokenKind::kReal:
      return number();
    case TokenKind::kPi:
      stream_.advance();
      return constant(token.offset, std::numbers::pi);
    case TokenKind::kIdentifier:
      return identifier();
    case TokenKind::kSin:
      return function(ExpressionKind::kSin);
    case TokenKind::kCos:
      return function(ExpressionKind::kCos);
    case TokenKind::kTan:
      return function(ExpressionKind::kTan);
    case TokenKind::kExp:
      return function(ExpressionKind::kExp);
    case TokenKind::kLn:
      return function(ExpressionKind::kLn);
    case TokenKind::kSqrt:
      return function(ExpressionKind::kSqrt);
    case TokenKind::kLeftParen: {
      const DepthGuard guard(depth_, token);
      stream_.advance();
      const std::uint32_t inner = sum();
      stream_.expect(TokenKind::kRightParen, "')'");
      return inner;
    }
    default:
      stream_.fail_expected("an expression");
  }
}

std::uint32_t ExpressionParser::function(ExpressionKind kind) {
  const Token name = stream_.token();
  const DepthGuard guard(depth_, name);
  stream_.advance();
  stream_.expect(TokenKind::kLeftParen, "'(' after the function's name");
  const std::uint32_t argument = sum();
  stream_.expect(TokenKind::kRightParen, "')'");
  return combine({kind, name.offset, argument, 0, 0});
}

std::uint32_t ExpressionParser::identifier() {
  const Token token = stream_.token();
  const std::string_view name = stream_.text();
  if (parameters_ != nullptr) {
    if (const auto found = parameters_->find(name); found != parameters_->end()) {
      stream_.advance();
      return arena_.add({ExpressionKind::kParameter, token.offset, found->second, 0, 0});
    }
  }
  NearestName nearest(name);
  for (const std::string_view known : {"pi", "sin", "cos", "tan", "exp", "ln", "sqrt"}) nearest.offer(known);
  if (parameters_ != nullptr) {
    for (const auto& [known, index] : *parameters_) nearest.offer(known);
  }
  throw Failure{token.offset, "unknown name " + quoted(name) + " in an expression", nearest.hint()};
}

std::uint32_t ExpressionParser::number() {
  const Token token = stream_.token();
  const std::string_view text = stream_.text();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    throw Failure{token.offset, "number " + quoted(text, 40) + " is out of the range of double precision", ""};
  }
  stream_.advance();
  return constant(token.offset, value);
}

}  // namespace qsim::qasm
