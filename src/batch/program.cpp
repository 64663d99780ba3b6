// The product's plan for open angles, made for a machine whose tile is a whole state, as operations of a batch.
#include "batch/program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "batch/angle_sums.h"
#include "batch/factors.h"
#include "plan/cost/machine.h"
#include "plan/lower/lower_optimized.h"
#include "plan/make/make_plan.h"
#include "plan/program/open_plan.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// What the batch loops take, in products of complex numbers for 4 amplitudes; what they do not have is never worth it.
Machine batch_machine() {
  Machine machine;
  machine.name = "batch";
  machine.max_tile_bits = machine.register_bits = kMaxBatchQubits;
  machine.low_bits = 0;
  constexpr double kNever = 1e9;
  CostTable& cost = machine.cost_double;
  cost.matrix1_general = 8;
  cost.matrix1_real = cost.butterfly = 4;
  cost.flip = 2;
  cost.phases = 1;
  cost.phase_term = 1;
  for (int targets = 0; targets <= kMaxMatrixTargets; ++targets) {
    cost.matrix_dense[targets] = targets <= kMaxBatchTargets ? std::ldexp(4, targets) : kNever;
  }
  cost.read_bytes_per_second = cost.write_bytes_per_second = 1e12;
  machine.cost_single = cost;
  return machine;
}

struct BatchPlan {
  Plan plan;
  OpenNumbers numbers;
};

BatchPlan plan_of(const Circuit& circuit, const OpenAngles& angles) {
  PlanOptions options;
  options.tile_bits = circuit.qubits();
  // Loops have the coordinates that memory has, and a trip for each phase.
  options.disabled_passes = {"span_strings", "split_turns"};
  if (angles.size() == 0) return {make_plan(circuit, batch_machine(), options), {}};
  auto open = OpenPlan::make(circuit, angles, batch_machine(), options);
  if (!open) {
    // A choice hung on rounding: without rewrites there are none.
    const std::vector<std::string_view> all = pass_names();
    options.disabled_passes.assign(all.begin(), all.end());
    open = OpenPlan::make(circuit, angles, batch_machine(), options);
  }
  if (!open) throw Error("a circuit with open angles is planned in different ways at different angles");
  return {*open->shape(), open->numbers()};
}

/// An operation on the way: matrices on one target by their factors.
struct Action {
  BatchOp op;
  Factors factors;             // kBirth, kTurn
  std::vector<Complex> dense;  // kMatrix

  std::uint32_t target() const { return 1u << op.targets[0]; }
  std::uint32_t changed() const {
    std::uint32_t bits = 0;
    for (std::size_t j = 0; j < op.target_count; ++j) bits |= 1u << op.targets[j];
    return bits;
  }
  bool changes(std::uint32_t bits) const { return (changed() & bits) != 0; }
  bool touches(std::uint32_t bits) const { return ((changed() | op.mask | op.parity) & bits) != 0; }
};

