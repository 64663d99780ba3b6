// One pass with, a wire, either a pending matrix or pending phase terms; whatever does not commute flushes them.
#include "plan/merge.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/bits.h"
#include "plan/matrix_forms.h"

namespace qsim {
namespace {

constexpr std::size_t kMaxPendingTerms = 256;  // keeps the pass linear

using Matrix2 = std::array<Complex, 4>;

Matrix2 times(const Matrix2& a, const Matrix2& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}

// Operations before the merge that wait for their place, as a list through Merger::next_.
struct Waiting {
  std::uint32_t head = kCancelled, tail = kCancelled, count = 0, gates = 0, source = 0;
};

class Merger {
 public:
  explicit Merger(const Lowered& lowered)
      : in_(lowered), next_(lowered.ops.size(), kCancelled), wires_(lowered.qubits) {
    result_.place.assign(lowered.ops.size(), kCancelled);
    Lowered& out = result_.lowered;
    out.qubits = lowered.qubits;
    out.wire_of = lowered.wire_of;
    out.gates = lowered.gates;
    out.removed = lowered.removed;
    out.ops.reserve(lowered.ops.size() / 2);
  }

  Merged run() {
    for (std::uint32_t i = 0; i < in_.ops.size(); ++i) add(i);
    flush_terms(~Index{0});
    for (Qubit wire = 0; wire < in_.qubits; ++wire) flush_wire(wire);
    return std::move(result_);
  }

 private:
  struct PendingWire {
    Matrix2 matrix{};
    Waiting waiting;
    bool pending = false;
  };
  struct PendingTerm {
    PhaseTerm term;
    Waiting waiting;
  };

  void append(Waiting& list, std::uint32_t op) {
    if (list.head == kCancelled) {
      list.head = op;
      list.source = in_.ops[op].source;
    } else {
      next_[list.tail] = op;
    }
    list.tail = op;
    ++list.count;
    list.gates += in_.ops[op].gates;
  }

  void settle(const Waiting& list, std::uint32_t place) {
    for (std::uint32_t op = list.head; op != kCancelled; op = next_[op]) result_.place[op] = place;
  }

  void cancel(const Waiting& list) {
    for (std::uint32_t op = list.head; op != kCancelled; op = next_[op]) {
      for (std::uint32_t g = 0; g < in_.ops[op].gates; ++g) {
        result_.lowered.removed.push_back({in_.ops[op].source, "cancelled"});
      }
    }
  }

  void add(std::uint32_t index) {
    const LoweredOp& op = in_.ops[index];
    const bool single = op.control_mask == 0 && std::has_single_bit(op.support);
    const Index not_diagonal = op.support & ~op.z_mask;
    if (single && (op.form != Form::kPhases || wires_[wire_in(op)].pending)) {
      flush_terms(op.support);
      return add_to_wire(index);
    }
    for (Index wires = op.support; wires != 0; wires &= wires - 1) {
      flush_wire(static_cast<Qubit>(std::countr_zero(wires)));
    }
    if (op.form == Form::kPhases && op.control_mask == 0) return add_terms(index);
    flush_terms(not_diagonal);
    copy(index);
  }

  static Qubit wire_in(const LoweredOp& op) { return static_cast<Qubit>(std::countr_zero(op.support)); }

  Matrix2 matrix_of(const LoweredOp& op) const {
    switch (op.form) {
      case Form::kFlip:
        return {0, 1, 1, 0};
      case Form::kMatrix: {
        const auto m = in_.matrix(op);
        return {m[0], m[1], m[2], m[3]};
      }
      case Form::kPhases:
        break;
    }
    Matrix2 matrix{1, 0, 0, 1};
    for (const PhaseTerm& term : in_.terms(op)) {
      const Complex phase = std::polar(1.0, term.angle);
      if (term.mask == 0) matrix[0] *= phase;
      matrix[3] *= phase;
    }
    return matrix;
  }

  void add_to_wire(std::uint32_t index) {
    PendingWire& wire = wires_[wire_in(in_.ops[index])];
    const Matrix2 matrix = matrix_of(in_.ops[index]);
    wire.matrix = wire.pending ? times(matrix, wire.matrix) : matrix;
    wire.pending = true;
    append(wire.waiting, index);
  }

