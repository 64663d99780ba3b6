// Tokens of OpenQASM 3: views into the source text, nothing copied.
#pragma once

#include <cstdint>
#include <string_view>

#include "classical/classical.h"
#include "qasm/text/source.h"
#include "qasm3/syntax/names.h"

namespace qsim::qasm3 {

using qasm::Failure;
using qasm::Source;

enum class TokenKind : std::uint8_t {
  kEnd,
  kBad,   // not a token of the language: Lexer::failure says why
  kWord,  // reserved: Token::name
  kIdentifier,
  kInteger,
  kReal,
  kImaginary,  // with its "im"
  kTime,       // with its unit
  kString,     // with its quotes; of 0, 1 and _ alone it is a bit string
  kPhysical,   // $n
  kLeftParen,
  kRightParen,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kComma,
  kColon,
  kSemicolon,
  kArrow,
  kAt,
  kConcat,        // ++
  kAssign,        // =
  kAssignBinary,  // += and so on: Token::op
  kOperator,      // Token::op; minus and plus too
  kDot,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Operator op = Operator::kOr;
  std::uint32_t offset = 0;  // in its source
  std::uint32_t length = 0;
  std::uint32_t line = 1;
  Name name = kNoName;  // kWord, kIdentifier
};

/// Reads one source. Never throws: what is not a token comes as kBad.
class Lexer {
 public:
  Lexer(std::string_view text, Names& names) : text_(text), names_(&names) {}

  Token next();
  std::string_view view(const Token& token) const { return text_.substr(token.offset, token.length); }
  Failure failure(const Token& bad) const;

  /// Steps to the end of the line, which becomes part of no token.
  void skip_line();
  /// Steps behind the '}' that closes a '{' already read; false at the end of the text.
  bool skip_braces();

 private:
  bool skip_blanks();
  Token finish(TokenKind kind, std::uint32_t begin) const;
  Token word(std::uint32_t begin);
  Token number(std::uint32_t begin);
  bool digits(int base);
  void unit(TokenKind& kind);
  Token string(std::uint32_t begin);
  Token symbol(std::uint32_t begin);
  Token directive(std::uint32_t begin);
  Token operator_sign(std::uint32_t begin);
  std::uint32_t letter_at(std::uint32_t at) const;
  char at(std::uint32_t place) const { return place < text_.size() ? text_[place] : '\0'; }

  std::string_view text_;
  Names* names_;
  std::uint32_t at_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace qsim::qasm3
