#include "cli/io/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "qsim/error.h"

namespace qsim::cli {
namespace {

[[noreturn]] void reject(const std::string& flag, const std::string& text, const std::string& expected) {
  throw UsageError(flag + ": '" + text + "' is not " + expected);
}

/// Reads a non-negative decimal number with an optional fraction and power of ten; returns where it ends.
double parse_decimal(const std::string& flag, const std::string& text, const std::string& expected, std::size_t& end) {
  end = 0;
  while (end < text.size() && ((text[end] >= '0' && text[end] <= '9') || text[end] == '.')) ++end;
  const auto is_digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E') &&
      (is_digit(end + 1) || (text[end + 1] == '+' && is_digit(end + 2)))) {
    for (end += 2; is_digit(end);) ++end;
  }
  double value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + end, value);
  if (error != std::errc{} || last != text.data() + end) reject(flag, text, expected);
  return value;
}

/// "1e6", "2.5e3": the whole number, where it is one below 2^64.
std::optional<std::uint64_t> parse_power_of_ten(const std::string& text) {
  const std::size_t e = text.find_first_of("eE");
  if (e == std::string::npos) return std::nullopt;
  std::string digits = text.substr(0, e);
  std::size_t exponent_at = e + 1;
  if (exponent_at < text.size() && text[exponent_at] == '+') ++exponent_at;
  std::uint32_t exponent = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + exponent_at, end, exponent);
  if (error != std::errc{} || last != end || exponent > 99) return std::nullopt;
  const std::size_t point = digits.find('.');
  if (point != std::string::npos) {
    const std::size_t decimals = digits.size() - point - 1;
    digits.erase(point, 1);
    if (point == 0 || decimals == 0 || decimals > exponent) return std::nullopt;
    exponent -= static_cast<std::uint32_t>(decimals);
  }
  std::uint64_t value = 0;
  const auto [stop, overflow] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || overflow != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  for (; exponent > 0 && value > 0; --exponent) {
    if (value > UINT64_MAX / 10) return std::nullopt;
    value *= 10;
  }
  return value;
}

}  // namespace

std::uint64_t parse_unsigned(const std::string& flag, const std::string& text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool whole = !text.empty() && error == std::errc{} && last == text.data() + text.size();
  if (!whole) {
    const std::optional<std::uint64_t> power = parse_power_of_ten(text);
    whole = power.has_value();
    value = power.value_or(0);
  }
  if (!whole || value > most) reject(flag, text, "a whole number from 0 to " + std::to_string(most));
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

namespace {

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> words;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool are_bits(const std::string& word) { return word.find_first_not_of("01") == std::string::npos; }

}  // namespace

std::vector<std::uint64_t> parse_list(const std::string& flag, const std::string& text) {
  std::vector<std::uint64_t> values;
  for (const std::string& word : split_at_commas(text)) values.push_back(parse_unsigned(flag, word));
  return values;
}

int parse_threads(const std::string& text) {
  const auto threads = static_cast<int>(parse_unsigned("--threads", text, 4096));
  if (threads == 0) throw UsageError("--threads: at least 1 thread is needed");
  return threads;
}

std::vector<int> parse_gpu_ids(const std::string& text) {
  std::vector<int> ids;
  for (const std::uint64_t id : parse_list("--gpu-ids", text)) {
    if (id > 1023) throw UsageError("--gpu-ids: there is no GPU " + std::to_string(id));
    ids.push_back(static_cast<int>(id));
  }
  check_rank_count(ids.size(), "GPUs");
  return ids;
}

std::vector<std::uint64_t> parse_basis_states(const std::string& flag, const std::string& text, std::uint32_t qubits) {
  const std::vector<std::string> words = split_at_commas(text);
  const std::string width = std::to_string(qubits);
  // No index below 2^n has n digits, so that n digits of 0 and 1 can only be bits.
  const auto full = [&](const std::string& word) { return qubits > 1 && word.size() == qubits && are_bits(word); };
  const bool bits = std::any_of(words.begin(), words.end(), full);
  std::vector<std::uint64_t> states;
  for (const std::string& word : words) {
    const auto ambiguous = [&](const std::string& why) {
      throw UsageError(flag + ": '" + word + "' is ambiguous: " + why,
                       "write all " + width + " bits of each state, or decimal indices without leading zeros");
    };
    if (bits) {
      if (!full(word)) ambiguous("other states of the list are given by their " + width + " bits");
      std::uint64_t state = 0;
      for (const char bit : word) state = 2 * state + (bit == '1' ? 1 : 0);
      states.push_back(state);
      continue;
    }
    if (word.size() > 1 && word[0] == '0' && word.find_first_not_of("0123456789") == std::string::npos) {
      ambiguous(are_bits(word) ? "it has not the " + width + " bits of a state" : "it begins with 0");
    }
    states.push_back(parse_unsigned(flag, word));
    if (qubits < 64 && (states.back() >> qubits) != 0) {
      throw UsageError(flag + ": index " + std::to_string(states.back()) + " is outside 0 .. 2^" + width + "-1",
                       are_bits(word) ? "the bits of a state are " + width : "");
    }
  }
  return states;
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
  static const std::map<std::string, std::string, std::less<>> kOthers{
      {"pool_share", "--pool"}, {"tile_bits", "--tile"}, {"parameters", "--param"}, {"unitaries", "--unitary"}};
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
