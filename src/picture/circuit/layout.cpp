#include "picture/circuit/layout.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "base/names/choices.h"
#include "picture/circuit/control.h"
#include "picture/circuit/items.h"
#include "qsim/error.h"
#include "qsim/picture.h"

namespace qsim {
namespace picture {

std::string angle_text(double radians, const std::string& pi) {
  for (const int denominator : {1, 2, 3, 4, 6, 8, 16, 32, 64}) {
    const double numerator = radians / std::numbers::pi * denominator;
    const double whole = std::round(numerator);
    if (std::abs(numerator - whole) >= 1e-12 || whole == 0 || std::abs(whole) > 16) continue;
    const std::string text = whole == 1 ? pi : whole == -1 ? "-" + pi : fmt::format("{:.0f}", whole) + pi;
    return denominator == 1 ? text : text + "/" + std::to_string(denominator);
  }
  return fmt::format("{:.4g}", radians);
}

CircuitLayout lay_out(const Circuit& circuit, const std::string& pi) {
  CircuitLayout layout = empty_layout(circuit);
  if (circuit.control() != nullptr) {
    lay_out_control(circuit, pi, layout);
    return layout;
  }
  Columns columns(layout);
  for_each_item(circuit, 0, circuit.operations().size(), pi, [&](Item item) { columns.place(std::move(item)); });
  return layout;
}

}  // namespace picture

template <>
struct NamesOf<DrawingStyle> {
  static constexpr Named<DrawingStyle> kAll[] = {{DrawingStyle::kText, "text"},
                                                 {DrawingStyle::kAscii, "ascii"},
                                                 {DrawingStyle::kSvg, "svg"},
                                                 {DrawingStyle::kLatex, "latex"}};
};
template std::span<const Named<DrawingStyle>> choices();
template std::string_view name_of(DrawingStyle);
template DrawingStyle choice_of(std::string_view);

std::string draw(const Circuit& circuit, DrawingStyle style, std::size_t width) {
  switch (style) {
    case DrawingStyle::kText:
      return picture::circuit_text(circuit, false, width);
    case DrawingStyle::kAscii:
      return picture::circuit_text(circuit, true, width);
    case DrawingStyle::kSvg:
      return picture::circuit_svg(circuit, width);
    case DrawingStyle::kLatex:
      return picture::circuit_latex(circuit, width);
  }
  throw Error("unknown style of drawing " + std::to_string(static_cast<int>(style)));
}

}  // namespace qsim
