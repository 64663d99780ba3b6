// What a terminal can show: how wide it is, whether in colours, and texts that fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace qsim::cli {

/// Columns of the terminal behind `descriptor`: what it says, else COLUMNS, else 80. 0 where there is none.
std::size_t terminal_columns(int descriptor);

/// Whether what is written to `descriptor` may hold colours: a terminal other than TERM=dumb, and neither NO_COLOR nor
/// CLICOLOR=0 is set. CLICOLOR_FORCE asks for them everywhere.
bool wants_colour(int descriptor);

enum class Colour { kRed, kYellow, kGreen, kCyan, kBold };
std::string coloured(std::string_view text, Colour colour);

/// `line` (without its end) broken at spaces so that no part is wider than `columns`, where its words allow that. What
/// follows hangs under the second column of a line that has two, else a little further in. Commands end in a backslash
/// where they are broken.
std::string fit_line(const std::string& line, std::size_t columns);

/// A line of a report with what a reader looks for in colour: headings, warnings and bars.
std::string paint_line(const std::string& line);
/// A message with its first words in colour: "error:", "hint:", "warning:".
std::string paint_message(const std::string& message);

}  // namespace qsim::cli
