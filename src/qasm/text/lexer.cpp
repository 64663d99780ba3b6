// Hand-written lexer: one table of byte classes, one switch.
#include "qasm/text/lexer.h"

#include <array>

namespace qsim::qasm {
namespace {

enum : std::uint8_t { kLetter = 1, kDigit = 2, kWord = 4 };  // kWord: may continue an identifier

constexpr std::array<std::uint8_t, 256> kClass = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = kLetter | kWord;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kDigit | kWord;
  table['_'] = kWord;
  return table;
}();

// Characters that are tokens by themselves.
constexpr std::array<TokenKind, 256> kSymbols = [] {
  std::array<TokenKind, 256> table;
  table.fill(TokenKind::kBad);
  table['('] = TokenKind::kLeftParen;
  table[')'] = TokenKind::kRightParen;
  table['['] = TokenKind::kLeftBracket;
  table[']'] = TokenKind::kRightBracket;
  table['{'] = TokenKind::kLeftBrace;
  table['}'] = TokenKind::kRightBrace;
  table[','] = TokenKind::kComma;
  table[';'] = TokenKind::kSemicolon;
  table['+'] = TokenKind::kPlus;
  table['-'] = TokenKind::kMinus;
  table['*'] = TokenKind::kTimes;
  table['/'] = TokenKind::kDivide;
  table['^'] = TokenKind::kPower;
  return table;
}();

bool has(char c, std::uint8_t mask) { return (kClass[static_cast<unsigned char>(c)] & mask) != 0; }

struct Keyword {
  std::string_view text;
  TokenKind kind;
};

TokenKind pick(std::string_view word, Keyword a, Keyword b = {}, Keyword c = {}) {
  for (const Keyword& keyword : {a, b, c}) {
    if (word == keyword.text) return keyword.kind;
  }
  return TokenKind::kIdentifier;
}

TokenKind keyword_or_identifier(std::string_view word) {
  if (word.size() < 2) return word == "U" ? TokenKind::kBuiltinU : TokenKind::kIdentifier;
  switch (word[0]) {
    case 'O':
      return pick(word, {"OPENQASM", TokenKind::kOpenQasm});
    case 'C':
      return pick(word, {"CX", TokenKind::kBuiltinCx});
    case 'b':
      return pick(word, {"barrier", TokenKind::kBarrier});
    case 'c':
      return pick(word, {"creg", TokenKind::kCreg}, {"cos", TokenKind::kCos});
    case 'e':
      return pick(word, {"exp", TokenKind::kExp});
    case 'g':
      return pick(word, {"gate", TokenKind::kGate});
    case 'i':
      return pick(word, {"if", TokenKind::kIf}, {"include", TokenKind::kInclude});
    case 'l':
      return pick(word, {"ln", TokenKind::kLn});
    case 'm':
      return pick(word, {"measure", TokenKind::kMeasure});
    case 'o':
      return pick(word, {"opaque", TokenKind::kOpaque});
    case 'p':
      return pick(word, {"pi", TokenKind::kPi});
    case 'q':
      return pick(word, {"qreg", TokenKind::kQreg});
    case 'r':
      return pick(word, {"reset", TokenKind::kReset});
    case 's':
      return pick(word, {"sin", TokenKind::kSin}, {"sqrt", TokenKind::kSqrt});
    case 't':
      return pick(word, {"tan", TokenKind::kTan});
    default:
      return TokenKind::kIdentifier;
  }
}

}  // namespace

Lexer::Lexer(const Source& source) : text_(source.text) {}

// False when a comment holds a NUL byte, and then stands at it.
bool Lexer::skip_blanks() {
  const auto size = static_cast<std::uint32_t>(text_.size());
  while (at_ < size) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
    } else if (c == '/' && at_ + 1 < size && text_[at_ + 1] == '/') {
      while (at_ < size && text_[at_] != '\n') {
        if (text_[at_] == '\0') return false;
        ++at_;
      }
      continue;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
      return true;
    }
    ++at_;
  }
  return true;
}

