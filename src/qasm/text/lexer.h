// Tokens of OpenQASM 2.0: views into the source text, nothing copied.
#pragma once

#include <cstdint>
#include <string_view>

#include "qasm/text/source.h"

namespace qsim::qasm {

enum class TokenKind : std::uint8_t {
  kEnd,
  kBad,  // not a token of the language: Lexer::failure says why
  kIdentifier,
  kInteger,
  kReal,
  kString,  // with its quotes
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kSemicolon,
  kArrow,
  kEqual,
  kPlus,
  kMinus,
  kTimes,
  kDivide,
  kPower,
  // Reserved words; those that begin a statement come first.
  kOpenQasm,
  kInclude,
  kQreg,
  kCreg,
  kGate,
  kOpaque,
  kBarrier,
  kMeasure,
  kReset,
  kIf,
  kBuiltinU,
  kBuiltinCx,
  kPi,
  kSin,
  kCos,
  kTan,
  kExp,
  kLn,
  kSqrt,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t line = 1;
};

/// Reads one source. Never throws: what is not a token comes as kBad, so that skipping over rubbish is fast.
class Lexer {
 public:
  explicit Lexer(const Source& source);

  Token next();
  std::string_view view(const Token& token) const { return text_.substr(token.offset, token.length); }
  /// What is wrong with a kBad token.
  Failure failure(const Token& bad) const;

 private:
  bool skip_blanks();
  Token finish(TokenKind kind, std::uint32_t begin) const { return {kind, begin, at_ - begin, line_}; }
  Token number(std::uint32_t begin);
  Token string(std::uint32_t begin);
  Token symbol(std::uint32_t begin);

  std::string_view text_;
  std::uint32_t at_ = 0;
  std::uint32_t line_ = 1;
};

/// One token of look-ahead over a lexer, with the questions that a parser asks.
class TokenStream {
 public:
  explicit TokenStream(const Source& source) : lexer_(source) {}

  const Token& token() const { return token_; }
  TokenKind kind() const { return token_.kind; }
  std::string_view text() const { return lexer_.view(token_); }
  std::string_view text(const Token& token) const { return lexer_.view(token); }
  /// Steps to the next token; a Failure when it is not one, with the old token left in place.
  void advance() {
    const Token token = lexer_.next();
    if (token.kind == TokenKind::kBad) throw lexer_.failure(token);
    token_ = token;
  }
  /// Steps over anything, for recovery.
  void skip() { token_ = lexer_.next(); }
  [[noreturn]] void fail_bad() const { throw lexer_.failure(token_); }
  bool accept(TokenKind kind) {
    if (token_.kind != kind) return false;
    advance();
    return true;
  }
  /// Steps over `kind`, which the message calls `what`; anything else is a Failure.
  Token expect(TokenKind kind, const char* what) {
    if (token_.kind != kind) fail_expected(what);
    const Token taken = token_;
    advance();
    return taken;
  }
  [[noreturn]] void fail_expected(const std::string& what, std::string hint = {}) const;

 private:
  Lexer lexer_;
  Token token_{TokenKind::kSemicolon, 0, 0, 1};  // as if a statement had just ended
};

}  // namespace qsim::qasm
