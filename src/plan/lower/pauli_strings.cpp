// Follows what Clifford gates on single wires make of X and Z.
#include "plan/lower/pauli_strings.h"

#include <array>
#include <numbers>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/numbers/phase.h"
#include "base/numbers/rounding.h"
#include "plan/lower/basis_change.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// A letter, with a sign.
struct Letter {
  bool x = false, z = false, minus = false;
  bool same_letter(const Letter& other) const { return x == other.x && z == other.z; }
};

constexpr Letter kX{true, false}, kY{true, true}, kZ{false, true};

Matrix2 matrix_of(const Letter& letter) {
  const double sign = letter.minus ? -1 : 1;
  const Complex i(0, sign);
  if (letter.x && letter.z) return {0, -i, i, 0};
  if (letter.x) return {0, sign, sign, 0};
  return {sign, 0, 0, -sign};
}

/// i a b of two letters that anticommute: a letter.
Letter i_times(const Letter& a, const Letter& b) {
  // i X Z = Y, and so on round X, Z, Y; the other way round minus.
  const bool forth = (a.same_letter(kX) && b.same_letter(kZ)) || (a.same_letter(kZ) && b.same_letter(kY)) ||
                     (a.same_letter(kY) && b.same_letter(kX));
  return {a.x != b.x, a.z != b.z, (a.minus != b.minus) != !forth};
}

/// gate' letter gate where that is a letter.
std::optional<Letter> image(const Matrix2& gate, const Letter& letter) {
  const Matrix2 made = product(adjoint(gate), product(matrix_of(letter), gate));
  for (Letter candidate : {kX, kY, kZ}) {
    for (const bool minus : {false, true}) {
      candidate.minus = minus;
      if (recomposes(made, matrix_of(candidate))) return candidate;
    }
  }
  return std::nullopt;
}

/// What the Clifford gates so far on a wire, together C, make of X and Z: C' X C and C' Z C.
struct Frame {
  Letter x = kX, z = kZ;
  Matrix2 gates = kIdentity2;
  std::vector<std::uint32_t> members;  // that no rotation stands for yet

  Letter of(const Letter& letter) const {
    Letter result = letter.x && letter.z ? i_times(x, z) : letter.x ? x : z;
    result.minus = result.minus != letter.minus;
    return result;
  }
};

struct Images {
  Letter x, z;
};
std::optional<Images> clifford(const Matrix2& gate) {
  const auto x = image(gate, kX), z = image(gate, kZ);
  if (!x || !z) return std::nullopt;
  return Images{*x, *z};
}

class Reader {
 public:
  Reader(const Lowered& lowered, bool zero, OpenNumbers& open)
      : lowered_(lowered), zero_(zero), open_(open), frames_(lowered.qubits) {}

  std::vector<StringStretch> run() {
    for (std::size_t i = 0; i < lowered_.ops.size(); ++i) {
      if (takes(static_cast<std::uint32_t>(i))) continue;
      end(i);
      stretch_.first = i + 1;
    }
    end(lowered_.ops.size());
    return std::move(found_);
  }

 private:
  void end(std::size_t last) {
    stretch_.last = last;
    if (stretch_.rotations.size() >= 2) {
      for (Qubit wire = 0; wire < lowered_.qubits; ++wire) {
        Frame& frame = frames_[wire];
        if (is_identity(frame.gates) && frame.members.empty()) continue;
        stretch_.rests.push_back({wire, frame.gates, std::move(frame.members)});
      }
      found_.push_back(std::move(stretch_));
    }
    stretch_ = {};
    in_strings_ = 0;
    frames_.assign(lowered_.qubits, {});
  }

  bool takes(std::uint32_t index) {
    const LoweredOp& op = lowered_.ops[index];
    if (op.control_mask != 0) return false;
    if (count_bits(op.support) == 1 && (op.support & in_strings_) == 0 && (zero_ || stretch_.first > 0)) {
      stretch_.before.push_back(index);
      return true;
    }
    if (op.form == Form::kFlip) return turn(index, op.targets[0], kFlip2);
    if (op.form == Form::kPhases) {
      const std::span<const PhaseTerm> terms = lowered_.terms(op);
      if (terms.size() == 1 && count_bits(terms[0].mask) == 1 && terms[0].open == 0) {
        const Matrix2 matrix{1, 0, 0, phase_by(terms[0].angle)};
        if (turn(index, static_cast<Qubit>(log2_exact(terms[0].mask)), matrix)) return true;
      }
      return add_terms(index, {}, terms);
    }
    if (op.open != 0) return false;
    const std::span<const Complex> matrix = lowered_.matrix(op);
    if (op.target_count == 1 && turn(index, op.targets[0], {matrix[0], matrix[1], matrix[2], matrix[3]})) return true;
    const std::optional<BasisChange> change = diagonalize(op, matrix);
    if (!change) return false;
    std::vector<std::pair<Qubit, Letter>> letters;
    for (std::size_t j = 0; j < op.target_count; ++j) {
      // vectors Z vectors'
      const std::optional<Letter> letter = image(adjoint(change->vectors[j]), kZ);
      if (!letter) return false;
      letters.emplace_back(op.targets[j], *letter);
    }
    return add_terms(index, letters, change->terms);
  }

