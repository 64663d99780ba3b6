// Escaping, edit distance and sizes.
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace qsim {
namespace {

// Length of the valid UTF-8 sequence at the start of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

// C1 controls (U+0080..U+009F) can steer a terminal as well, and so can direction overrides.
bool is_hidden_character(std::string_view character) {
  if (character.size() == 2) {
    return static_cast<unsigned char>(character[0]) == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  }
  if (character.size() == 3 && character.substr(0, 2) == "\xE2\x80") {
    const auto last = static_cast<unsigned char>(character[2]);
    return last >= 0xA8 && last <= 0xAE;
  }
  return character.size() == 3 && character.substr(0, 2) == "\xE2\x81" &&
         static_cast<unsigned char>(character[2]) >= 0xA6 && static_cast<unsigned char>(character[2]) <= 0xA9;
}

std::string escape_bytes(std::string_view bytes) {
  if (bytes == "\n") return "\\n";
  if (bytes == "\t") return "\\t";
  if (bytes == "\r") return "\\r";
  std::string out;
  for (const char byte : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return out;
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower(c);
  return out;
}

std::string counted(std::uint64_t number, const std::string& word) {
  return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
}

std::string escape_text(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t characters = 0;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view piece = text.substr(0, length == 0 ? 1 : length);
    const auto lead = static_cast<unsigned char>(piece[0]);
    const bool hidden = length == 0 || lead < 0x20 || lead == 0x7F || is_hidden_character(piece);
    const std::string shown = hidden ? escape_bytes(piece) : std::string(piece);
    const std::size_t width = hidden ? shown.size() : 1;
    if (characters + width > limit) return out + "...";
    out += shown;
    characters += width;
    text.remove_prefix(piece.size());
  }
  return out;
}

std::string escape_lines(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += escape_text(text.substr(begin, end - begin), std::string_view::npos);
    if (end < text.size()) out += '\n';
    begin = end + 1;
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b, const EditCosts& costs) {
  constexpr std::size_t kCap = 64;
  a = a.substr(0, kCap);
  b = b.substr(0, kCap);
  std::array<std::array<std::size_t, kCap + 1>, 3> rows{};  // the row being filled and the two before it
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j * costs.edit;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& two_above = rows[(i + 1) % 3];
    row[0] = i * costs.edit;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool alike = lower(a[i - 1]) == lower(b[j - 1]);
      const std::size_t replace = a[i - 1] == b[j - 1] ? 0 : alike ? costs.other_case : costs.replace;
      row[j] = std::min({above[j] + costs.edit, row[j - 1] + costs.edit, above[j - 1] + replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + costs.edit);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names,
                              std::size_t max_distance) {
  const std::string wanted_lower = lower_case(wanted);
  std::string_view best;
  std::size_t best_distance = std::min(max_distance + 1, wanted.size());
  for (const std::string_view name : names) {
    if (name.empty()) continue;
    const std::size_t length_gap =
        name.size() > wanted.size() ? name.size() - wanted.size() : wanted.size() - name.size();
    if (length_gap > max_distance) continue;
    const std::string name_lower = lower_case(name);
    if (name_lower == wanted_lower) return name;
    const std::size_t distance = edit_distance(wanted_lower, name_lower);
    if (distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

std::string format_bytes(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.95 and more would be printed as 1024.0 of the smaller unit.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const double tenths = std::round(value * 10) / 10;
  if (tenths == std::floor(tenths)) return fmt::format("{:.0f} {}", tenths, kUnits[unit]);
  return fmt::format("{:.1f} {}", tenths, kUnits[unit]);
}

std::string format_number(double value) { return fmt::format("{}", value); }

std::string format_seconds(double seconds) {
  char text[32];
  if (seconds >= 1) {
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  } else if (seconds >= 1e-3) {
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  }
  return text;
}

}  // namespace qsim
