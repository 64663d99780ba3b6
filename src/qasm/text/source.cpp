// Messages: place, source line, caret, nearest name; everything echoed is escaped and capped.
#include "qasm/text/source.h"

#include <algorithm>

#include "base/text.h"

namespace qsim::qasm {
namespace {

constexpr std::size_t kExcerptBytes = 100;  // of a source line
constexpr std::size_t kNameBytes = 32;      // longer names get no suggestion
constexpr int kCandidates = 5000;

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20 && byte < 0x7f) {
    out += c;
  } else {
    out += "\\x";
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
}

// Replacing costs a little more than another edit, and little where only the case differs.
constexpr EditCosts kCosts{8, 9, 1};

}  // namespace

std::string quoted(std::string_view text, std::size_t cap) {
  std::string out = "'";
  for (const char c : text.substr(0, cap)) append_escaped(out, c);
  if (text.size() > cap) out += "...";
  return out + "'";
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      append_escaped(out, c);
    } else {
      out += c;
    }
  }
  return out;
}

void NearestName::offer(std::string_view candidate) {
  if (name_.size() > kNameBytes || candidate.size() > kNameBytes || candidate == name_ || ++offered_ > kCandidates)
    return;
  const std::size_t distance = edit_distance(name_, candidate, kCosts);
  // One letter of a short name, two of a longer one; on ties the name that comes first in the alphabet.
  const std::size_t allowed = kCosts.replace * (std::min(name_.size(), candidate.size()) >= 4 ? 2 : 1);
  const bool other = distance >= kCosts.replace * std::max(name_.size(), candidate.size());  // no letter is the same
  if (other || distance > allowed || distance > best_distance_) return;
  if (distance < best_distance_ || candidate < best_) {
    best_ = candidate;
    best_distance_ = distance;
  }
}

std::string NearestName::hint() const { return best_.empty() ? "" : "did you mean '" + std::string(best_) + "'?"; }

Diagnostic make_diagnostic(const Source& source, const Failure& failure) {
  const std::string_view text = source.text;
  const std::size_t offset = std::min<std::size_t>(failure.offset, text.size());
  const auto before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  std::string_view line = text.substr(begin, end - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);

  Diagnostic diagnostic;
  diagnostic.where.file = source.name;
  diagnostic.where.line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  diagnostic.where.column = static_cast<std::uint32_t>(offset - begin) + 1;
  diagnostic.hint = failure.hint;
  diagnostic.code = failure.code;
  diagnostic.message = failure.message;

  std::size_t column = std::min(offset - begin, line.size());
  std::string shown, caret;
  if (column > kExcerptBytes * 3 / 4) {  // a long line: show the part around the place
    const std::size_t cut = column - kExcerptBytes / 2;
    line.remove_prefix(cut);
    column -= cut;
    shown = "...";
  }
  const bool cut_right = line.size() > kExcerptBytes;
  line = line.substr(0, kExcerptBytes);
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i == column) caret = std::string(shown.size(), ' ') + '^';
    if (i < line.size()) append_escaped(shown, line[i] == '\t' ? ' ' : line[i]);
  }
  if (cut_right) shown += "...";

  diagnostic.text = printable(source.name) + ':' + std::to_string(diagnostic.where.line) + ':' +
                    std::to_string(diagnostic.where.column) + ": error: " + failure.message + "\n  " + shown + "\n  " +
                    caret;
  for (const Source* from = &source; from->includer != nullptr; from = from->includer) {
    diagnostic.text += "\n  included from " + printable(from->includer->name);
  }
  return diagnostic;
}

}  // namespace qsim::qasm
