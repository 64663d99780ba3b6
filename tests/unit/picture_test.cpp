// Drawings of circuits: what stands where, in every style.
#include "qsim/picture.h"

#include <gtest/gtest.h>

#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include "picture/circuit/layout.h"
#include "picture/svg.h"
#include "qsim/qasm.h"

namespace qsim {
namespace {

using Lines = std::vector<std::string>;
using std::numbers::pi;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Every element is closed, in order, and nothing of markup stands in texts.
void expect_well_formed(const std::string& svg) {
  Lines open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  EXPECT_TRUE(open.empty());
}

Circuit everything() {
  Circuit circuit(3, 2);
  const Qubit pair[] = {0, 2};
  circuit.h(0).cx(0, 2).rx(pi / 4, 1).rzz(0.3, 0, 2).swap(1, 2);
  const Qubit all[] = {0, 1, 2};
  circuit.add_barrier(all).add_measure(0, 1);
  {
    const auto when = circuit.when({.creg = 0, .value = 2});
    circuit.x(2);
  }
  circuit.add_pauli_rotation(Parameter{"t"}, "XZ", pair).ccx(0, 1, 2).add_reset(1).rz(-1.23456, 0).add_measure(2, 0);
  return circuit;
}

TEST(Picture, TextHasEveryKindOfOperationInItsPlace) {
  EXPECT_EQ(lines_of(draw(everything(), DrawingStyle::kText)),
            (Lines{"q[0]: ─H──●───────────rzz(0.3):0─────░──M───────RXZ(t):X──●──Rz(-1.235)─",
                   "          │               │             ║          │      │",
                   "q[1]: ────┼──Rx(π/4)──────┼───────×──░──╫──────────┼──────●─────|0>─────",
                   "          │               │       │     ║          │      │",
                   "q[2]: ────X───────────rzz(0.3):1──×──░──╫───X───RXZ(t):Z──X──────M──────",
                   "                                        ║   ║                    ║",
                   " c/2: ══════════════════════════════════╩1══=2═══════════════════╩0═════"}));
}

TEST(Picture, AsciiFoldsToTheWidthAndLosesNothing) {
  const std::string wide = draw(everything(), DrawingStyle::kAscii),
                    folded = draw(everything(), DrawingStyle::kAscii, 40);
  for (const char c : wide + folded) ASSERT_LT(static_cast<unsigned char>(c), 0x80);
  const Lines whole = lines_of(wide), parts = lines_of(folded);
  ASSERT_EQ(whole.size(), 7u);
  ASSERT_GT(parts.size(), 8u);
  for (const std::string& line : parts) EXPECT_LE(line.size(), 40u);
  for (std::size_t wire = 0; wire < 7; wire += 2) {
    std::string joined = parts[wire];
    for (std::size_t block = 8; block < parts.size(); block += 8) joined += parts[block + wire].substr(6);
    EXPECT_EQ(joined, whole[wire]);
  }
}

TEST(Picture, ControlsOnZeroAreOneOperation) {
  Circuit circuit(3);
  const ControlQubit controls[] = {{0, false}, {1, true}};
  const Qubit target[] = {2};
  circuit.apply(Gate::kX, controls, target);
  EXPECT_EQ(lines_of(draw(circuit, DrawingStyle::kText)),
            (Lines{"q[0]: ─○─", "       │", "q[1]: ─●─", "       │", "q[2]: ─X─"}));
  // Two in a row share no flip, and a flip more on either side stays one.
  circuit.apply(Gate::kX, controls, target).x(0);
  EXPECT_EQ(lines_of(draw(circuit, DrawingStyle::kAscii))[0], "q[0]: -o--o--X-");
}

TEST(Picture, FlipsThatDoNotSurroundAControlStayFlips) {
  const auto first_line = [](const Circuit& circuit) { return lines_of(draw(circuit, DrawingStyle::kAscii))[0]; };
  EXPECT_EQ(first_line(Circuit(2).x(0).cx(0, 1)), "q[0]: -X--*-");
  EXPECT_EQ(first_line(Circuit(2).cx(0, 1).x(0)), "q[0]: -*--X-");
  EXPECT_EQ(first_line(Circuit(2).x(0).cx(1, 0).x(0)), "q[0]: -X--X--X-");  // the target's
  EXPECT_EQ(first_line(Circuit(2).x(0).x(0)), "q[0]: -X--X-");
  EXPECT_EQ(first_line(Circuit(2).x(0).x(0).cx(0, 1).x(0).x(0)), "q[0]: -X--o--X-");
  Circuit conditional(2, 1);
  {
    const auto when = conditional.when({.creg = 0, .value = 1});
    conditional.x(0);
  }
  conditional.cx(0, 1).x(0);
  EXPECT_EQ(first_line(conditional), "q[0]: -X---*--X-");
}

TEST(Picture, LinksCrossWiresBetweenAndRegistersHaveTheirOwn) {
  Circuit circuit;
  circuit.add_qreg("a", 1);
  circuit.add_qreg("b", 2);
  circuit.add_creg("r", 1);
  circuit.add_creg("s", 3);
  circuit.cx(2, 0).add_measure(1, 3);
  EXPECT_EQ(lines_of(draw(circuit, DrawingStyle::kText)),
            (Lines{"a[0]: ─X─────", "       │", "b[0]: ─┼──M──", "       │  ║", "b[1]: ─●──╫──", "          ║",
                   " r/1: ════╫══", "          ║", " s/3: ════╩2═"}));
}

TEST(Picture, LinksAreClassicalBelowTheOperationAlone) {
  Circuit circuit(2, 1);
  const auto when = circuit.when({.creg = 0, .value = 1});
  circuit.cx(0, 1);
  EXPECT_EQ(lines_of(draw(circuit, DrawingStyle::kText)),
            (Lines{"q[0]: ─●──", "       │", "q[1]: ─X──", "       ║", " c/1: ═=1═"}));
}

TEST(Picture, ABitStandsUnderItsLinkHoweverLongItsNumber) {
  Circuit circuit(1, 1234);
  const Lines lines = lines_of(draw(circuit.add_measure(0, 1000), DrawingStyle::kAscii));
  EXPECT_EQ(lines[0].find('M'), lines[1].find('|'));
  EXPECT_EQ(lines[1].find('|'), lines[2].find("v1000"));
}

TEST(Picture, ValuesOfRegistersAreThose) {
  Circuit circuit(1, 70);
  circuit.set_initial(1, true);
  {
    const auto when = circuit.when({.creg = 0, .value = 5, .negated = true, .high = {2}});
    circuit.h(0);
  }
  const std::string text = draw(circuit, DrawingStyle::kAscii);
  EXPECT_NE(text.find("!=0x20000000000000005"), std::string::npos) << text;
  EXPECT_NE(text.find("c/70 =0000"), std::string::npos) << text;
  Circuit small(1, 3);
  small.set_initial(1, true);
  EXPECT_EQ(lines_of(draw(small, DrawingStyle::kAscii))[2], "c/3 =010:");
}

TEST(Picture, AnglesAreShortAndFractionsOfPi) {
  EXPECT_EQ(picture::angle_text(pi, "pi"), "pi");
  EXPECT_EQ(picture::angle_text(-pi, "pi"), "-pi");
  EXPECT_EQ(picture::angle_text(-3 * pi / 4, "pi"), "-3pi/4");
  EXPECT_EQ(picture::angle_text(0, "pi"), "0");
  EXPECT_EQ(picture::angle_text(pi / 5, "pi"), "0.6283");
  EXPECT_EQ(picture::angle_text(1e-9, "pi"), "1e-09");
  Circuit circuit(1);
  circuit.rx(2 * Parameter{"a"} - Parameter{"b"} + 0.5, 0);
  EXPECT_EQ(draw(circuit, DrawingStyle::kAscii), "q[0]: -Rx(2*a - b + 0.5)-");
  EXPECT_EQ(draw(Circuit(1).rx(-Angle(Parameter{"a"}) - pi, 0), DrawingStyle::kAscii), "q[0]: -Rx(-a - pi)-");
}

TEST(Picture, NamesCannotBreakTheDrawing) {
  Circuit circuit;
  circuit.add_qreg("a\n<&\"\x1b", 1);
  circuit.rx(Parameter{"<a&b>"}, 0);
  EXPECT_EQ(lines_of(draw(circuit, DrawingStyle::kText)).size(), 1u);
  EXPECT_EQ(draw(circuit, DrawingStyle::kText).find('\x1b'), std::string::npos);
  const std::string svg = draw(circuit, DrawingStyle::kSvg);
  expect_well_formed(svg);
  EXPECT_NE(svg.find("Rx(&lt;a&amp;b&gt;)"), std::string::npos);
  const std::string latex = draw(Circuit(1).rx(Parameter{"a_b%c"}, 0), DrawingStyle::kLatex);
  EXPECT_NE(latex.find("\\gate{\\mathrm{Rx(a\\_b\\%c)}}"), std::string::npos) << latex;
}

TEST(Picture, SvgShowsEveryOperationAndFolds) {
  const std::string svg = draw(everything(), DrawingStyle::kSvg);
  expect_well_formed(svg);
  EXPECT_EQ(times(svg, ">H</text>"), 1u);
  EXPECT_EQ(times(svg, ">rzz(0.3)</text>"), 2u);  // on wires that are apart
  EXPECT_EQ(times(svg, ">RXZ(t)</text>"), 2u);
  EXPECT_EQ(times(svg, ">=2</text>"), 1u);
  EXPECT_EQ(times(svg, "|0⟩"), 1u);
  EXPECT_EQ(times(svg, ">q[1]</text>"), 1u);
  EXPECT_EQ(times(svg, "script"), 0u);
  EXPECT_EQ(times(svg, "href"), 0u);
  // Neighbouring wires share a box, whose name stands once.
  EXPECT_EQ(times(draw(Circuit(3).rzz(0.3, 2, 1), DrawingStyle::kSvg), ">rzz(0.3)</text>"), 1u);
  const std::string folded = draw(everything(), DrawingStyle::kSvg, 300);
  EXPECT_GT(times(folded, ">q[1]</text>"), 1u);
  const auto width = std::stod(folded.substr(folded.find("width=\"") + 7));
  EXPECT_LE(width, 300);
}

TEST(Picture, LatexHasARowForEveryWireAndFolds) {
  const std::string latex = draw(everything(), DrawingStyle::kLatex);
  EXPECT_EQ(times(latex, "\\lstick"), 4u);
  EXPECT_EQ(times(latex, "\\\\\n"), 3u);
  for (const Lines lines = lines_of(latex); const std::string& line : lines) {
    if (line.find("\\lstick") != std::string::npos) {
      EXPECT_EQ(times(line, " & "), times(lines[3], " & ")) << line;
    }
  }
  EXPECT_NE(latex.find("\\control{} \\qw \\vqw{2}"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\meter{1} \\qw \\vcw{3}"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\mathrm{Rx(\\pi /4)}"), std::string::npos) << latex;
  EXPECT_GT(times(draw(everything(), DrawingStyle::kLatex, 4), "\\begin{quantikz}"), 2u);
}

Circuit program3(const std::string& text) {
  return parse_qasm("OPENQASM 3.0;\ninclude \"stdgates.inc\";\n" + text).circuit;
}

TEST(Picture, BlocksStandInFramesWithTheirConditions) {
  const Circuit both = program3(
      "qubit[2] q; bit[2] c; c[0] = measure q[0]; if (c[0]) { x q[1]; } else { h q[1]; c[1] = measure q[1]; } z q[0];");
  EXPECT_EQ(
      lines_of(draw(both, DrawingStyle::kText)),
      (Lines{"q[0]: ─M───────Z────────────────────────────", "       ║", "q[1]: ─╫───┠ if c[0] ──X──┠ else ──H──M───┨─",
             "       ║   ║                          ║", " c/2: ═╩0══■══════════════════════════╩1════"}));
  const Circuit loop = program3(
      "qubit[2] q; bit c; uint[4] n; c = measure q[0];\nwhile (c && n < 3) { h q; n = n + 1; c = measure q[0]; if (n "
      "== "
      "2) break; } x q[1];");
  EXPECT_EQ(lines_of(draw(loop, DrawingStyle::kAscii)),
            (Lines{"q[0]: -M---[ while c&&(n<3) ----H----M---! break if n==2 --]----",
                   "       |   [                         |   !                 ]",
                   "q[1]: -+---[--------------------H----+---!-----------------]--X-",
                   "       |   [                         |   !                 ]",
                   " c/1: =v0==[#========================v0==!=================]====",
                   "           [                             !                 ]",
                   "   n: =====[#=================:=n+1======!#================]===="}));
  const std::string svg = draw(both, DrawingStyle::kSvg);
  expect_well_formed(svg);
  EXPECT_EQ(times(svg, "class=\"frame\""), 1u);
  // Cut into rows, the frame goes on in each.
  EXPECT_GT(times(draw(both, DrawingStyle::kSvg, 250), "class=\"frame\""), 1u);
  EXPECT_NE(draw(both, DrawingStyle::kLatex).find("\\gategroup[wires=1,steps=6,"), std::string::npos);
}

TEST(Picture, ValuesThatTheirNameHoldsNoLongerHaveTheirLine) {
  const Circuit circuit =
      program3("qubit q; bit c; bit old; c = measure q;\nold = c;\nh q; c = measure q;\nif (old) x q;\nif (c) z q;");
  const std::string text = draw(circuit, DrawingStyle::kAscii);
  EXPECT_NE(text.find("[ if c@3 "), std::string::npos) << text;
  EXPECT_NE(text.find("[ if c "), std::string::npos) << text;
  EXPECT_NE(text.find(":=c@3"), std::string::npos) << text;
  const std::string other =
      draw(program3("qubit[2] q; bit[2] c; c = measure q; if (c == 2) x q[0]; else if (!c[1]) z q[0]; else y q[0];"),
           DrawingStyle::kAscii);
  EXPECT_NE(other.find("[ if c==2 --X--[ else if !c[1] --Z--[ else --Y--]"), std::string::npos) << other;
}

TEST(Picture, NothingIsDrawnAsNothing) {
  EXPECT_EQ(draw(Circuit(), DrawingStyle::kText), "");
  EXPECT_EQ(draw(Circuit(1), DrawingStyle::kText), "q[0]:");
  expect_well_formed(draw(Circuit(), DrawingStyle::kSvg));
  expect_well_formed(draw(Circuit(1), DrawingStyle::kSvg, 1));
}

TEST(Picture, WhatHasNoDrawingSaysSo) {
  // A way out of two loops at once.
  const Circuit program = program3(
      "qubit q; bit c; def f(qubit a) { bit b; while (!b) { h a; b = measure a; while (!b) { h a; b = measure a; if "
      "(b) "
      "{ return; } } } } f(q); c = measure q;");
  EXPECT_THROW(draw(program, DrawingStyle::kText), UnsupportedError);
  EXPECT_THROW(draw(Circuit(1u << 30), DrawingStyle::kSvg), UnsupportedError);
  Circuit deep(3000);
  for (int i = 0; i < 1500; ++i) deep.cx(0, 2999);
  EXPECT_THROW(draw(deep, DrawingStyle::kText), UnsupportedError);
}

// As every choice of the programs.
TEST(Picture, EveryStyleHasAName) {
  for (const auto& [style, name] : choices<DrawingStyle>()) EXPECT_EQ(choice_of<DrawingStyle>(name), style);
  EXPECT_THROW(choice_of<DrawingStyle>("png"), UsageError);
}

}  // namespace
}  // namespace qsim
