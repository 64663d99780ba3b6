#include "picture/svg.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace qsim::picture {
namespace {

// Within class qsim-picture, since styles of pictures inside a page are those of the whole page.
constexpr std::string_view kStyle = R"(<style>
.qsim-picture text { font-family: -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif; fill: #1f2328; }
.qsim-picture .mono, .qsim-picture .port, .qsim-picture .inside { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 12px; }
.qsim-picture .port { font-size: 10px; fill: #59636e; } .qsim-picture .inside { fill: #0d1117; } .qsim-picture .first { fill: #ffffff; }
.qsim-picture .title { font-size: 15px; font-weight: 600; } .qsim-picture .head { font-size: 12.5px; font-weight: 600; }
.qsim-picture .value { font-size: 11.5px; font-weight: 600; }
.qsim-picture .small { font-size: 11.5px; } .qsim-picture .note { font-size: 11.5px; fill: #59636e; }
.qsim-picture .paper { fill: #ffffff; } .qsim-picture .grid { stroke: #d1d9e0; fill: none; }
.qsim-picture .wire { stroke: #59636e; fill: none; } .qsim-picture .link { stroke: #1f2328; fill: none; stroke-width: 1.3; }
.qsim-picture .dash { stroke: #59636e; fill: none; stroke-dasharray: 4 3; } .qsim-picture .band { fill: #818b98; fill-opacity: 0.16; }
.qsim-picture .box { fill: #ddf0ff; stroke: #1f6feb; } .qsim-picture .plain { fill: #ffffff; stroke: #59636e; }
.qsim-picture .dot { fill: #1f2328; stroke: #1f2328; } .qsim-picture .ring { fill: #ffffff; stroke: #1f2328; stroke-width: 1.3; }
.qsim-picture .c0 { fill: #4269d0; } .qsim-picture .l0 { stroke: #4269d0; } .qsim-picture .c1 { fill: #d9822b; } .qsim-picture .l1 { stroke: #d9822b; }
.qsim-picture .c2 { fill: #3ca951; } .qsim-picture .l2 { stroke: #3ca951; } .qsim-picture .c3 { fill: #a463f2; } .qsim-picture .l3 { stroke: #a463f2; }
.qsim-picture .c4 { fill: #818b98; } .qsim-picture .l4 { stroke: #818b98; } .qsim-picture .c5 { fill: #efb118; } .qsim-picture .l5 { stroke: #efb118; }
.qsim-picture .c6 { fill: #ff725c; } .qsim-picture .l6 { stroke: #ff725c; } .qsim-picture .c7 { fill: #6cc5b0; } .qsim-picture .l7 { stroke: #6cc5b0; }
.qsim-picture .c8 { fill: #ff8ab7; } .qsim-picture .l8 { stroke: #ff8ab7; } .qsim-picture .c9 { fill: #9c6b4e; } .qsim-picture .l9 { stroke: #9c6b4e; }
.qsim-picture .curve { fill: none; stroke-width: 2; } .qsim-picture .w1 { stroke-width: 5; } .qsim-picture .w2 { stroke-width: 8; } .qsim-picture .w3 { stroke-width: 11; }
.qsim-picture .pale { fill-opacity: 0.45; }
.qsim-picture .frame { fill: #818b98; fill-opacity: 0.1; stroke: #59636e; stroke-dasharray: 6 3; }
.qsim-picture .ball { fill: #ddf0ff; fill-opacity: 0.5; stroke: #59636e; }
@media (prefers-color-scheme: dark) {
.qsim-picture text { fill: #e6edf3; } .qsim-picture .port, .qsim-picture .note { fill: #9198a1; } .qsim-picture .inside { fill: #0d1117; }
.qsim-picture .paper { fill: #0d1117; } .qsim-picture .grid { stroke: #3d444d; }
.qsim-picture .wire, .qsim-picture .dash, .qsim-picture .frame { stroke: #9198a1; } .qsim-picture .link { stroke: #e6edf3; }
.qsim-picture .box { fill: #12314f; stroke: #58a6ff; } .qsim-picture .plain { fill: #0d1117; stroke: #9198a1; }
.qsim-picture .dot { fill: #e6edf3; stroke: #e6edf3; } .qsim-picture .ring { fill: #0d1117; stroke: #e6edf3; }
.qsim-picture .ball { fill: #12314f; stroke: #9198a1; }
.qsim-picture .c0 { fill: #6f92ee; } .qsim-picture .l0 { stroke: #6f92ee; }
}
</style>
)";

std::string tip_of(std::string_view tip) { return tip.empty() ? "" : "<title>" + markup(tip) + "</title>"; }

std::string shape(std::string text, const char* name, std::string_view tip) {
  return tip.empty() ? text + "/>\n" : text + ">" + tip_of(tip) + "</" + name + ">\n";
}

}  // namespace

std::string markup(std::string_view text) {
  std::string out;
  for (const char c : escape_text(text, text.size() * 4 + 4)) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

std::string cut(std::string_view text, std::size_t most) {
  if (characters(text) <= most) return std::string(text);
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++count == most) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

double tick_step(double most, double steps) {
  const double power = std::pow(10, std::floor(std::log10(most / steps)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * steps >= most) return factor * power;
  }
  return 10 * power;
}

std::string number(double value) {
  const double tenths = std::round(value * 10);
  if (tenths == 0) return "0";
  return std::fmod(tenths, 10) == 0 ? fmt::format("{:.0f}", tenths / 10) : fmt::format("{:.1f}", tenths / 10);
}

void Svg::text(double x, double y, std::string_view words, const char* style, Anchor anchor) {
  const char* const at = anchor == Anchor::kStart    ? ""
                         : anchor == Anchor::kMiddle ? R"( text-anchor="middle")"
                                                     : R"( text-anchor="end")";
  body_ +=
      fmt::format(R"(<text x="{}" y="{}" class="{}"{}>{}</text>)", number(x), number(y), style, at, markup(words)) +
      "\n";
}

void Svg::line(double x1, double y1, double x2, double y2, const char* style) {
  body_ += fmt::format(R"(<path d="M{} {}L{} {}" class="{}"/>)", number(x1), number(y1), number(x2), number(y2), style);
  body_ += '\n';
}

void Svg::rect(double x, double y, double width, double height, const char* style, std::string_view tip, double round) {
  body_ += shape(fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="{}" class="{}")", number(x), number(y),
                             number(width), number(height), number(round), style),
                 "rect", tip);
}

void Svg::circle(double x, double y, double radius, const char* style, std::string_view tip) {
  body_ +=
      shape(fmt::format(R"(<circle cx="{}" cy="{}" r="{}" class="{}")", number(x), number(y), number(radius), style),
            "circle", tip);
}

void Svg::path(std::string_view data, const char* style) {
  body_ += fmt::format(R"(<path d="{}" class="{}"/>)", data, style) + "\n";
}

std::string Svg::finish(double width, double height, std::string_view title) const {
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" class="qsim-picture" width="{0}" height="{1}" )"
                     R"(viewBox="0 0 {0} {1}" role="img">)",
                     number(width), number(height)) +
         "\n<title>" + markup(title) + "</title>\n" + std::string(kStyle) +
         R"(<rect class="paper" width="100%" height="100%"/>)" + "\n" + body_ + "</svg>\n";
}

}  // namespace qsim::picture
