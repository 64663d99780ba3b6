// Hand-written lexer of OpenQASM 3.
#include "qasm3/syntax/lexer.h"

#include <array>

namespace qsim::qasm3 {
namespace {

using qasm::quoted;

enum : std::uint8_t { kLetter = 1, kDigit = 2 };

constexpr std::array<std::uint8_t, 256> kClass = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = table[c - 'a' + 'A'] = kLetter;
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = kDigit;
  table['_'] = kLetter;
  return table;
}();

bool is_letter(char c) { return (kClass[static_cast<unsigned char>(c)] & kLetter) != 0; }
bool is_digit(char c) { return (kClass[static_cast<unsigned char>(c)] & kDigit) != 0; }
bool is_wide(char c) { return static_cast<unsigned char>(c) >= 0x80; }

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
  table[':'] = TokenKind::kColon;
  table[';'] = TokenKind::kSemicolon;
  table['.'] = TokenKind::kDot;
  table['@'] = TokenKind::kAt;
  return table;
}();

// Blocks of code points without letters: punctuation, symbols, private and unassigned planes.
struct CodeRange {
  std::uint32_t first, last;
};
constexpr CodeRange kNoLetters[] = {{0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb9},       {0xbb, 0xbf},
                                    {0xd7, 0xd7},     {0xf7, 0xf7},     {0x2000, 0x206f},   {0x20a0, 0x20cf},
                                    {0x2190, 0x2bff}, {0x3000, 0x3004}, {0xd800, 0xf8ff},   {0xfe00, 0xfe6f},
                                    {0xff00, 0xff20}, {0xfff0, 0xffff}, {0x1f000, 0x1faff}, {0xe0000, 0x10ffff}};

// Value of a hexadecimal digit, or 16.
int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

}  // namespace

Token Lexer::finish(TokenKind kind, std::uint32_t begin) const {
  Token token;
  token.kind = kind;
  token.offset = begin;
  token.length = at_ - begin;
  token.line = line_;
  return token;
}

// False at a block comment without end or a NUL byte, and then stands at it.
bool Lexer::skip_blanks() {
  const auto size = static_cast<std::uint32_t>(text_.size());
  while (at_ < size) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++at_;
    } else if (c == '/' && at(at_ + 1) == '/') {
      skip_line();
    } else if (c == '/' && at(at_ + 1) == '*') {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      for (; at_ < end; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
      at_ += 2;
    } else {
      return true;
    }
  }
  return true;
}

void Lexer::skip_line() {
  const std::size_t end = text_.find('\n', at_);
  at_ = static_cast<std::uint32_t>(end == std::string_view::npos ? text_.size() : end);
}

bool Lexer::skip_braces() {
  for (int open = 1; at_ < text_.size();) {
    const char c = text_[at_++];
    if (c == '\n') ++line_;
    if (c == '{') ++open;
    if (c == '}' && --open == 0) return true;
  }
  return false;
}

// Bytes of the letter beyond ASCII at `place`; 0 when there is none.
std::uint32_t Lexer::letter_at(std::uint32_t place) const {
  const auto first = static_cast<unsigned char>(at(place));
  const std::uint32_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4) return 0;
  std::uint32_t code = first & (0xffu >> (length + 1));
  for (std::uint32_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(at(place + i));
    if ((byte & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte & 0x3fu);
  }
  for (const CodeRange& range : kNoLetters) {
    if (code >= range.first && code <= range.last) return 0;
  }
  return length;
}

Token Lexer::next() {
  const bool good = skip_blanks();
  const std::uint32_t begin = at_;
  if (!good) {
    at_ = static_cast<std::uint32_t>(text_.size());
    return finish(TokenKind::kBad, begin);
  }
  if (at_ >= text_.size()) return finish(TokenKind::kEnd, begin);
  const char c = text_[at_];
  if (is_letter(c) || (is_wide(c) && letter_at(at_) != 0)) return word(begin);
  if (is_digit(c) || (c == '.' && is_digit(at(at_ + 1)))) return number(begin);
  if (c == '"' || c == '\'') return string(begin);
  return symbol(begin);
}

Token Lexer::word(std::uint32_t begin) {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is_letter(c) || is_digit(c)) {
      ++at_;
    } else if (const std::uint32_t bytes = is_wide(c) ? letter_at(at_) : 0; bytes != 0) {
      at_ += bytes;
    } else {
      break;
    }
  }
  Token token = finish(TokenKind::kIdentifier, begin);
  token.name = names_->intern(view(token));
  if (token.name < kReservedWords) token.kind = TokenKind::kWord;
  return token;
}

// Digits of `base` with single underscores between them; false when there are none or an underscore is out of place.
bool Lexer::digits(int base) {
  const std::uint32_t begin = at_;
  while (digit_value(at(at_)) < base || (at(at_) == '_' && at_ > begin)) ++at_;
  const std::string_view read = text_.substr(begin, at_ - begin);
  return !read.empty() && read.back() != '_' && read.find("__") == std::string_view::npos;
}

// Takes in the "im" or the unit of time that follows a number, blanks between them included.
void Lexer::unit(TokenKind& kind) {
  std::uint32_t place = at_;
  while (at(place) == ' ' || at(place) == '\t') ++place;
  for (const std::string_view text : {"im", "dt", "ns", "us", "\xc2\xb5s", "\xce\xbcs", "ms", "s"}) {
    const auto end = place + static_cast<std::uint32_t>(text.size());
    if (text_.substr(place, text.size()) != text) continue;
    if (is_letter(at(end)) || is_digit(at(end)) || is_wide(at(end))) continue;
    kind = text == "im" ? TokenKind::kImaginary : TokenKind::kTime;
    at_ = end;
    return;
  }
}

