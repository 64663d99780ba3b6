// Building a timeline: pending 1-qubit products, frames of bit flips, basis changes that make every control a diagonal.
#include "plan/timeline/timeline.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <tuple>
#include <unordered_map>

#include "base/bits.h"
#include "base/numbers/bit_products.h"
#include "base/numbers/phase.h"
#include "plan/lower/basis_change.h"
#include "plan/matrix_forms.h"
#include "plan/plan.h"
#include "plan/timeline/pending.h"

namespace qsim {
namespace {

using std::numbers::pi;

class Builder {
 public:
  Builder(const Lowered& lowered, const TimelineSource& part)
      : lowered_(lowered), part_(part), keep_sources_(part.keep_sources) {
    result_.wires = lowered.qubits;
    result_.open = lowered.open;
    result_.line.resize(lowered.qubits);
    result_.turns.reserve(part.last - part.first);
    result_.matrices.reserve(4 * (part.last - part.first));
    pending_.resize(lowered.qubits);
    for (Index rest = part.unborn; rest != 0; rest &= rest - 1) {
      const auto wire = static_cast<std::uint32_t>(std::countr_zero(rest));
      const auto& [zero, one] = part.factor[wire];
      pending_[wire].matrix = {zero, -std::conj(one), one, std::conj(zero)};
      pending_[wire].birth = true;
    }
  }

