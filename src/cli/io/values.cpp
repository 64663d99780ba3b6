#include "cli/io/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>

#include "qsim/error.h"

namespace qsim::cli {
namespace {

[[noreturn]] void reject(const std::string& flag, const std::string& text, const std::string& expected) {
  throw UsageError(flag + ": '" + text + "' is not " + expected);
}

/// Reads a non-negative decimal number with an optional fraction; returns where it ends.
double parse_decimal(const std::string& flag, const std::string& text, const std::string& expected, std::size_t& end) {
  end = 0;
  while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || text[end] == '.')) ++end;
  double value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + end, value, std::chars_format::fixed);
  if (error != std::errc{} || last != text.data() + end) reject(flag, text, expected);
  return value;
}

}  // namespace

std::uint64_t parse_unsigned(const std::string& flag, const std::string& text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || last != text.data() + text.size() || value > most) {
    reject(flag, text, "a whole number from 0 to " + std::to_string(most));
  }
  return value;
}

std::uint64_t parse_bytes(const std::string& flag, const std::string& text) {
  const std::string expected = "a size such as 512MiB, 1.5G or a number of bytes";
  std::size_t end = 0;
  const double number = parse_decimal(flag, text, expected, end);
  std::string unit = text.substr(end);
  const std::string letters = "KMGTP";
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    const std::size_t power = letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    unit.erase(0, 1);
    if (power == std::string::npos || !(unit.empty() || unit == "B" || unit == "iB")) reject(flag, text, expected);
    factor = std::ldexp(1.0, 10 * (static_cast<int>(power) + 1));
  }
  const double bytes = number * factor;
  if (bytes < 1 || bytes >= 9.2e18) reject(flag, text, expected);
  return static_cast<std::uint64_t>(bytes);
}

double parse_share(const std::string& flag, const std::string& text) {
  const std::string expected = "a share of memory such as 90%";
  std::size_t end = 0;
  const double percent = parse_decimal(flag, text, expected, end);
  const std::string unit = text.substr(end);
  if (!(unit.empty() || unit == "%") || percent <= 0 || percent > 100) reject(flag, text, expected);
  return percent / 100;
}

std::vector<std::uint64_t> parse_list(const std::string& flag, const std::string& text) {
  std::vector<std::uint64_t> values;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse_unsigned(flag, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return values;
}

std::vector<Qubit> parse_qubits(const std::string& flag, const std::string& text, std::uint32_t qubits) {
  std::vector<Qubit> result;
  for (const std::uint64_t qubit : parse_list(flag, text)) {
    if (qubit >= qubits) {
      throw UsageError(flag + ": qubit " + std::to_string(qubit) + " is not in the circuit, which has " +
                       std::to_string(qubits) + " (0 is the first)");
    }
    if (std::find(result.begin(), result.end(), qubit) != result.end()) {
      throw UsageError(flag + ": qubit " + std::to_string(qubit) + " is listed twice");
    }
    result.push_back(static_cast<Qubit>(qubit));
  }
  return result;
}

void check_rank_count(std::uint64_t ranks, const std::string& what) {
  if (std::has_single_bit(ranks)) return;
  const std::uint64_t below = std::bit_floor(ranks);
  std::string usable = "1";
  if (below != 0) {
    usable = std::to_string(below);
    if (below <= (1ull << 62)) usable += " or " + std::to_string(below * 2);
  }
  throw UsageError(std::to_string(ranks) + " " + what + ": the number must be a power of two",
                   "the nearest usable: " + usable);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) value /= 1024, ++unit;
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), unit == 0 || value >= 100 ? "%.0f %s" : "%.3g %s", value, units[unit]);
  return text.data();
}

std::string seconds_text(double seconds) {
  std::array<char, 40> text{};
  if (seconds < 1e-3) {
    std::snprintf(text.data(), text.size(), "%.0f us", seconds * 1e6);
  } else if (seconds < 1) {
    std::snprintf(text.data(), text.size(), "%.3g ms", seconds * 1e3);
  } else {
    std::snprintf(text.data(), text.size(), seconds < 1000 ? "%.3g s" : "%.0f s", seconds);
  }
  return text.data();
}

std::string in_flags(std::string text) {
  static const std::map<std::string, std::string, std::less<>> kOthers{{"pool_share", "--pool"},
                                                                       {"tile_bits", "--tile"}};
  std::size_t begin = text.find('`');
  while (begin != std::string::npos) {
    const std::size_t end = text.find('`', begin + 1);
    if (end == std::string::npos) break;
    const std::string name = text.substr(begin + 1, end - begin - 1);
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (const auto other = kOthers.find(name); other != kOthers.end()) flag = other->second;
    text.replace(begin, end + 1 - begin, flag);
    begin = text.find('`', begin + flag.size());
  }
  return text;
}

}  // namespace qsim::cli