Token Lexer::next() {
  const bool good = skip_blanks();
  const std::uint32_t begin = at_;
  if (!good) {
    ++at_;
    return finish(TokenKind::kBad, begin);
  }
  if (at_ >= text_.size()) return finish(TokenKind::kEnd, begin);
  const char c = text_[at_];
  if (has(c, kLetter)) {
    while (at_ < text_.size() && has(text_[at_], kWord)) ++at_;
    Token token = finish(TokenKind::kIdentifier, begin);
    token.kind = keyword_or_identifier(view(token));
    if (token.kind == TokenKind::kIdentifier && c >= 'A' && c <= 'Z') token.kind = TokenKind::kBad;
    return token;
  }
  if (has(c, kDigit) || (c == '.' && at_ + 1 < text_.size() && has(text_[at_ + 1], kDigit))) return number(begin);
  if (c == '"' || c == '\'') return string(begin);
  return symbol(begin);
}

Token Lexer::number(std::uint32_t begin) {
  const auto digits = [this] {
    const std::uint32_t first = at_;
    while (at_ < text_.size() && has(text_[at_], kDigit)) ++at_;
    return at_ - first;
  };
  TokenKind kind = TokenKind::kInteger;
  bool good = true;
  const std::uint32_t whole = digits();
  if (at_ < text_.size() && text_[at_] == '.') {
    kind = TokenKind::kReal;
    ++at_;
    digits();
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    kind = TokenKind::kReal;
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    good = digits() > 0;
  }
  if (kind == TokenKind::kInteger && whole > 1 && text_[begin] == '0') good = false;
  // A number ends at a word boundary: 2.0a and 1.2.3 are not two tokens.
  while (at_ < text_.size() && (has(text_[at_], kWord) || text_[at_] == '.')) {
    ++at_;
    good = false;
  }
  return finish(good ? kind : TokenKind::kBad, begin);
}

Token Lexer::string(std::uint32_t begin) {
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n' && text_[at_] != '\0') ++at_;
  if (at_ < text_.size() && text_[at_] == quote) {
    ++at_;
    return finish(TokenKind::kString, begin);
  }
  if (at_ < text_.size() && text_[at_] == '\0') begin = at_++;
  return finish(TokenKind::kBad, begin);
}

Token Lexer::symbol(std::uint32_t begin) {
  const char c = text_[at_], following = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  TokenKind kind = kSymbols[static_cast<unsigned char>(c)];
  if (c == '-' && following == '>') kind = TokenKind::kArrow;
  if (c == '=' && following == '=') kind = TokenKind::kEqual;
  at_ += kind == TokenKind::kArrow || kind == TokenKind::kEqual ? 2 : 1;
  return finish(kind, begin);
}

Failure Lexer::failure(const Token& bad) const {
  const std::string_view text = view(bad);
  const char c = text.front();
  if (c == '\0') {
    return {bad.offset, "NUL byte: this is not a text file", "OpenQASM is read as UTF-8 or ASCII text",
            ExitCode::kCircuit, true};
  }
  if (has(c, kLetter)) {
    NearestName nearest(text);
    for (const std::string_view word : {"OPENQASM", "CX", "U"}) nearest.offer(word);
    return {bad.offset, "names begin with a small letter; found " + quoted(text), nearest.hint()};
  }
  if (has(c, kDigit) || text.size() > 1) {
    if (c == '"' || c == '\'') {
      return {bad.offset, "this string has no closing " + std::string(1, c) + " on its line", ""};
    }
    return {bad.offset, "malformed number " + quoted(text), ""};
  }
  if (c == '"' || c == '\'') return {bad.offset, "a quote without its partner", ""};
  return {bad.offset, "unexpected character " + quoted(text), c == '=' ? "did you mean '=='?" : ""};
}

void TokenStream::fail_expected(const std::string& what, std::string hint) const {
  const std::string found = kind() == TokenKind::kEnd ? "the end of the file" : quoted(text(), 40);
  throw Failure{token_.offset, "expected " + what + ", found " + found, std::move(hint)};
}

}  // namespace qsim::qasm
