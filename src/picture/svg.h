// A picture in SVG: shapes, texts and the colours of their styles, for light and dark pages.
#pragma once

#include <string>
#include <string_view>

namespace qsim::picture {

/// `text` for XML and HTML: markup escaped, control characters left out, bytes that are no UTF-8 as '?'.
std::string markup(std::string_view text);

/// Width of a character in pixels, as wide as the usual fonts have it.
constexpr double kMono = 7.4;   // of style "mono", in 12 pixels
constexpr double kSmall = 6.8;  // of style "small" and "note", on average at most

constexpr double kEdge = 12;          // left free around a picture
constexpr std::size_t kColours = 10;  // of series: styles "c0" to "c9" of shapes, "curve l0" to "curve l9" of lines

enum class Anchor { kStart, kMiddle, kEnd };

/// Characters of valid UTF-8.
std::size_t characters(std::string_view text);
/// `text` cut to `most` characters, "…" at its end where it was longer.
std::string cut(std::string_view text, std::size_t most);

/// Collects a picture. Positions are in pixels; a style is a class of the style sheet in svg.cpp.
class Svg {
 public:
  void text(double x, double y, std::string_view words, const char* style, Anchor anchor = Anchor::kStart);
  void line(double x1, double y1, double x2, double y2, const char* style);
  /// `tip` is shown where the pointer rests.
  void rect(double x, double y, double width, double height, const char* style, std::string_view tip = {},
            double round = 2);
  void circle(double x, double y, double radius, const char* style, std::string_view tip = {});
  void path(std::string_view data, const char* style);
  /// The whole picture; `title` is what it is called where it cannot be seen.
  std::string finish(double width, double height, std::string_view title) const;

 private:
  std::string body_;
};

/// 1, 2 or 5 times a power of ten, so that `most` (above 0) takes at most `steps` of them.
double tick_step(double most, double steps);

/// "12", "12.5": at most one digit after the point.
std::string number(double value);

}  // namespace qsim::picture