/// The sweeps of a plan as one, its bits named by the qubits that they hold at the end.
class Joining {
 public:
  Joining(const Plan& plan, const OpenNumbers& numbers, AngleSums& sums)
      : numbers_(numbers), sums_(sums), name_(plan.qubits), actions_(plan.qubits) {
    start_.push_back(OpenAngle(std::arg(plan.global_start.front())));
    for (Qubit q = 0; q < plan.qubits; ++q) {
      actions_[q].op.form = BatchForm::kBirth;
      actions_[q].op.target_count = 1;
      actions_[q].op.targets[0] = static_cast<std::uint8_t>(q);
    }
    std::vector<const Sweep*> sweeps;
    for (const Stage& stage : plan.stages) {
      for (const Sweep& sweep : stage.sweeps) sweeps.push_back(&sweep);
    }
    for (Qubit q = 0; q < plan.qubits; ++q) name_[static_cast<std::size_t>(plan.final_layout.bit_of[q])] = q;
    std::vector<std::vector<Qubit>> names(sweeps.size());
    for (std::size_t i = sweeps.size(); i-- > 0;) {
      const std::vector<Qubit> after = name_;
      const Sweep& sweep = *sweeps[i];
      for (std::size_t j = 0; j < sweep.active.size(); ++j) {
        name_[static_cast<std::size_t>(sweep.active[j])] = after[static_cast<std::size_t>(sweep.store[j])];
      }
      names[i] = name_;
    }
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
      name_ = std::move(names[i]);
      append(*sweeps[i]);
    }
  }

  std::vector<Action> actions() { return std::move(actions_); }
  /// The phase of everything.
  AngleSums::Phase start() const { return sums_.total(start_); }

 private:
  std::uint32_t named(Index bits) const {
    std::uint32_t mask = 0;
    for (std::size_t bit = 0; bit < name_.size(); ++bit) {
      if (test_bit(bits, static_cast<unsigned>(bit))) mask |= 1u << name_[bit];
    }
    return mask;
  }

  void append(const Sweep& sweep) {
    for (const Birth& birth : sweep.births) {
      Factors& factors = actions_[name_[static_cast<std::size_t>(birth.bit)]].factors;
      const Matrix2 fixed{birth.factor[0], -std::conj(birth.factor[1]), birth.factor[1], std::conj(birth.factor[0])};
      if (!sweep.reads) {
        factors = birth.open != 0 ? Factors(numbers_.factors(birth.open), sums_) : Factors(fixed);
      } else if (birth.open != 0 || birth.factor[0] != Complex(1)) {
        throw Error("a bit is born after the first sweep and is not 0");
      }
    }
    for (const PlanOp& op : sweep.ops) {
      Action action;
      action.op.mask = named(op.control_mask);
      action.op.value = named(op.control_value);
      action.op.target_count = op.target_count;
      if (op.form == Form::kPhases) {
        append_phases(action, std::span(sweep.phases).subspan(op.data_begin, op.data_count));
        continue;
      }
      if (op.target_count > kMaxBatchTargets) {
        throw UnsupportedError("a batch has matrices of up to " + std::to_string(kMaxBatchTargets) + " qubits, not " +
                               std::to_string(op.target_count));
      }
      for (std::size_t j = 0; j < op.target_count; ++j) {
        action.op.targets[j] = static_cast<std::uint8_t>(name_[static_cast<std::size_t>(op.targets[j])]);
      }
      const auto matrix = std::span(sweep.matrices).subspan(op.data_begin, op.data_count);
      if (op.form == Form::kMatrix && op.target_count == 1) {
        action.op.form = BatchForm::kTurn;
        action.factors = op.open != 0 ? Factors(numbers_.factors(op.open), sums_)
                                      : Factors(Matrix2{matrix[0], matrix[1], matrix[2], matrix[3]});
      } else if (op.form == Form::kMatrix) {
        action.op.form = BatchForm::kMatrix;
        action.dense.assign(matrix.begin(), matrix.end());
      }
      actions_.push_back(std::move(action));
    }
  }

  void append_phases(const Action& like, std::span<const PhaseTerm> terms) {
    for (const PhaseTerm& term : terms) {
      Action action = like;
      const std::uint32_t bits = named(term.mask);
      action.op.form = BatchForm::kPhase;
      if (term.parity) {
        action.op.parity = bits;
        if (bits == 0) continue;
      } else {
        if ((action.op.mask & bits & ~action.op.value) != 0) continue;
        action.op.mask |= bits;
        action.op.value |= bits;
      }
      if (action.op.mask == 0 && bits == 0) {
        start_.push_back(term.whole_angle());
        continue;
      }
      const AngleSums::Phase phase = sums_.total({{term.whole_angle()}});
      action.op.sum = phase.sum;
      action.op.phase = phase.fixed;
      actions_.push_back(std::move(action));
    }
  }

  const OpenNumbers& numbers_;
  AngleSums& sums_;
  std::vector<OpenAngle> start_;
  std::vector<Qubit> name_;  // of each bit of the plan, where the sweep that is appended has its operations
  std::vector<Action> actions_;
};

/// The identity.
void clear(Action& action) {
  action = {};
  action.op.form = BatchForm::kTurn;
}

/// A controlled rotation comes as matrices around phases under its controls, X P G: they are (X P 1/X) X G, whose first
/// part acts under the controls alone and whose second one is a single matrix.
void join_controlled(std::vector<Action>& actions) {
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].op.form != BatchForm::kTurn || actions[i].op.mask != 0 || !actions[i].factors.fixed()) continue;
    const std::uint32_t target = actions[i].target();
    std::vector<std::size_t> phases, own;  // under controls, and without any
    double share = 0;                      // of a matrix on all amplitudes
    std::size_t at = i - 1;
    for (;; --at) {  // at last comes the target's birth
      if (!actions[at].touches(target)) continue;
      const BatchOp& op = actions[at].op;
      if (op.form != BatchForm::kPhase || op.parity != 0 || (op.value & target) == 0) break;
      if (op.mask == target) {
        own.push_back(at);
        continue;
      }
      phases.push_back(at);
      share += std::ldexp(1, 1 - std::popcount(op.mask));
    }
    const BatchOp& before = actions[at].op;
    const bool single = before.target_count == 1 && before.mask == 0 && before.form != BatchForm::kFlip;
    if (phases.empty() || share > 0.5 || !single) continue;
    const Matrix2 matrix = actions[i].factors.matrix();
    for (const std::size_t p : own) {
      actions[at].factors.then({actions[p].op.sum, actions[p].op.phase}, 1);
      clear(actions[p]);
    }
    actions[at].factors.then(matrix);
    for (const std::size_t p : phases) {
      Action& action = actions[p];
      action.factors = Factors(adjoint(matrix));
      action.factors.then({action.op.sum, action.op.phase}, 1);
      action.factors.then(matrix);
      action.op = {.form = BatchForm::kTurn,
                   .target_count = 1,
                   .targets = actions[i].op.targets,
                   .mask = action.op.mask & ~target,
                   .value = action.op.value & ~target};
      // A phase of the controls beside it goes into the matrix.
      for (std::size_t k = p; k-- > 0;) {
        const BatchOp& other = actions[k].op;
        if (other.form == BatchForm::kPhase && other.parity == 0 && other.mask == action.op.mask &&
            other.value == action.op.value) {
          for (const int line : {0, 1}) action.factors.then({other.sum, other.phase}, line);
          clear(actions[k]);
          break;
        }
        if (other.form != BatchForm::kPhase && actions[k].touches(action.op.mask)) break;
      }
    }
    clear(actions[i]);
  }
}

