// Spheres with the states of single qubits, seen from a fixed point.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "picture/svg.h"
#include "qsim/error.h"
#include "qsim/picture.h"

namespace qsim {
namespace {

using picture::Anchor;
using picture::kEdge;

constexpr double kCell = 180, kRadius = 58, kCellHeight = 216;
constexpr double kTurn = 25 * std::numbers::pi / 180, kRise = 20 * std::numbers::pi / 180;  // of the point of view
constexpr double kLongest = 1 + 1e-6;  // what rounding in single precision may leave

struct Seen {
  double x, y, towards;  // to the right, down, to the reader; of a sphere of radius 1
};

Seen seen(double x, double y, double z) {
  const double forward = x * std::cos(kTurn) + y * std::sin(kTurn);
  return {y * std::cos(kTurn) - x * std::sin(kTurn), forward * std::sin(kRise) - z * std::cos(kRise),
          forward * std::cos(kRise) + z * std::sin(kRise)};
}

void draw_axis(picture::Svg& svg, double cx, double cy, std::array<double, 3> axis, const char* plus,
               const char* minus) {
  const Seen end = seen(axis[0], axis[1], axis[2]);
  svg.line(cx - kRadius * end.x, cy - kRadius * end.y, cx + kRadius * end.x, cy + kRadius * end.y, "dash");
  const auto label = [&](double sign, const char* words) {
    const double far = std::hypot(end.x, end.y), away = sign * (kRadius * far + 13) / far;
    svg.text(cx + away * end.x, cy + away * end.y + 4, words, "note", Anchor::kMiddle);
  };
  label(1, plus);
  if (minus != nullptr) label(-1, minus);
}

void draw_sphere(picture::Svg& svg, double left, double top, const BlochVector& vector) {
  const double cx = left + kCell / 2, cy = top + 24 + kRadius + 18;
  svg.text(cx, top + 16, picture::cut(vector.label, 22), "head", Anchor::kMiddle);
  svg.circle(cx, cy, kRadius, "ball");
  svg.path(fmt::format("M{} {}a{} {} 0 1 0 {} 0a{} {} 0 1 0 {} 0", picture::number(cx - kRadius), picture::number(cy),
                       kRadius, picture::number(kRadius * std::sin(kRise)), 2 * kRadius, kRadius,
                       picture::number(kRadius * std::sin(kRise)), -2 * kRadius),
           "grid");
  draw_axis(svg, cx, cy, {0, 0, 1}, "|0⟩", "|1⟩");
  draw_axis(svg, cx, cy, {1, 0, 0}, "x", nullptr);
  draw_axis(svg, cx, cy, {0, 1, 0}, "y", nullptr);
  const Seen end = seen(vector.x, vector.y, vector.z);
  const double x = cx + kRadius * end.x, y = cy + kRadius * end.y;
  svg.line(cx, cy, x, y, "curve l1");
  svg.circle(x, y, 4.5, "c1", end.towards < 0 ? "on the far side" : "");
  const double length = std::sqrt(vector.x * vector.x + vector.y * vector.y + vector.z * vector.z);
  const auto shown = [](double value) { return fmt::format("{:+.3f}", std::abs(value) < 5e-4 ? 0.0 : value); };
  svg.text(cx, top + kCellHeight - 22, shown(vector.x) + " " + shown(vector.y) + " " + shown(vector.z), "mono",
           Anchor::kMiddle);
  svg.text(cx, top + kCellHeight - 6, fmt::format("length {:.3f}", length), "note", Anchor::kMiddle);
}

}  // namespace

std::string draw_bloch(std::span<const BlochVector> vectors, std::size_t width) {
  for (const BlochVector& one : vectors) {
    const double square = one.x * one.x + one.y * one.y + one.z * one.z;
    if (!(square <= kLongest * kLongest)) {
      throw UsageError(fmt::format("the Bloch vector ({:.6g}, {:.6g}, {:.6g}) is no state's: its length is above 1",
                                   one.x, one.y, one.z));
    }
  }
  const auto fitting = static_cast<std::size_t>(std::max(1.0, (static_cast<double>(width) - 2 * kEdge) / kCell));
  const std::size_t columns = std::max<std::size_t>(1, std::min(fitting, vectors.size()));
  picture::Svg svg;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    draw_sphere(svg, kEdge + kCell * static_cast<double>(i % columns),
                kEdge + kCellHeight * static_cast<double>(i / columns), vectors[i]);
  }
  const std::size_t rows = (vectors.size() + columns - 1) / columns;
  return svg.finish(2 * kEdge + kCell * static_cast<double>(columns),
                    2 * kEdge + kCellHeight * static_cast<double>(rows), "Bloch vectors");
}

}  // namespace qsim
