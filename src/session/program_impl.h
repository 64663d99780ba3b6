// What a Program keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "optimizer/open/open_angles.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/plan_options.h"
#include "plan/program/open_plan.h"
#include "plan/program/planned_circuit.h"
#include "qsim/program.h"
#include "session/rank/rank_session.h"

namespace qsim {

struct Program::Impl {
  /// Planned for `machine` from the start that `options` say. UsageError for what has no state.
  Impl(std::shared_ptr<const Circuit> circuit, const Machine& machine, const PlanOptions& options);

  std::shared_ptr<const Circuit> circuit;  // without resets of qubits that are 0
  Machine machine;
  PlanOptions options;
  BackendKind backend = BackendKind::kCpu;  // where it can run, beside precision and ranks
  int ranks = 1;
  bool dynamic = false;

  /// Whether the ranks share its states; else each of them holds the whole state.
  bool is_split() const { return options.rank_bits > 0; }
  /// From the start, or with `from` from a state of that layout.
  /// The first values are planned for as they are; from the second ones on the numbers of one plan are put in. What
  /// runs for the first time may get a plan that is not looked for (quick_plan); the same values again get one that is.
  enum class Use { kRun, kLook };
  ShapedPlan plan(std::span<const double> values, const Layout* from, Use use = Use::kRun);
  /// All of a circuit that may measure, reset and branch on its way, from the start.
  struct Whole {
    std::shared_ptr<const Circuit> circuit;
    std::shared_ptr<const PlannedCircuit> planned;
  };
  Whole whole(std::span<const double> values, Use use = Use::kRun);

 private:
  /// Plans from the start or from a state of one layout.
  struct Origin {
    std::optional<Layout> from;
    ShapedPlan latest;                    // of values_; null: not yet
    bool quick = false;                   // the latest is for one run
    std::optional<double> first_seconds;  // predicted, of a plan that was made for values
    bool open_tried = false;
    std::optional<OpenPlan> open;
  };

  void take(std::span<const double> values);
  const std::shared_ptr<const Circuit>& bound();
  PlanOptions plan_options(const Origin& origin) const;
  Origin& origin_of(const Layout* from);
  bool may_be_quick() const { return backend == BackendKind::kCpu && ranks == 1 && !dynamic; }
  const ShapedPlan& plan_of(const Layout* from, Use use);
  ShapedPlan planned(Origin& origin, bool once);
  /// The open plan, where its numbers are to be put in for these angles.
  const OpenPlan* open_plan(Origin& origin, std::span<const double> angles);

  std::mutex mutex_;
  std::optional<std::vector<double>> values_;  // that the plans are of
  std::shared_ptr<const Circuit> bound_;
  std::shared_ptr<const PlannedCircuit> planned_;
  std::optional<PlannedCircuit> frame_;  // of a circuit that does not branch, without its plan
  std::shared_ptr<const Plan> framed_;   // the plan in planned_, of such a circuit
  std::optional<OpenAngles> angles_;     // of an open circuit
  std::vector<Origin> origins_;
};

/// A circuit that outlives who holds it.
inline std::shared_ptr<const Circuit> borrowed(const Circuit& circuit) { return {std::shared_ptr<void>(), &circuit}; }

/// Whether 2^qubits amplitudes are shared by `ranks` where a rank needs `needed_bits` of the qubits to itself.
bool is_split(std::uint32_t qubits, int ranks, std::uint32_t needed_bits);

/// As qsim::compile() where the backend is chosen and the machine known.
std::shared_ptr<Program::Impl> make_program(const Circuit& circuit, const Target& target, const Machine& machine,
                                            const CompileOptions& options);

}  // namespace qsim