  /// Puts a Clifford gate behind what follows; false where it is none.
  bool turn(std::uint32_t index, Qubit wire, const Matrix2& gate) {
    const std::optional<Images> images = clifford(gate);
    if (!images) return false;
    Frame& frame = frames_[wire];
    const Letter x = frame.of(images->x), z = frame.of(images->z);
    frame.x = x;
    frame.z = z;
    frame.gates = unitary_product(gate, frame.gates);
    frame.members.push_back(index);
    return true;
  }

  /// Adds the rotations of a diagonal over Z of every wire, or over `letters` on theirs; false, with nothing added,
  /// where a term has no rotations here.
  bool add_terms(std::uint32_t index, const std::vector<std::pair<Qubit, Letter>>& letters,
                 std::span<const PhaseTerm> terms) {
    for (const PhaseTerm& term : terms)
      if (!term.parity && count_bits(term.mask) > 2) return false;
    const std::size_t before = stretch_.rotations.size();
    Index wires = 0;
    for (const PhaseTerm& term : terms) {
      wires |= term.mask;
      if (term.mask == 0) {
        stretch_.phase = open_.added(stretch_.phase, term.whole_angle());
      } else if (term.parity || is_power_of_two(term.mask)) {
        add_parity(term.mask, term.whole_angle(), letters);
      } else {  // a b = (a + b - (a xor b)) / 2
        const Index low = term.mask & (~term.mask + 1);
        add_parity(low, open_.scaled(term.whole_angle(), 0.5), letters);
        add_parity(term.mask ^ low, open_.scaled(term.whole_angle(), 0.5), letters);
        add_parity(term.mask, open_.scaled(term.whole_angle(), -0.5), letters);
      }
    }
    // The first rotation stands for the gates that were turned into it; where there is none, a rest does.
    std::vector<std::uint32_t> members;
    for_each_bit(wires, [&](unsigned wire) {
      std::vector<std::uint32_t>& waiting = frames_[wire].members;
      members.insert(members.end(), waiting.begin(), waiting.end());
      waiting.clear();
    });
    members.push_back(index);
    if (before < stretch_.rotations.size()) {
      stretch_.rotations[before].members = std::move(members);
    } else {
      frames_[0].members.insert(frames_[0].members.end(), members.begin(), members.end());
    }
    return true;
  }

  void add_parity(Index mask, const OpenAngle& angle, const std::vector<std::pair<Qubit, Letter>>& letters) {
    StringRotation rotation;
    bool minus = false;
    for_each_bit(mask, [&](unsigned wire) {
      Letter letter = kZ;
      for (const auto& [qubit, other] : letters)
        if (qubit == wire) letter = other;
      letter = frames_[wire].of(letter);
      rotation.x |= Index{letter.x} << wire;
      rotation.z |= Index{letter.z} << wire;
      minus = minus != letter.minus;
    });
    // exp(i a (1 + P) / 2) = exp(i a) exp(-i a (1 - P) / 2)
    if (minus) stretch_.phase = open_.added(stretch_.phase, angle);
    in_strings_ |= mask;
    rotation.angle = minus ? open_.negated(angle) : angle;
    stretch_.rotations.push_back(std::move(rotation));
  }

  const Lowered& lowered_;
  const bool zero_;
  OpenNumbers& open_;
  std::vector<Frame> frames_;
  StringStretch stretch_;
  Index in_strings_ = 0;  // wires of rotations so far
  std::vector<StringStretch> found_;
};

}  // namespace

void put_rests_first(StringStretch& stretch, OpenNumbers& open) {
  for (const StringRest& rest : stretch.rests) {
    // rest letter rest'
    const std::optional<Images> images = clifford(adjoint(rest.matrix));
    if (!images) throw Error("what is left of Clifford gates is none");
    Frame frame;
    frame.x = images->x;
    frame.z = images->z;
    const Index wire = bit_mask(rest.wire);
    for (StringRotation& rotation : stretch.rotations) {
      const Letter old{(rotation.x & wire) != 0, (rotation.z & wire) != 0};
      if (!old.x && !old.z) continue;
      const Letter letter = frame.of(old);
      rotation.x = letter.x ? rotation.x | wire : rotation.x & ~wire;
      rotation.z = letter.z ? rotation.z | wire : rotation.z & ~wire;
      if (!letter.minus) continue;
      stretch.phase = open.added(stretch.phase, rotation.angle);
      rotation.angle = open.negated(rotation.angle);
    }
  }
}

std::vector<StringStretch> string_stretches(const Lowered& lowered, bool zero, OpenNumbers& open) {
  return Reader(lowered, zero, open).run();
}

}  // namespace qsim
