// Packing by elimination over GF(2), and what a rotation becomes in the coordinates of its sweep.
#include "plan/sweep/string_sweeps.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/bits.h"
#include "base/numbers/rounding.h"
#include "plan/lower/basis_change.h"
#include "plan/lower/merge_terms.h"
#include "qsim/error.h"

namespace qsim {
namespace {

// How far a sweep looks for rotations that commute with those that it leaves to later ones.
constexpr std::size_t kMostLeft = 32, kMostLookedAt = 256;

bool commute(const StringRotation& a, const StringRotation& b) {
  return odd_parity(a.x & b.z) == odd_parity(a.z & b.x);
}

/// The tiles of one sweep: wires at the low bits, and further ones that reach the X part of a string each.
class Span {
 public:
  explicit Span(const StringTile& tile) : tile_(tile), most_(tile.size - std::min(tile.size, tile.low)) {
    for (Qubit wire = 0; wire < tile.layout.bit_of.size(); ++wire) {
      const Bit bit = tile.layout.bit_of[wire];
      low_ |= Index{bit < tile.low} << wire;
      kept_ |= Index{bit < tile.kept} << wire;
    }
  }

  /// Whether the tiles have `x`, after another wire has come to reach it where there is room.
  bool add(Index x) {
    const auto [rest, sum] = reduced(x);
    if (rest == 0) return true;
    if (rows_.size() == most_) return false;
    rows_.push_back({rest, sum | bit_mask(static_cast<unsigned>(rows_.size())), highest(rest), x & ~kept_});
    return true;
  }

  std::vector<std::pair<Qubit, Index>> reach() const {
    std::vector<std::pair<Qubit, Index>> pairs;
    for (const Row& row : rows_) pairs.emplace_back(row.wire, row.reach);
    return pairs;
  }

  /// The letters of `rotation` on the sweep's coordinates: wires that reach others stand for what they reach.
  StringRotation letters(const StringRotation& rotation) const {
    StringRotation result;
    result.angle = rotation.angle;
    result.z = rotation.z;
    result.x = rotation.x;
    const Index sum = reduced(rotation.x).second;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Index wire = bit_mask(rows_[i].wire);
      result.z &= ~wire;
      if (odd_parity(rotation.z & rows_[i].reach)) result.z |= wire;
      if (test_bit(sum, static_cast<unsigned>(i))) result.x ^= rows_[i].reach;
    }
    // What the rows do not say is on the low bits.
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (test_bit(sum, static_cast<unsigned>(i))) result.x |= bit_mask(rows_[i].wire);
    return result;
  }

 private:
  struct Row {
    Index rest = 0;   // of the reaches in `sum`, without the low bits and what rows before have as their wires
    Index sum = 0;    // rows
    Qubit wire = 0;   // that reaches
    Index reach = 0;  // what it reaches
  };

  std::pair<Index, Index> reduced(Index x) const {
    Index rest = x & ~low_, sum = 0;
    for (const Row& row : rows_) {
      if (!test_bit(rest, row.wire)) continue;
      rest ^= row.rest;
      sum ^= row.sum;
    }
    return {rest, sum};
  }

  /// The highest in memory: neighbouring tiles then differ in low bits.
  Qubit highest(Index wires) const {
    Qubit best = log2_exact(wires & (~wires + 1));
    for_each_bit(wires, [&](unsigned wire) {
      if (tile_.layout.bit_of[wire] > tile_.layout.bit_of[best]) best = wire;
    });
    return best;
  }

  const StringTile& tile_;
  const std::size_t most_;
  Index low_ = 0, kept_ = 0;
  std::vector<Row> rows_;
};

/// Takes from `waiting` what `fits`, in order, but past rotations that are left only where it commutes with those.
template <typename Fits>
std::vector<const StringRotation*> take(std::deque<const StringRotation*>& waiting, Fits fits) {
  std::vector<const StringRotation*> taken, left;
  std::size_t at = 0;
  for (; at < waiting.size() && at < kMostLookedAt && left.size() < kMostLeft; ++at) {
    const StringRotation& one = *waiting[at];
    const bool held = std::ranges::any_of(left, [&](const StringRotation* other) { return !commute(one, *other); });
    (held || !fits(one) ? left : taken).push_back(&one);
  }
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(at));
  waiting.insert(waiting.begin(), left.begin(), left.end());
  return taken;
}