  Timeline run() {
    for (std::size_t i = part_.first; i < part_.last; ++i) {
      const LoweredOp& op = lowered_.ops[i];
      source_ = op.source;
      switch (op.form) {
        case Form::kPhases:
          add_phases(op);
          break;
        case Form::kFlip:
          add_flip(op);
          break;
        case Form::kMatrix:
          add_matrix(op);
          break;
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  void add_phases(const LoweredOp& op) {
    std::uint32_t gates = op.gates;
    for (const PhaseTerm& term : lowered_.terms(op)) {
      const Index mask = op.control_mask | (term.parity ? 0 : term.mask);
      Index value = op.control_value;
      if (!term.parity) {
        if (!op.may_meet(term.mask)) continue;
        value |= term.mask;
      }
      add_diagonal(mask, value, term.parity ? term.mask : 0, term.whole_angle(), gates);
      gates = 0;
    }
    vanish(gates);
  }

  void add_flip(const LoweredOp& op) {
    const std::uint32_t target = op.targets[0];
    if (op.control_mask == 0) return multiply(target, kFlip2, op.gates);
    if (!part_.split_controls) return add_joint(op, kFlip2);
    multiply(target, kHadamard2, 0);
    add_diagonal(op.control_mask | bit_mask(target), op.control_value | bit_mask(target), 0, pi, op.gates);
    multiply(target, kHadamard2, 0);
  }

  void add_matrix(const LoweredOp& op) {
    const auto matrix = lowered_.matrix(op);
    if (op.target_count == 1) {
      const Matrix2 m{matrix[0], matrix[1], matrix[2], matrix[3]};
      if (op.control_mask == 0) return multiply(op.targets[0], m, op.gates);
      if (!part_.split_controls) return add_joint(op, matrix);
      if (const auto basis = eigenbasis(m)) return add_controlled(op, *basis, op.gates);
      ++result_.refused;
      return add_joint(op, matrix);
    }
    if (const auto change = diagonalize(op, matrix)) return add_changed(op, *change);
    add_joint(op, matrix);
  }

  // V diag(e^{ia}, e^{ib}) V' on the target, under controls.
  void add_controlled(const LoweredOp& op, const Eigenbasis& basis, std::uint32_t gates) {
    const std::uint32_t target = op.targets[0];
    multiply(target, adjoint(basis.vectors), 0);
    add_diagonal(op.control_mask, op.control_value, 0, basis.angle[0], 0);
    add_diagonal(op.control_mask | bit_mask(target), op.control_value | bit_mask(target), 0,
                 basis.angle[1] - basis.angle[0], gates);
    multiply(target, basis.vectors, 0);
  }

  void add_changed(const LoweredOp& op, const BasisChange& change) {
    for (std::size_t j = 0; j < op.target_count; ++j) multiply(op.targets[j], adjoint(change.vectors[j]), 0);
    std::uint32_t gates = op.gates;
    for (const PhaseTerm& term : change.terms) {
      add_diagonal(op.control_mask | term.mask, op.control_value | term.mask, 0, term.angle, gates);
      gates = 0;
    }
    vanish(gates);
    for (std::size_t j = 0; j < op.target_count; ++j) multiply(op.targets[j], change.vectors[j], 0);
  }

  void multiply(std::uint32_t wire, const Matrix2& matrix, std::uint32_t gates) {
    Pending& pending = pending_[wire];
    pending.multiply(matrix);
    count(wire, gates);
  }

  void count(std::uint32_t wire, std::uint32_t gates) {
    Pending& pending = pending_[wire];
    pending.gates += gates;
    if (keep_sources_ && gates != 0) pending.sources.push_back(source_);
    if (!part_.merge_runs && !is_diagonal(pending.matrix)) emit_turn(wire);
  }

  std::uint32_t position(std::uint32_t wire) const { return static_cast<std::uint32_t>(result_.line[wire].size()); }

  // Makes a wire ready for a diagonal: what is pending becomes a turn unless it is a diagonal or a flip.
  void settle(std::uint32_t wire) {
    const Pending& pending = pending_[wire];
    if (!pending.birth && (pending.is_phases() || (part_.move_flips && pending.is_fixed_flip()))) return;
    emit_turn(wire);
  }

  void emit_turn(std::uint32_t wire) {
    Pending& pending = pending_[wire];
    Turn turn;
    turn.birth = pending.birth;
    turn.targets[0] = static_cast<Bit>(wire);
    turn.position[0] = position(wire);
    turn.matrix_begin = result_.matrices.size();
    turn.gates = pending.gates;
    turn.open = std::move(pending.open);
    const auto id = static_cast<std::uint32_t>(result_.turns.size());
    result_.matrices.insert(result_.matrices.end(), pending.matrix.begin(), pending.matrix.end());
    result_.turns.push_back(std::move(turn));
    result_.line[wire].push_back(id);
    take_sources(wire, id);
    pending = Pending{};
  }

  void take_sources(std::uint32_t wire, std::uint32_t turn) {
    for (const std::uint32_t source : pending_[wire].sources) result_.turn_sources.emplace_back(source, turn);
    pending_[wire].sources.clear();
  }

  // Unborn wires that are in a basis state (their pending matrix applied to |0>), and those of them that are 1.
  Index known_wires(Index wires, Index& ones) const {
    Index known = 0;
    for (Index rest = wires & part_.unborn; rest != 0; rest &= rest - 1) {
      const Pending& pending = pending_[static_cast<std::size_t>(std::countr_zero(rest))];
      const Index wire = rest & (~rest + 1);
      if (!pending.birth) continue;
      if (std::abs(pending.matrix[2]) <= kRounding) known |= wire;
      if (std::abs(pending.matrix[0]) <= kRounding) {
        known |= wire;
        ones |= wire;
      }
    }
    return known;
  }

  void add_diagonal(Index mask, Index value, Index parity, OpenAngle angle, std::uint32_t gates) {
    Index ones = 0;
    const Index known = known_wires(mask | parity, ones);
    if (known != 0 && !std::has_single_bit(mask | parity)) {
      if ((mask & known & (value ^ ones)) != 0) return vanish(gates);
      if ((popcount(parity & ones) & 1) != 0) {
        add_diagonal(mask & ~known, value & ~known, 0, angle, 0);
        angle = result_.open.negated(angle);
      }
      if (parity != 0 && (parity & ~known) == 0) return vanish(gates);
      mask &= ~known;
      value &= ~known;
      parity &= ~known;
      if ((mask | parity) == 0) return add_term(0, 0, 0, angle, gates);
    }
    if (std::has_single_bit(mask | parity)) {  // belongs to the wire's pending product
      const bool on_one = parity != 0 || value != 0;
      const bool contradiction = parity != 0 && mask != 0 && value == 0;
      if (contradiction) return vanish(gates);
      const auto wire = static_cast<std::uint32_t>(std::countr_zero(mask | parity));
      pending_[wire].multiply_phase(angle, on_one);
      return count(wire, gates);
    }
    for (Index rest = mask | parity; rest != 0; rest &= rest - 1)
      settle(static_cast<std::uint32_t>(std::countr_zero(rest)));
    // Pending flips are moved behind the diagonal.
    bool odd = false;
    for (Index rest = mask | parity; rest != 0; rest &= rest - 1) {
      const auto wire = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (!pending_[wire].is_fixed_flip()) continue;
      value ^= bit_mask(wire) & mask;
      if (parity & bit_mask(wire)) odd = !odd;
    }
    if (odd) {
      add_product(mask, value, 0, angle, 0);
      angle = result_.open.negated(angle);
    }
    add_product(mask, value, parity, angle, gates);
  }

  // Writes conditions "bit is 0" as differences of conditions "bit is 1", so that equal terms meet.
  void add_product(Index mask, Index value, Index parity, const OpenAngle& angle, std::uint32_t gates) {
    const Index zeros = mask & ~value;
    if (zeros == 0 || popcount(zeros) > 3) return add_term(mask, value, parity, angle, gates);
    for_each_product(mask, value, [&](Index ones, int sign) {
      add_term(ones, ones, parity, sign > 0 ? angle : result_.open.negated(angle), std::exchange(gates, 0));
    });
  }

  OpenAngle sum(const OpenAngle& a, const OpenAngle& b) { return result_.open.added(a, b); }
  void add_global(const OpenAngle& angle) {
    if (angle.sum != 0) return open_globals_.push_back(angle);
    result_.global_phase = sum(result_.global_phase, angle);
  }

  void add_term(Index mask, Index value, Index parity, const OpenAngle& angle, std::uint32_t gates) {
    const OpenAngle wrapped{wrap_angle(angle.value), angle.sum};
    if (mask == value && (mask & parity) != 0) return add_reduced(mask, parity, wrapped, gates);
    if (wrapped.value == 0) return vanish(gates);
    if (popcount(parity) == 1) {
      mask |= parity;
      value |= parity;
      parity = 0;
    }
    const Index wires = mask | parity;
    if (wires == 0) {
      add_global(wrapped);
      return vanish(gates);
    }
    if (std::has_single_bit(wires)) return add_single(mask, wrapped);
    merge_or_append(mask, value, parity, wrapped, gates);
  }

  // Bits that must be 1 count in the parity as 1.
  void add_reduced(Index mask, Index parity, OpenAngle angle, std::uint32_t gates) {
    const bool odd = popcount(mask & parity) % 2 == 1;
    parity &= ~mask;
    if (odd) {
      add_term(mask, mask, 0, angle, 0);
      angle = result_.open.negated(angle);
    }
    if (parity == 0) return vanish(gates);
    add_term(mask, mask, parity, angle, gates);
  }

  // A part of an operation on several wires, which stands for the operation elsewhere.
  void add_single(Index wire, const OpenAngle& angle) {
    // The term was already moved in front of a pending flip.
    pending_[static_cast<std::size_t>(std::countr_zero(wire))].put_phase_before(angle);
  }

  void merge_or_append(Index mask, Index value, Index parity, const OpenAngle& angle, std::uint32_t gates) {
    const auto key = std::tuple(mask, value, parity);
    const auto found = latest_.find(key);
    if (part_.merge_diagonals && found != latest_.end() && stands_at_gaps(result_.diagonals[found->second])) {
      Diagonal& diagonal = result_.diagonals[found->second];
      diagonal.set_angle(sum(diagonal.whole_angle(), angle));
      diagonal.gates += gates;
      note_diagonal(found->second, gates);
      return;
    }
    Diagonal diagonal{mask, value, parity, angle.value, result_.gaps.size(), gates, angle.sum};
    for (Index rest = mask | parity; rest != 0; rest &= rest - 1)
      result_.gaps.push_back(position(static_cast<std::uint32_t>(std::countr_zero(rest))));
    const auto id = static_cast<std::uint32_t>(result_.diagonals.size());
    latest_[key] = id;
    note_diagonal(id, gates);
    result_.diagonals.push_back(diagonal);
  }

  bool stands_at_gaps(const Diagonal& diagonal) const {
    std::uint64_t at = diagonal.gaps_begin;
    for (Index rest = diagonal.wires(); rest != 0; rest &= rest - 1)
      if (result_.gaps[at++] != position(static_cast<std::uint32_t>(std::countr_zero(rest)))) return false;
    return true;
  }

  void note_diagonal(std::uint32_t id, std::uint32_t gates) {
    if (keep_sources_ && gates != 0) result_.diagonal_sources.emplace_back(source_, id);
  }

  void vanish(std::uint32_t gates) {
    if (keep_sources_ && gates != 0) result_.vanished_sources.push_back(source_);
  }

  void add_joint(const LoweredOp& op, std::span<const Complex> matrix) {
    Index ones = 0;
    const Index known = known_wires(op.control_mask, ones);
    if (((op.control_value ^ ones) & known) != 0) return vanish(op.gates);
    Turn turn;
    turn.target_count = op.target_count;
    turn.control_mask = op.control_mask & ~known;
    turn.control_value = op.control_value & ~known;
    turn.gates = op.gates;
    for (Index rest = turn.control_mask; rest != 0; rest &= rest - 1) {
      const auto wire = static_cast<std::uint32_t>(std::countr_zero(rest));
      settle(wire);
      if (pending_[wire].is_fixed_flip()) turn.control_value ^= bit_mask(wire);
      turn.control_gaps.push_back(position(wire));
    }
    std::vector<Complex> total(matrix.begin(), matrix.end());
    for (std::size_t j = 0; j < op.target_count; ++j) {
      const std::uint32_t wire = op.targets[j];
      const Pending& pending = pending_[wire];
      const bool apart = turn.control_mask != 0 && !is_identity(pending.matrix);
      if (pending.birth || apart || !pending.open.empty()) emit_turn(wire);
    }
    const auto joint_id = static_cast<std::uint32_t>(result_.turns.size());
    for (std::size_t j = 0; j < op.target_count; ++j) {
      const std::uint32_t wire = op.targets[j];
      multiply_right(total, j, pending_[wire].matrix);
      turn.gates += pending_[wire].gates;
      take_sources(wire, joint_id);
      pending_[wire] = Pending{};
      turn.targets[j] = op.targets[j];
      turn.position[j] = position(wire);
    }
    for (std::size_t j = 0; j < op.target_count; ++j) result_.line[op.targets[j]].push_back(joint_id);
    turn.matrix_begin = result_.matrices.size();
    result_.matrices.insert(result_.matrices.end(), total.begin(), total.end());
    if (keep_sources_ && op.gates != 0) result_.turn_sources.emplace_back(source_, joint_id);
    result_.turns.push_back(turn);
  }

  // Turns, phases and flips that are still pending at the end.
  void finish() {
    Index flipped = 0;
    for (std::uint32_t wire = 0; wire < result_.wires; ++wire) {
      settle(wire);
      if (pending_[wire].is_fixed_flip()) {
        if (!absorbs(wire)) {
          emit_turn(wire);
        } else {
          flipped |= bit_mask(wire);
        }
      }
      if (pending_[wire].is_phases()) finish_diagonal(wire);
    }
    if (flipped != 0) flip_last_gaps(flipped);
    drop_zero_angles();
    if (!open_globals_.empty()) {
      open_globals_.push_back(result_.global_phase);
      result_.global_phase = result_.open.total(open_globals_);
    }
    result_.index_gaps();
  }

  void finish_diagonal(std::uint32_t wire) {
    Pending& pending = pending_[wire];
    const OpenAngle zero = pending.phase(false, result_.open), one = pending.phase(true, result_.open);
    add_global(zero);
    if (const OpenAngle angle = sum(one, result_.open.negated(zero)); angle.value != 0) {
      const std::uint32_t last = position(wire);
      if (absorbs(wire)) {  // commutes with the diagonals of the last gap
        const Matrix2 phase{1, 0, 0, phase_by(angle.value)};
        return merge_into_last(wire, {angle.sum, true, phase});
      }
      Diagonal diagonal{bit_mask(wire), bit_mask(wire), 0, angle.value, result_.gaps.size(), pending.gates, angle.sum};
      result_.gaps.push_back(last);
      for (const std::uint32_t source : pending.sources)
        result_.diagonal_sources.emplace_back(source, static_cast<std::uint32_t>(result_.diagonals.size()));
      result_.diagonals.push_back(diagonal);
    } else {
      for (const std::uint32_t source : pending.sources) result_.vanished_sources.push_back(source);
    }
  }

  // The wire's last turn may take another factor.
  bool absorbs(std::uint32_t wire) const {
    const auto& line = result_.line[wire];
    if (line.empty()) return false;
    const Turn& last = result_.turns[line.back()];
    return last.control_mask == 0 && (last.target_count == 1 || pending_[wire].open.empty());
  }

  void merge_into_last(std::uint32_t wire, const OpenFactor& left) {
    const std::uint32_t id = result_.line[wire].back();
    Turn& turn = result_.turns[id];
    std::size_t j = 0;
    while (turn.targets[j] != wire) ++j;
    const std::size_t order = std::size_t{1} << turn.target_count;
    std::vector<Complex> total(order * order);
    const auto begin = result_.matrices.begin() + static_cast<std::ptrdiff_t>(turn.matrix_begin);
    std::copy(begin, begin + static_cast<std::ptrdiff_t>(total.size()), total.begin());
    if (turn.target_count == 1) multiply_factors(turn.open, {total[0], total[1], total[2], total[3]}, left);
    multiply_left(total, j, left.matrix);
    std::copy(total.begin(), total.end(), begin);
    turn.gates += pending_[wire].gates;
    take_sources(wire, id);
    pending_[wire] = Pending{};
  }

  // A flip at the end moves in front of the diagonals and controls of the last gap, into the last turn.
  void flip_last_gaps(Index flipped) {
    std::vector<Diagonal> extra;
    for (std::size_t i = 0; i < result_.diagonals.size(); ++i) {
      Diagonal& diagonal = result_.diagonals[i];
      bool odd = false;
      for (Index rest = diagonal.wires() & flipped; rest != 0; rest &= rest - 1) {
        const auto wire = static_cast<std::uint32_t>(std::countr_zero(rest));
        if (result_.gap_of(diagonal, wire) != position(wire)) continue;
        diagonal.value ^= bit_mask(wire) & diagonal.mask;
        if (diagonal.parity & bit_mask(wire)) odd = !odd;
      }
      if (!odd) continue;
      if (diagonal.mask == 0) {
        add_global(diagonal.whole_angle());
      } else {
        Diagonal rest = diagonal;
        rest.parity = 0;
        rest.gates = 0;
        rest.gaps_begin = result_.gaps.size();
        for (Index bits = rest.mask; bits != 0; bits &= bits - 1)
          result_.gaps.push_back(result_.gap_of(diagonal, static_cast<std::uint32_t>(std::countr_zero(bits))));
        extra.push_back(rest);
      }
      diagonal.set_angle(result_.open.negated(diagonal.whole_angle()));
    }
    result_.diagonals.insert(result_.diagonals.end(), extra.begin(), extra.end());
    for (Turn& turn : result_.turns) {
      std::size_t gap = 0;
      for (Index rest = turn.control_mask; rest != 0; rest &= rest - 1, ++gap) {
        const auto wire = static_cast<std::uint32_t>(std::countr_zero(rest));
        if ((flipped >> wire & 1) != 0 && turn.control_gaps[gap] == position(wire))
          turn.control_value ^= bit_mask(wire);
      }
    }
    for (Index rest = flipped; rest != 0; rest &= rest - 1) {
      const auto wire = static_cast<std::uint32_t>(std::countr_zero(rest));
      merge_into_last(wire, {0, true, pending_[wire].matrix});
    }
  }

  void drop_zero_angles() {
    std::vector<std::uint32_t> place(result_.diagonals.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < result_.diagonals.size(); ++i) {
      place[i] = static_cast<std::uint32_t>(kept);
      if (result_.diagonals[i].angle != 0) {
        result_.diagonals[kept++] = result_.diagonals[i];
      } else {
        place[i] = ~std::uint32_t{0};
      }
    }
    result_.diagonals.resize(kept);
    std::size_t sources = 0;
    for (const auto& [source, id] : result_.diagonal_sources) {
      if (place[id] == ~std::uint32_t{0}) {
        result_.vanished_sources.push_back(source);
      } else {
        result_.diagonal_sources[sources++] = {source, place[id]};
      }
    }
    result_.diagonal_sources.resize(sources);
  }

  const Lowered& lowered_;
  const TimelineSource& part_;
  const bool keep_sources_;
  Timeline result_;
  std::vector<Pending> pending_;
  std::vector<OpenAngle> open_globals_;  // phases of everything, added up at the end
  struct KeyHash {
    std::size_t operator()(const std::tuple<Index, Index, Index>& key) const {
      Index h = std::get<0>(key) * 0x9E3779B97F4A7C15ull;
      h = (h ^ (h >> 29)) + std::get<1>(key) * 0xBF58476D1CE4E5B9ull;
      h = (h ^ (h >> 31)) + std::get<2>(key) * 0x94D049BB133111EBull;
      return static_cast<std::size_t>(h ^ (h >> 30));
    }
  };
  std::unordered_map<std::tuple<Index, Index, Index>, std::uint32_t, KeyHash> latest_;
  std::uint32_t source_ = 0;
};

}  // namespace

Timeline build_timeline(const Lowered& lowered, const TimelineSource& source) { return Builder(lowered, source).run(); }

}  // namespace qsim
