// Plans of the parts of a circuit, one after the other in the same layout, joined.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/build/builder.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower.h"
#include "plan/plan.h"
#include "plan/plan_options.h"

namespace qsim {

class PlanJoiner {
 public:
  /// All three outlive it.
  PlanJoiner(const Lowered& lowered, const Machine& machine, const PlanOptions& options);

  /// Of the wires at the end of the plan so far.
  const Layout& layout() const { return layout_; }
  /// No operation, but where they come from.
  Lowered empty() const;
  /// For a part from where the plan so far ends.
  PlanOptions here() const;
  /// The lowered circuit's open numbers and those of what was added to its operations.
  OpenNumbers& open() { return open_; }

  /// Where the operations of a part are looked for by number.
  std::vector<Complex>& matrices() { return matrices_; }
  /// Joins searched_plan() of these operations, of matrices() and the lowered circuit's phases; none are left.
  void plan_between(std::vector<LoweredOp>& ops);
  /// Joins what `builder` has made of `part`; operation `op` of it stands for the caller's `source` where `placed` says
  /// so.
  struct Placed {
    std::uint32_t source = 0;  // LoweredOp::source
    std::uint32_t op = 0;
  };
  void join(PlanBuilder& builder, const Lowered& part, const std::vector<Placed>& placed);
  /// Joins a plan that begins in layout().
  void join(Plan part);
  /// Notes that the gates of an operation need none.
  void remove(const LoweredOp& op);

  /// Nothing where open angles are in more than one part: their numbers are each part's own.
  std::optional<Plan> finished();

 private:
  const Lowered& lowered_;
  const Machine& machine_;
  const PlanOptions& options_;
  Layout layout_;
  OpenNumbers open_;
  std::vector<Complex> matrices_;
  std::optional<Plan> plan_;
  OpenNumbers open_of_part_;
  int open_parts_ = 0;
  std::vector<RemovedGate> removed_;
};

}  // namespace qsim