  void add_terms(std::uint32_t index) {
    const auto terms = in_.terms(in_.ops[index]);
    bool first = true;  // the operation waits with its first term
    for (const PhaseTerm& term : terms) {
      const auto same = [&](const PendingTerm& p) { return p.term.mask == term.mask && p.term.parity == term.parity; };
      auto found = std::find_if(terms_.begin(), terms_.end(), same);
      if (found == terms_.end()) {
        terms_.push_back({{term.mask, term.parity, 0}, {}});
        found = terms_.end() - 1;
        term_wires_ |= term.mask;
      }
      found->term.angle += term.angle;
      if (first) append(found->waiting, index);
      first = false;
    }
    if (terms_.size() > kMaxPendingTerms) flush_terms(~Index{0});
  }

  // Emits all pending terms that touch `wires` (all-ones: every term) as one operation.
  void flush_terms(Index wires) {
    if ((term_wires_ & wires) == 0 && ~wires != 0) return;
    Lowered& out = result_.lowered;
    const std::size_t data_begin = out.phases.size();
    std::vector<Waiting> waiting;
    std::size_t kept = 0;
    term_wires_ = 0;
    for (PendingTerm& pending : terms_) {
      if ((pending.term.mask & wires) == 0 && ~wires != 0) {
        term_wires_ |= pending.term.mask;
        terms_[kept++] = pending;
        continue;
      }
      pending.term.angle = wrap_angle(pending.term.angle);
      if (pending.term.angle != 0) out.phases.push_back(pending.term);
      waiting.push_back(pending.waiting);
    }
    terms_.resize(kept);
    if (out.phases.size() == data_begin) {
      for (const Waiting& list : waiting) cancel(list);
      return;
    }
    LoweredOp op;
    op.form = Form::kPhases;
    op.data_begin = static_cast<std::uint32_t>(data_begin);
    op.data_count = static_cast<std::uint32_t>(out.phases.size() - data_begin);
    op.source = waiting.front().source;
    for (const Waiting& list : waiting) {
      op.gates += list.gates;
      result_.phases_merged += list.count;
      settle(list, static_cast<std::uint32_t>(out.ops.size()));
    }
    --result_.phases_merged;
    set_basis_masks(op, {}, out.terms(op));
    out.ops.push_back(op);
  }

  void flush_wire(Qubit wire) {
    PendingWire& pending = wires_[wire];
    if (!pending.pending) return;
    pending.pending = false;
    const Waiting waiting = pending.waiting;
    pending.waiting = {};
    if (waiting.count == 1 && in_.ops[waiting.head].form != Form::kPhases) return copy(waiting.head);
    result_.matrices_merged += waiting.count - 1;
    Lowered& out = result_.lowered;
    LoweredOp op;
    op.gates = waiting.gates;
    op.source = waiting.source;
    const Bit target = static_cast<Bit>(wire);
    if (const auto angles = diagonal_angles(pending.matrix)) {
      const auto terms = phase_terms(*angles, std::span(&target, 1), 0);
      if (terms.empty()) return cancel(waiting);
      op.form = Form::kPhases;
      op.data_begin = static_cast<std::uint32_t>(out.phases.size());
      op.data_count = static_cast<std::uint32_t>(terms.size());
      out.phases.insert(out.phases.end(), terms.begin(), terms.end());
      set_basis_masks(op, {}, terms);
    } else {
      op.target_count = 1;
      op.targets[0] = target;
      op.data_begin = static_cast<std::uint32_t>(out.matrices.size());
      op.data_count = 4;
      out.matrices.insert(out.matrices.end(), pending.matrix.begin(), pending.matrix.end());
      set_basis_masks(op, pending.matrix, {});
    }
    settle(waiting, static_cast<std::uint32_t>(out.ops.size()));
    out.ops.push_back(op);
  }

  void copy(std::uint32_t index) {
    LoweredOp op = in_.ops[index];
    Lowered& out = result_.lowered;
    if (op.form == Form::kMatrix) {
      const auto matrix = in_.matrix(op);
      op.data_begin = static_cast<std::uint32_t>(out.matrices.size());
      out.matrices.insert(out.matrices.end(), matrix.begin(), matrix.end());
    } else if (op.form == Form::kPhases) {
      const auto terms = in_.terms(op);
      op.data_begin = static_cast<std::uint32_t>(out.phases.size());
      out.phases.insert(out.phases.end(), terms.begin(), terms.end());
    }
    result_.place[index] = static_cast<std::uint32_t>(out.ops.size());
    out.ops.push_back(op);
  }

  const Lowered& in_;
  Merged result_;
  std::vector<std::uint32_t> next_;
  std::vector<PendingWire> wires_;
  std::vector<PendingTerm> terms_;
  Index term_wires_ = 0;
};

}  // namespace

Merged merge_neighbours(const Lowered& lowered) { return Merger(lowered).run(); }

}  // namespace qsim