/// Phases of one qubit go into the matrix before them on it, past operations that leave its value as it is.
void absorb_phases(std::vector<Action>& actions) {
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const BatchOp& op = actions[i].op;
    if (op.form != BatchForm::kPhase || op.parity != 0 || std::popcount(op.value) != 1 || op.mask != op.value) continue;
    std::size_t at = i - 1;
    while (!actions[at].changes(op.mask)) --at;  // at last comes the qubit's birth
    const BatchOp& before = actions[at].op;
    if (before.mask != 0 || (before.form != BatchForm::kTurn && before.form != BatchForm::kBirth)) continue;
    actions[at].factors.then({op.sum, op.phase}, 1);
    clear(actions[i]);
  }
}

/// Without phases that change no probability: those after which their qubits are only permuted or mixed no more.
void drop_unseen(std::vector<Action>& actions) {
  std::uint32_t mixed = 0;
  for (std::size_t i = actions.size(); i-- > 0;) {
    Action& action = actions[i];
    const std::uint32_t target = action.target();
    switch (action.op.form) {
      case BatchForm::kPhase:
        if (!action.touches(mixed)) {
          action.op.sum = 0;
          action.op.phase = 1;
        }
        break;
      case BatchForm::kFlip:  // takes phases of the target to phases of the target and the controls
        if (action.touches(mixed)) mixed |= target;
        break;
      case BatchForm::kTurn:
      case BatchForm::kBirth:
        if (!action.touches(mixed)) action.factors.drop_last_phases();
        if (!action.factors.empty()) mixed |= target;
        break;
      case BatchForm::kMatrix:
        mixed |= action.changed();
        break;
    }
  }
}

void append(Action& action, AngleSums& sums, BatchProgram& program) {
  BatchOp& op = action.op;
  const bool turns = op.form == BatchForm::kTurn;
  if (turns && action.factors.empty()) return;
  if (op.form == BatchForm::kPhase && op.sum == 0 && op.phase == Complex(1)) return;
  if (turns && action.factors.fixed()) {
    op.form = BatchForm::kMatrix;
    const Matrix2 matrix = action.factors.matrix();
    action.dense.assign(matrix.begin(), matrix.end());
  }
  if (op.form == BatchForm::kMatrix) {
    op.begin = static_cast<std::uint32_t>(program.matrices.size());
    program.matrices.insert(program.matrices.end(), action.dense.begin(), action.dense.end());
  } else if (op.form == BatchForm::kTurn || op.form == BatchForm::kBirth) {
    op.begin = static_cast<std::uint32_t>(program.factors.size());
    action.factors.write(op.form == BatchForm::kBirth, sums, program);
    op.end = static_cast<std::uint32_t>(program.factors.size());
  }
  op.sum = sums.used(op.sum, program);
  program.ops.push_back(op);
}

}  // namespace

BatchProgram make_batch_program(const Circuit& circuit, bool wants_states) {
  if (circuit.qubits() < 1 || circuit.qubits() > kMaxBatchQubits) {
    throw UnsupportedError("a batch is of circuits of 1 to " + std::to_string(kMaxBatchQubits) + " qubits, not " +
                           std::to_string(circuit.qubits()));
  }
  if (!circuit.measurements_are_terminal()) {
    throw UnsupportedError("a circuit that measures, resets or branches before its end prepares no single state");
  }
  const OpenAngles angles(circuit);
  const BatchPlan plan = plan_of(circuit, angles);
  BatchProgram program;
  program.qubits = circuit.qubits();
  program.parameters = static_cast<std::uint32_t>(circuit.parameters().size());
  AngleSums sums(plan.numbers, angles);
  Joining joining(plan.plan, plan.numbers, sums);
  std::vector<Action> actions = joining.actions();
  join_controlled(actions);
  absorb_phases(actions);
  if (wants_states) {
    const AngleSums::Phase start = joining.start();
    program.start_sum = sums.used(start.sum, program);
    program.start = start.fixed;
  } else {
    drop_unseen(actions);
  }
  for (Action& action : actions) append(action, sums, program);
  program.plain_values = sums.plain_values(program);
  return program;
}

}  // namespace qsim
