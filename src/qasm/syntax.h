// Expressions of OpenQASM as tagged nodes in an arena: children stand before their parents, so evaluating is one walk
// over a range and freeing is nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "qasm/text/lexer.h"

namespace qsim::qasm {

constexpr int kMaxExpressionDepth = 256;

enum class ExpressionKind : std::uint8_t {
  kNumber,     // value
  kParameter,  // lhs = its position in the gate's parameter list
  kNegate,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kSin,
  kCos,
  kTan,
  kExp,
  kLn,
  kSqrt,
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kNumber;
  std::uint32_t offset = 0;        // in the source
  std::uint32_t lhs = 0, rhs = 0;  // nodes of the same arena
  double value = 0;
};

/// Nodes [begin, end); the last one is the root.
struct ExpressionRange {
  std::uint32_t begin = 0, end = 0;
};

class ExpressionArena {
 public:
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes_.size()); }
  const Expression& operator[](std::uint32_t node) const { return nodes_[node]; }
  std::uint32_t add(const Expression& node) {
    nodes_.push_back(node);
    return size() - 1;
  }
  void truncate(std::uint32_t count) { nodes_.resize(count); }
  /// The value of `range` with the gate's parameters bound. Throws Failure (at the node's offset) when a step is not
  /// a finite number.
  double evaluate(ExpressionRange range, std::span<const double> parameters);

 private:
  std::vector<Expression> nodes_;
  std::vector<double> values_;  // scratch of evaluate
};

using ParameterNames = std::unordered_map<std::string_view, std::uint32_t>;

/// Parses one expression at the stream's token into the arena. Constant parts are folded at once; a constant that is
/// not finite is an error outside of gate bodies (`parameters` null), inside it waits until the gate is applied.
class ExpressionParser {
 public:
  ExpressionParser(TokenStream& stream, ExpressionArena& arena, const ParameterNames* parameters)
      : stream_(stream), arena_(arena), parameters_(parameters) {}
  ExpressionRange parse();

 private:
  std::uint32_t sum();
  std::uint32_t product();
  std::uint32_t unary();
  std::uint32_t power();
  std::uint32_t primary();
  std::uint32_t function(ExpressionKind kind);
  std::uint32_t identifier();
  std::uint32_t number();
  std::uint32_t combine(const Expression& node);
  std::uint32_t constant(std::uint32_t offset, double value);

  TokenStream& stream_;
  ExpressionArena& arena_;
  const ParameterNames* parameters_;
  int depth_ = 0;
};

}  // namespace qsim::qasm
