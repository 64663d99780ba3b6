// Text helpers: escaping for terminals, near misses among names, byte sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace qsim {

/// Takes a text part by part.
using TextSink = std::function<void(std::string_view)>;

/// `text` with control characters and invalid UTF-8 as \n, \t or \xHH, cut to `limit` output characters with "..."
/// at the end.
std::string escape_text(std::string_view text, std::size_t limit = 200);

/// The same with lines left as lines, and without a limit: what a terminal may be shown.
std::string escape_lines(std::string_view text);

/// `text` with its letters in lower case.
std::string lower_case(std::string_view text);

/// `other_case`: to replace a letter by itself in the other case.
struct EditCosts {
  std::size_t edit = 1, replace = 1, other_case = 1;
};
/// Cost of the edits (insert, delete, replace, swap of neighbours) that make one name of the other. Inputs beyond 64
/// characters are compared by their first 64.
std::size_t edit_distance(std::string_view a, std::string_view b, const EditCosts& costs = {});

/// The name nearest to `wanted` but for case, at most `max_distance` edits away (and fewer than the length of
/// `wanted`); empty when none is. First one on ties.
std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names,
                              std::size_t max_distance = 2);

/// "16 bytes", "1.5 KiB", "256 GiB": binary units, at most one digit after the point.
std::string format_bytes(std::uint64_t bytes);

/// A probability, a difference or a tolerance for messages: the fewest digits that name exactly this double, so that
/// two numbers that differ look different: "0.1", "1.0000000000000002", "3.2e-15".
std::string format_number(double value);

/// "1 sweep", "3 sweeps"
std::string counted(std::uint64_t number, const std::string& word);

/// "2.31 s", "14.02 ms", "6.0 us"
std::string format_seconds(double seconds);

}  // namespace qsim
