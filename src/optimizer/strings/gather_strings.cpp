#include "optimizer/strings/gather_strings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/file/source_lines.h"
#include "optimizer/axes/form_end.h"
#include "optimizer/operations.h"
#include "optimizer/pairs/letters.h"
#include "optimizer/strings/affine_state.h"
#include "optimizer/strings/clifford_images.h"

namespace qsim {
namespace {

// Letters of all strings at most: for each rotation and for each flip that is moved.
constexpr std::size_t kLettersOfTurn = 4, kLettersOfFlip = 2;
constexpr std::size_t kMostLooked = 64;  // strings before one that an equal one is looked for among

/// exp(-i angle/2 P), P the product of the letters.
struct StringTurn {
  SignedString string;  // without its sign
  double angle = 0;
  std::uint32_t step = 0;  // of the axis form
};

/// The phase of what undoes `circuit` behind the flips, which it does but for that; in eighths of a turn.
std::optional<unsigned> phase_beside(const AxisForm& form, const std::vector<CliffordGate>& circuit) {
  using Gates = CliffordGate::Kind;
  AffineState state(static_cast<std::uint32_t>(form.after.size()));
  for (const AxisStep& step : form.steps) {
    if (step.kind != AxisStep::Kind::kFlip) continue;
    const auto look = [&](bool back) {  // H takes X to Z, S^-1 takes Y to X
      for (unsigned k = 0; k < 2; ++k) {
        const std::array<Qubit, 2> wire{step.wires[k], step.wires[k]};
        if (step.letters[k] == kLetterY && !back) state.apply({Gates::kInverseS, wire});
        if (step.letters[k] != kLetterZ) state.apply({Gates::kH, wire});
        if (step.letters[k] == kLetterY && back) state.apply({Gates::kS, wire});
      }
    };
    look(false);
    state.apply({Gates::kCz, step.wires});
    look(true);
  }
  for (auto gate = circuit.rbegin(); gate != circuit.rend(); ++gate) state.apply_inverse(*gate);
  return state.phase_of_zero();
}

class StringGatherer {
 public:
  StringGatherer(const Circuit& circuit, const AxisForm& form)
      : circuit_(circuit), form_(form), turn_of_(form.steps.size(), kNoPlace) {}

  bool run(Rewritten& result) {
    if (form_.after.size() > AffineState::kMostWires) return false;
    if (!gather()) return false;
    const std::vector<CliffordGate> rest = images_.circuit();
    const std::optional<unsigned> eighths = phase_beside(form_, rest);
    if (!eighths) return false;
    write(rest, *eighths, result);
    return true;
  }

 private:
  using Kind = AxisStep::Kind;

  /// The rotations, as strings. False where it is of no use.
  bool gather() {
    std::size_t letters = 0, flips = 0;
    for (std::uint32_t i = 0; i < form_.steps.size(); ++i) {
      const AxisStep& step = form_.steps[i];
      if (step.kind == Kind::kFlip) {
        images_.append_flip(step.wires, step.letters);
        ++flips;
        continue;
      }
      SignedString string = images_.image(step.wires[0], step.letters[0]);
      double angle = step.angle;
      if (step.kind == Kind::kTurn) {
        string = product(string, images_.image(step.wires[1], step.letters[1]));
        angle = -2 * step.angle;
      }
      letters += count_bits(string.wires());
      add({string, string.is_negative() ? -angle : angle, i});
    }
    return flips > 0 && !turns_.empty() && letters <= kLettersOfTurn * turns_.size() + kLettersOfFlip * flips;
  }

  /// Adds it to an equal one that it commutes with all after.
  void add(const StringTurn& turn) {
    const std::size_t first = turns_.size() - std::min(turns_.size(), kMostLooked);
    for (std::size_t at = turns_.size(); at-- > first;) {
      StringTurn& before = turns_[at];
      if (before.string.x == turn.string.x && before.string.z == turn.string.z) {
        before.angle += turn.angle;
        turn_of_[turn.step] = static_cast<std::uint32_t>(at);
        return;
      }
      if (!before.string.commutes_with(turn.string)) break;
    }
    turn_of_[turn.step] = static_cast<std::uint32_t>(turns_.size());
    turns_.push_back(turn);
  }

  void write(const std::vector<CliffordGate>& rest, unsigned eighths, Rewritten& result) {
    Rewriter rewriter(circuit_, result);
    Circuit& out = result.circuit;
    double phase = eighths * kQuarterPi;
    std::vector<std::uint32_t> written(turns_.size(), kNoPlace);
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const StringTurn& turn = turns_[i];
      const double angle = simple_angle(turn.angle, 4 * kRounding);
      // A turn more or less is -1.
      phase += std::round((turn.angle - angle) / (2 * kPi)) * kPi;
      if (angle == 0) continue;
      SourceLines::set(out, circuit_.operations()[form_.steps[turn.step].of].line);
      append(out, turn.string, angle);
      written[i] = rewriter.last();
    }
    const std::size_t before = out.operations().size();
    for (const CliffordGate& gate : rest) append_gate(out, gate);
    std::vector<std::uint32_t> place_of_step(turn_of_.size(), kNoPlace);
    for (std::size_t step = 0; step < turn_of_.size(); ++step) {
      if (turn_of_[step] != kNoPlace) place_of_step[step] = written[turn_of_[step]];
    }
    end_form(circuit_, form_, form_.after, phase, place_of_step, before, rewriter, result);
  }

  /// A rotation about Z on the wires, between gates that take its letters there.
  static void append(Circuit& out, const SignedString& string, double angle) {
    // Where it is no Z.
    const auto letter = [&](unsigned wire) { return test_bit(string.z, wire) ? kLetterY : kLetterX; };
    for_each_bit(string.x, [&](unsigned wire) { append_to_letter(out, wire, letter(wire), kLetterZ); });
    std::vector<Qubit> wires;
    for_each_bit(string.wires(), [&](unsigned wire) { wires.push_back(wire); });
    out.add_pauli_rotation(angle, std::string(wires.size(), 'Z'), wires);
    for_each_bit(string.x, [&](unsigned wire) { append_from_letter(out, wire, letter(wire), kLetterZ); });
  }

  const Circuit& circuit_;
  const AxisForm& form_;
  CliffordImages images_{static_cast<std::uint32_t>(form_.after.size())};
  std::vector<StringTurn> turns_;
  std::vector<std::uint32_t> turn_of_;  // by step; kNoPlace: a flip
};

}  // namespace

bool gather_strings(const Circuit& circuit, const AxisForm& form, Rewritten& result) {
  return StringGatherer(circuit, form).run(result);
}

}  // namespace qsim
