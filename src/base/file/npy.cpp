#include "base/file/npy.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace qsim {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // numbers begin at a multiple of it
constexpr std::size_t kMostText = 1 << 20;

/// Where the text of a header begins: behind its version and its length, of 2 bytes in version 1, else of 4.
std::size_t text_begin(std::string_view prefix) { return prefix[6] == 1 ? 10 : 12; }

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

/// What stands behind `key` and its colon.
std::optional<std::string_view> behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = without_blanks(text.substr(at + key.size() + 2));
  if (!rest.starts_with(':')) return std::nullopt;
  return without_blanks(rest.substr(1));
}

/// The text of "'<c16', ..." within its quotes; empty where it is no text.
std::string_view quoted(std::string_view text) {
  if (!text.starts_with('\'')) return {};
  const std::size_t end = text.find('\'', 1);
  return end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
}

/// "(2, 3)", "(8,)" or "()".
std::optional<std::vector<std::uint64_t>> tuple(std::string_view text) {
  std::vector<std::uint64_t> numbers;
  if (!text.starts_with('(')) return std::nullopt;
  for (text = without_blanks(text.substr(1)); !text.starts_with(')'); text = without_blanks(text)) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    numbers.push_back(number);
    text = without_blanks(text.substr(static_cast<std::size_t>(end - text.data())));
    if (text.starts_with(',')) {
      text.remove_prefix(1);
    } else if (!text.starts_with(')')) {
      return std::nullopt;
    }
  }
  return numbers;
}

}  // namespace

std::size_t npy_header_bytes(std::string_view prefix) {
  if (prefix.size() < kNpyPrefix || !prefix.starts_with(kNpyMagic) || prefix[6] < 1 || prefix[6] > 3) return 0;
  const std::size_t begin = text_begin(prefix);
  std::size_t length = 0;
  for (std::size_t at = begin; at-- > 8;) length = length << 8 | static_cast<unsigned char>(prefix[at]);
  return length > kMostText ? 0 : begin + length;
}

NpyHeader read_npy_header(std::string_view file) {
  NpyHeader header;
  header.bytes = npy_header_bytes(file);
  if (header.bytes == 0) return {.fault = "it is no .npy file"};
  if (header.bytes > file.size()) return {.fault = "its header is cut off"};
  const std::string_view text = file.substr(text_begin(file), header.bytes - text_begin(file));
  const auto kind = behind(text, "descr"), order = behind(text, "fortran_order"), shape = behind(text, "shape");
  if (!kind || !order || !shape) return {.fault = "its header lacks 'descr', 'fortran_order' or 'shape'"};
  header.kind = quoted(*kind);
  header.columns_first = order->starts_with("True");
  const auto numbers = tuple(*shape);
  if (!numbers) return {.fault = "its shape cannot be read"};
  header.shape = *numbers;
  return header;
}

std::string make_npy_header(std::string_view kind, std::span<const std::uint64_t> shape) {
  std::string text = "{'descr': '" + std::string(kind) + "', 'fortran_order': False, 'shape': (";
  for (const std::uint64_t length : shape) text += std::to_string(length) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) text.resize(text.size() - 2);
  text += "), }";
  std::string header(kNpyMagic);
  header += {1, 0, 0, 0};
  while ((header.size() + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  header[8] = static_cast<char>(text.size() & 0xff);
  header[9] = static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace qsim