std::deque<const StringRotation*> all(std::span<const StringRotation> rotations) {
  std::deque<const StringRotation*> waiting;
  for (const StringRotation& rotation : rotations) waiting.push_back(&rotation);
  return waiting;
}

class Writer {
 public:
  Writer(const Lowered& lowered, Lowered& out, std::vector<std::pair<std::uint32_t, std::uint32_t>>& placed)
      : lowered_(lowered), out_(out), placed_(placed) {}

  /// Turns to Z, a diagonal of one parity, turns back.
  void write(const StringRotation& on, std::span<const std::uint32_t> members, std::vector<std::uint32_t>& ops) {
    const auto turns = [&](const Matrix2& from_y) {
      for_each_bit(on.x, [&](unsigned wire) {
        LoweredOp op;
        op.act_on(bit_mask(wire));
        op.data_begin = static_cast<std::uint32_t>(out_.matrices.size());
        op.data_count = 4;
        const Matrix2& matrix = test_bit(on.z, wire) ? from_y : kHadamard2;
        out_.matrices.insert(out_.matrices.end(), matrix.begin(), matrix.end());
        append(op, ops);
      });
    };
    turns(kFromY);
    const std::uint32_t place = phases({PhaseTerm(on.x | on.z, true, on.angle)}, ops);
    for (const std::uint32_t member : members) {
      out_.ops[place].gates += lowered_.ops[member].gates;
      placed_.emplace_back(member, place);
    }
    turns(kToY);
  }

  std::uint32_t phases(std::vector<PhaseTerm> terms, std::vector<std::uint32_t>& ops) {
    append(phases_of(terms, 0, out_), ops);
    return ops.back();
  }

 private:
  void append(LoweredOp op, std::vector<std::uint32_t>& ops) {
    set_basis_masks(op, op.form == Form::kMatrix ? out_.matrix(op) : std::span<const Complex>(),
                    op.form == Form::kPhases ? out_.terms(op) : std::span<const PhaseTerm>());
    ops.push_back(static_cast<std::uint32_t>(out_.ops.size()));
    out_.ops.push_back(op);
  }

  const Lowered& lowered_;
  Lowered& out_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>& placed_;
};

}  // namespace

StringCounts count_string_sweeps(std::span<const StringRotation> rotations, const StringTile& tile) {
  StringCounts counts;
  for (auto waiting = all(rotations); !waiting.empty(); ++counts.by_strings) {
    Span span(tile);
    take(waiting, [&](const StringRotation& rotation) { return span.add(rotation.x); });
  }
  for (auto waiting = all(rotations); !waiting.empty(); ++counts.by_wires) {
    Index wires = 0;
    take(waiting, [&](const StringRotation& rotation) {
      const bool fits = wires == 0 || count_bits(wires | rotation.x) <= tile.size;
      if (fits) wires |= rotation.x;
      return fits;
    });
  }
  return counts;
}

std::vector<StringSweep> write_string_sweeps(const StringStretch& stretch, const StringTile& tile,
                                             const Lowered& lowered, Lowered& out,
                                             std::vector<std::pair<std::uint32_t, std::uint32_t>>& placed) {
  std::vector<StringSweep> sweeps;
  Writer writer(lowered, out, placed);
  OpenAngle phase = stretch.phase;
  for (auto waiting = all(stretch.rotations); !waiting.empty();) {
    Span span(tile);
    const auto taken = take(waiting, [&](const StringRotation& rotation) { return span.add(rotation.x); });
    StringSweep& sweep = sweeps.emplace_back();
    sweep.reach = span.reach();
    for (const StringRotation* const rotation : taken) {
      StringRotation on = span.letters(*rotation);
      // P is i^(number of Y) times X's times Z's, of which a change of coordinates keeps all but that number.
      if ((count_bits(rotation->x & rotation->z) - count_bits(on.x & on.z)) % 4 != 0) {
        phase = out.open.added(phase, on.angle);
        on.angle = out.open.negated(on.angle);
      }
      if ((on.x | on.z) == 0) throw Error("a rotation about nothing");
      writer.write(on, rotation->members, sweep.ops);
    }
  }
  if (phase.sum == 0) phase.value = wrap_angle(phase.value);
  if (phase.value != 0 || phase.sum != 0) writer.phases({PhaseTerm(0, false, phase)}, sweeps.back().ops);
  return sweeps;
}

}  // namespace qsim