Token Lexer::number(std::uint32_t begin) {
  TokenKind kind = TokenKind::kInteger;
  bool good = true;
  const char mark = at(at_ + 1);
  const int base = text_[at_] != '0'            ? 10
                   : mark == 'x' || mark == 'X' ? 16
                   : mark == 'b' || mark == 'B' ? 2
                   : mark == 'o' || mark == 'O' ? 8
                                                : 10;
  if (base != 10) {
    at_ += 2;
    good = digits(base);
  } else {
    if (text_[at_] != '.') good = digits(10);
    if (at(at_) == '.') {
      kind = TokenKind::kReal;
      ++at_;
      if (is_digit(at(at_))) good = digits(10) && good;
    }
    if (at(at_) == 'e' || at(at_) == 'E') {
      kind = TokenKind::kReal;
      ++at_;
      if (at(at_) == '+' || at(at_) == '-') ++at_;
      good = digits(10) && good;
    }
    unit(kind);
  }
  // A number ends at a word boundary: 2.0a and 1.2.3 are not two tokens.
  while (is_letter(at(at_)) || is_digit(at(at_)) || is_wide(at(at_)) || at(at_) == '.') {
    ++at_;
    good = false;
  }
  return finish(good ? kind : TokenKind::kBad, begin);
}

Token Lexer::string(std::uint32_t begin) {
  const char quote = text_[at_++];
  while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') ++at_;
  if (at(at_) != quote || at_ >= text_.size()) return finish(TokenKind::kBad, begin);
  ++at_;
  return finish(TokenKind::kString, begin);
}

Token Lexer::symbol(std::uint32_t begin) {
  const char c = text_[at_], following = at(at_ + 1);
  TokenKind kind = kSymbols[static_cast<unsigned char>(c)];
  std::uint32_t length = 1;
  if ((c == '+' && following == '+') || (c == '-' && following == '>')) {
    kind = c == '+' ? TokenKind::kConcat : TokenKind::kArrow;
    length = 2;
  }
  if (c == '=' && following != '=') kind = TokenKind::kAssign;
  if (kind != TokenKind::kBad) {
    at_ += length;
    return finish(kind, begin);
  }
  if (c == '$') {
    ++at_;
    while (is_digit(at(at_))) ++at_;
    return finish(at_ > begin + 1 ? TokenKind::kPhysical : TokenKind::kBad, begin);
  }
  return c == '#' ? directive(begin) : operator_sign(begin);
}

// #pragma, #dim
Token Lexer::directive(std::uint32_t begin) {
  ++at_;
  Token token = word(at_);
  const std::string_view text = view(token);
  const bool known = text == "pragma" || text == "dim";
  token.kind = known ? TokenKind::kWord : TokenKind::kBad;
  token.name = text == "pragma" ? kWordPragma : kWordDim;
  token.offset = begin;
  ++token.length;
  return token;
}

Token Lexer::operator_sign(std::uint32_t begin) {
  struct Text {
    std::string_view text;
    Operator op;
    bool assigns;  // with '=' behind it: op and assignment
  };
  using enum Operator;
  static constexpr Text kTexts[] = {
      {"**", kPower, true},      {"&&", kAnd, false},       {"||", kOr, false},           {"<<", kShiftLeft, true},
      {">>", kShiftRight, true}, {"<=", kLessEqual, false}, {">=", kGreaterEqual, false}, {"!=", kNotEqual, false},
      {"==", kEqual, false},     {"+", kAdd, true},         {"-", kSubtract, true},       {"*", kMultiply, true},
      {"/", kDivide, true},      {"%", kModulo, true},      {"^", kBitXor, true},         {"~", kInvert, true},
      {"&", kBitAnd, true},      {"|", kBitOr, true},       {"<", kLess, false},          {">", kGreater, false},
      {"!", kNot, false}};
  for (const Text& each : kTexts) {
    if (!text_.substr(at_).starts_with(each.text)) continue;
    at_ += static_cast<std::uint32_t>(each.text.size());
    TokenKind kind = TokenKind::kOperator;
    if (each.assigns && at(at_) == '=') {
      ++at_;
      kind = TokenKind::kAssignBinary;
    }
    Token token = finish(kind, begin);
    token.op = each.op;
    return token;
  }
  ++at_;
  return finish(TokenKind::kBad, begin);
}

Failure Lexer::failure(const Token& bad) const {
  const std::string_view text = view(bad);
  const char c = text.empty() ? '\0' : text.front();
  if (text.starts_with("/*")) return {bad.offset, "this comment has no end", "close it with */"};
  if (c == '"' || c == '\'') {
    return {bad.offset, "this string has no closing " + std::string(1, c) + " on its line", ""};
  }
  if (is_digit(c) || (c == '.' && text.size() > 1)) return {bad.offset, "malformed number " + quoted(text), ""};
  if (c == '$') return {bad.offset, "'$' without the number of a physical qubit", ""};
  return {bad.offset, "unexpected character " + quoted(text), ""};
}

}  // namespace qsim::qasm3
