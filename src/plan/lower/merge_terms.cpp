// Diagonals wait until a step changes one of their wires; then all that wait become one operation.
#include "plan/lower/merge_terms.h"

#include <algorithm>

#include "plan/plan.h"

namespace qsim {
namespace {

class Merger {
 public:
  Merger(Lowered& lowered, std::vector<std::pair<std::uint32_t, std::uint32_t>>& stands_for)
      : lowered_(lowered), stands_for_(stands_for) {}

  std::vector<std::uint32_t> run(std::span<const std::uint32_t> ops) {
    for (const std::uint32_t index : ops) {
      const LoweredOp& op = lowered_.ops[index];
      if (op.form == Form::kPhases && op.control_mask == 0) {
        waiting_.push_back(index);
        wires_ |= op.support;
        continue;
      }
      if ((op.support & ~op.z_mask & wires_) != 0) emit();
      result_.push_back(index);
    }
    emit();
    return std::move(result_);
  }

 private:
  void emit() {
    if (waiting_.size() == 1) {
      result_.push_back(waiting_.front());
    } else if (!waiting_.empty()) {
      std::vector<PhaseTerm> terms;
      std::uint32_t gates = 0;
      const auto place = static_cast<std::uint32_t>(lowered_.ops.size());
      for (const std::uint32_t index : waiting_) {
        const auto more = lowered_.terms(lowered_.ops[index]);
        terms.insert(terms.end(), more.begin(), more.end());
        gates += lowered_.ops[index].gates;
        stands_for_.emplace_back(index, place);
      }
      LoweredOp op = phases_of(terms, gates, lowered_);
      set_basis_masks(op, {}, lowered_.terms(op));
      op.source = lowered_.ops[waiting_.front()].source;
      lowered_.ops.push_back(op);
      result_.push_back(place);
    }
    waiting_.clear();
    wires_ = 0;
  }

  Lowered& lowered_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>>& stands_for_;
  std::vector<std::uint32_t> result_, waiting_;
  Index wires_ = 0;
};

}  // namespace

LoweredOp phases_of(std::vector<PhaseTerm>& terms, std::uint32_t gates, Lowered& out) {
  std::ranges::sort(terms, [](const PhaseTerm& a, const PhaseTerm& b) {
    return a.parity != b.parity ? a.parity < b.parity : a.mask < b.mask;
  });
  LoweredOp op;
  op.form = Form::kPhases;
  op.data_begin = static_cast<std::uint32_t>(out.phases.size());
  op.gates = gates;
  for (const PhaseTerm& term : terms) {
    const bool same = out.phases.size() > op.data_begin && out.phases.back().mask == term.mask &&
                      out.phases.back().parity == term.parity;
    if (same) {
      const OpenAngle sum = out.open.added(out.phases.back().whole_angle(), term.whole_angle());
      out.phases.back() = PhaseTerm(term.mask, term.parity, sum);
    } else {
      out.phases.push_back(term);
    }
  }
  op.data_count = static_cast<std::uint32_t>(out.phases.size() - op.data_begin);
  return op;
}

std::vector<std::uint32_t> merge_terms(Lowered& lowered, std::span<const std::uint32_t> ops,
                                       std::vector<std::pair<std::uint32_t, std::uint32_t>>& stands_for) {
  return Merger(lowered, stands_for).run(ops);
}

}  // namespace qsim
