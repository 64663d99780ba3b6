// Pictures: of circuits, of counts and of states of one qubit. SVG has no script and no outside font, and colours of
// its own for light and dark pages.
#pragma once

#include "qsim/circuit.h"
#include "qsim/target.h"

namespace QSIM_PUBLIC qsim {

enum class DrawingStyle : std::uint8_t { kText, kAscii, kSvg, kLatex };

/// `circuit` as a drawing: each operation as far to the left as its wires allow. `width`: characters of a line of text,
/// pixels of a picture, columns of operations side by side in LaTeX; 0: all in one line. X before and after a control
/// is drawn as a control on 0; blocks that measurements decide stand in frames with their conditions. The text ends
/// without a line end. LaTeX is for the package quantikz. UnsupportedError for programs that branch in another way than
/// nested ifs and loops, and for drawings beyond 2^22 places.
std::string draw(const Circuit& circuit, DrawingStyle style, std::size_t width = 0);

struct Bar {
  std::string label;
  double value = 0;  // 0 or more
};
struct HistogramOptions {
  std::string title = {};
  std::string unit = {};    // below the axis of values: "shots", "probability"
  std::size_t most = 64;    // bars; of more the largest are drawn, and the others are counted and added up
  std::size_t width = 760;  // pixels
};
/// Bars in the order of their labels, as SVG. UsageError for values that are not finite or below 0.
std::string draw_histogram(std::span<const Bar> bars, const HistogramOptions& options = {});

/// The state of one qubit: expectation values of X, Y and Z.
struct BlochVector {
  std::string label;
  double x = 0, y = 0, z = 0;
};
/// A sphere for each vector, as SVG `width` pixels wide. UsageError for vectors that are not finite or longer than 1.
std::string draw_bloch(std::span<const BlochVector> vectors, std::size_t width = 760);

}  // namespace qsim
