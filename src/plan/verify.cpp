// Checks a plan against every rule of plan/plan.h, so that backends need not.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/plan.h"
#include "plan/sixteenths.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace qsim {
namespace {

constexpr double kNormTolerance = 1e-8;

bool is_finite(Complex value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

class Verifier {
 public:
  explicit Verifier(const Plan& plan) : plan_(plan) {}

  void run() {
    check_head();
    local_mask_ = bit_mask(plan_.local_bits()) - 1;
    all_mask_ = bit_mask(plan_.qubits) - 1;
    unborn_ = plan_.start == Start::kZero ? local_mask_ : 0;
    layout_ = plan_.initial_layout;
    for (stage_ = 0; stage_ < plan_.stages.size(); ++stage_) {
      const Stage& stage = plan_.stages[stage_];
      sweep_ = op_ = -1;
      if (stage.exchange) check_exchange(stage);
      require(stage.layout == layout_, "its layout does not follow from the stages before");
      for (sweep_ = 0; sweep_ < static_cast<int>(stage.sweeps.size()); ++sweep_) {
        check_sweep(stage.sweeps[static_cast<std::size_t>(sweep_)]);
      }
    }
    where_known_ = false;
    require(sweeps_ > 0 || plan_.start != Start::kZero, "no sweep writes the start state");
    require(unborn_ == 0, "bits " + mask_text(unborn_) + " are still unborn at the end");
    require(gates_ + plan_.gates_removed == plan_.gates,
            "operations stand for " + std::to_string(gates_) + " gates and " + std::to_string(plan_.gates_removed) +
                " were removed, but the circuit has " + std::to_string(plan_.gates));
    check_trace();
  }

 private:
  static std::string mask_text(Index mask) {
    std::string text = "{";
    for (; mask != 0; mask &= mask - 1) {
      if (text.size() > 1) text += ", ";
      text += std::to_string(std::countr_zero(mask));
    }
    return text + "}";
  }

  void require(bool holds, const std::string& what) const {
    if (holds) return;
    std::string where = "plan";
    if (where_known_) {
      where = "stage " + std::to_string(stage_);
      if (sweep_ >= 0) where += ", sweep " + std::to_string(sweep_);
      if (op_ >= 0) where += ", operation " + std::to_string(op_);
    }
    throw VerificationError(where + ": " + what);
  }
  void require(bool holds, const char* what) const {
    if (!holds) require(false, std::string(what));
  }
  /// Asked of every target: words are made for the one that is wrong.
  void require_of(bool holds, Bit target, const char* what) const {
    if (!holds) require(false, "target " + std::to_string(target) + what);
  }

  bool is_permutation(const Layout& layout) const {
    Index seen = 0;
    for (const Bit bit : layout.bit_of) {
      if (bit >= plan_.qubits) return false;
      seen |= bit_mask(bit);
    }
    return layout.bit_of.size() == plan_.qubits && seen == bit_mask(plan_.qubits) - 1;
  }

  void check_head() {
    require(plan_.qubits <= static_cast<std::uint32_t>(kMaxQubits), "more than 62 qubits");
    require(plan_.rank_bits <= plan_.qubits, "more rank bits than qubits");
    require(is_permutation(plan_.initial_layout), "initial_layout is not a permutation of the bits");
    require(is_permutation(plan_.final_layout), "final_layout is not a permutation of the bits");
    if (plan_.start == Start::kZero) {
      require(plan_.global_start.size() == std::size_t{1} << plan_.rank_bits, "global_start needs one entry a rank");
      double norm = 0;
      for (const Complex& entry : plan_.global_start) norm += std::norm(entry);
      // A first write that permutes bears the global bits as well.
      const bool all = !plan_.stages.empty() && !plan_.stages.front().sweeps.empty() &&
                       plan_.stages.front().sweeps.front().permutes();
      const double wanted = all ? static_cast<double>(bit_mask(plan_.rank_bits)) : 1;
      require(std::abs(norm - wanted) < kNormTolerance * wanted, "global_start is not normalised");
    }
    where_known_ = true;
  }

  void check_overlaps(const Exchange& exchange, const Stage& stage) {
    const auto check = [&](const Sweep& sweep, const std::string& where) {
      Index born = 0;
      for (const Birth& birth : sweep.births) born |= bit_mask(birth.bit);
      require((exchange.chunk_mask & active_mask(sweep)) == 0,
              "exchange: chunk bits are active in an overlapped sweep " + where);
      require(sweep.reach.empty(), "exchange: an overlapped sweep has a reach " + where);
      require(!sweep.permutes(), "exchange: an overlapped sweep permutes " + where);
      require((exchange.chunk_mask & sweep.unborn & ~born) == 0,
              "exchange: chunk bits are unborn in an overlapped sweep " + where);
    };
    if (exchange.overlap_before > 0) {
      const std::size_t before = stage_ > 0 ? plan_.stages[stage_ - 1].sweeps.size() : 0;
      const std::size_t taken =
          before > 0 && plan_.stages[stage_ - 1].exchange ? plan_.stages[stage_ - 1].exchange->overlap_after : 0;
      require(exchange.overlap_before + taken <= before, "exchange: too few sweeps before it to overlap with");
      for (std::size_t i = before - exchange.overlap_before; i < before; ++i) {
        check(plan_.stages[stage_ - 1].sweeps[i], "before");
      }
    }
    require(exchange.overlap_after <= stage.sweeps.size(), "exchange: too few sweeps after it to overlap with");
    for (std::size_t i = 0; i < exchange.overlap_after; ++i) check(stage.sweeps[i], "after");
  }

  void check_exchange(const Stage& stage) {
    const Exchange& exchange = *stage.exchange;
    require(!exchange.swaps.empty(), "an exchange without swaps");
    Index swapped = 0;
    for (const auto& [local, global] : exchange.swaps) {
      require(local < plan_.local_bits(), "exchange: bit " + std::to_string(local) + " is not local");
      require(global >= plan_.local_bits() && global < plan_.qubits,
              "exchange: bit " + std::to_string(global) + " is not global");
      require(((swapped >> local | swapped >> global) & 1) == 0, "exchange: a bit is swapped twice");
      swapped |= bit_mask(local) | bit_mask(global);
    }
    require(plan_.start != Start::kZero || sweeps_ > 0, "an exchange before the first write");
    require((swapped & unborn_) == 0, "exchange: bits " + mask_text(swapped & unborn_) + " are unborn");
    const Index chunks = exchange.chunk_mask;
    require((chunks & ~local_mask_) == 0, "exchange: chunk bits must be local");
    require((chunks & swapped) == 0, "exchange: chunk bits must not be swapped");
    require(exchange.unborn == (unborn_ & local_mask_),
            "exchange: bits " + mask_text(unborn_ & local_mask_) + " are unborn, not " + mask_text(exchange.unborn));
    require((chunks & exchange.unborn) == 0, "exchange: chunk bits must be born");
    require(std::isfinite(exchange.predicted_seconds) && exchange.predicted_seconds >= 0,
            "exchange: predicted_seconds is not a time");
    require(exchange.predicted_added_seconds >= 0 && exchange.predicted_added_seconds <= exchange.predicted_seconds,
            "exchange: predicted_added_seconds is not part of its time");
    check_overlaps(exchange, stage);
    for (Bit& bit : layout_.bit_of) {
      for (const auto& [local, global] : exchange.swaps) {
        if (bit == local) {
          bit = global;
        } else if (bit == global) {
          bit = local;
        } else {
          continue;
        }
        break;
      }
    }
  }

  static Index active_mask(const Sweep& sweep) {
    Index mask = 0;
    for (const Bit bit : sweep.active) mask |= bit_mask(bit);
    return mask;
  }

  void check_sweep(const Sweep& sweep) {
    op_ = -1;
    for (std::size_t i = 0; i < sweep.active.size(); ++i) {
      require(sweep.active[i] < plan_.local_bits(), "an active bit is not local");
      require(i == 0 || sweep.active[i - 1] < sweep.active[i], "active bits are not ascending");
    }
    const Index active = active_mask(sweep);
    require(sweep.reads == (plan_.start != Start::kZero || sweeps_ > 0),
            sweep.reads ? "the first sweep of a plan from zero must not read" : "only the first write may not read");
    require(sweep.unborn == unborn_, "unborn bits are " + mask_text(unborn_) + ", not " + mask_text(sweep.unborn));
    require(sweep.start_scale == Complex(1), "start_scale belongs to specialised sweeps");
    require(sweep.above == 0, "above belongs to specialised sweeps");
    require(std::isfinite(sweep.predicted_seconds) && sweep.predicted_seconds >= 0, "predicted_seconds is not a time");
    // Global bits are born by a first write that permutes.
    Index global = sweep.permutes() && !sweep.reads ? all_mask_ & ~local_mask_ : 0;
    for (const Birth& birth : sweep.births) {
      require(birth.bit < plan_.qubits && ((unborn_ | global) >> birth.bit & 1) != 0,
              "bit " + std::to_string(birth.bit) + " cannot be born: it is not unborn");
      require(std::abs(std::norm(birth.factor[0]) + std::norm(birth.factor[1]) - 1) < kNormTolerance,
              "the factor of bit " + std::to_string(birth.bit) + " is not normalised");
      require(!sweep.reads || (active >> birth.bit & 1) != 0 ||
                  (birth.factor[0] == Complex(1) && birth.factor[1] == Complex(0)),
              "bit " + std::to_string(birth.bit) + " is born inactive after the first write with a factor");
      unborn_ &= ~bit_mask(birth.bit);
      global &= ~bit_mask(birth.bit);
    }
    require(global == 0, "bits " + mask_text(global) + " are not born by the first write, which permutes");
    check_store(sweep, active);
    check_reach(sweep, active);
    if (sweep.permutes()) check_permutation(sweep);
    for (op_ = 0; op_ < static_cast<int>(sweep.ops.size()); ++op_) {
      check_op(sweep, sweep.ops[static_cast<std::size_t>(op_)], active);
    }
    op_ = -1;
    ++sweeps_;
  }

  void check_store(const Sweep& sweep, Index active) {
    require(sweep.store.size() == sweep.active.size(), "store needs one place an active bit");
    Index stored = 0;
    for (const Bit bit : sweep.store) stored |= bit < plan_.qubits ? bit_mask(bit) : 0;
    require(stored == active, "store is not a permutation of the active bits");
    std::array<Bit, kMaxQubits + 1> place{};
    for (Bit bit = 0; bit < plan_.qubits; ++bit) place[bit] = bit;
    for (std::size_t i = 0; i < sweep.active.size(); ++i) {
      require(sweep.store[i] == sweep.active[i] || (unborn_ >> sweep.active[i] & 1) == 0,
              "bit " + std::to_string(sweep.active[i]) + " is moved while unborn");
      place[sweep.active[i]] = sweep.store[i];
    }
    for (Bit& bit : layout_.bit_of) bit = place[bit];
  }

  void check_reach(const Sweep& sweep, Index active) const {
    if (sweep.reach.empty()) return;
    require(sweep.reach.size() == sweep.active.size(), "reach needs one mask an active bit");
    require(sweep.reads && sweep.births.empty(), "a sweep with a reach must read and bear nothing");
    require(sweep.store == sweep.active, "a sweep with a reach must move nothing at its store");
    std::vector<Index> within;
    for (const Index mask : sweep.reach) {
      require((mask & ~local_mask_) == 0, "a reach has bits that are not local");
      require((mask & unborn_) == 0, "a reach has bits that are unborn");
      within.push_back(mask & active);
    }
    require(linearly_independent(std::move(within)), "the reaches of the active bits do not tell them apart");
  }

  void check_permutation(const Sweep& sweep) const {
    require(sweep.active.empty() && sweep.reach.empty(), "a sweep that permutes has no active bits");
    require((sweep.bundle & ~local_mask_) == 0, "a bundle has bits that are not local");
    require((sweep.bundle & unborn_) == 0, "a bundle has bits that are unborn");
    if (!sweep.reads) {
      require(sweep.bundle == local_mask_, "a first write that permutes has one bundle, the shard");
      require(std::ranges::all_of(sweep.births, [](const Birth& birth) { return birth.open == 0; }),
              "a first write that permutes has a factor that is open");
    }
    require(std::ranges::none_of(sweep.ops, [](const PlanOp& op) { return op.form == Form::kMatrix; }),
            "a sweep that permutes has a matrix");
    require(std::ranges::all_of(sweep.ops, [&](const PlanOp& op) { return may_permute(op, terms_of(sweep, op)); }),
            "a sweep that permutes has a phase that is no whole number of sixteenths of a turn");
  }

  void check_op(const Sweep& sweep, const PlanOp& op, Index active) {
    gates_ += op.gates;
    require((op.control_mask & ~all_mask_) == 0, "a control is not a bit of the state");
    require((op.control_value & ~op.control_mask) == 0, "a control value outside the control mask");
    Index targets = 0;
    require(op.target_count <= kMaxMatrixTargets, "more than 6 targets");
    for (std::size_t j = 0; j < op.target_count; ++j) {
      const Bit target = op.targets[j];
      const Index allowed = !sweep.permutes() ? active : sweep.reads ? sweep.bundle : all_mask_;
      require_of(target < plan_.qubits && (allowed >> target & 1) != 0, target,
                 sweep.permutes() ? " is not in the bundle" : " is not active");
      require_of((unborn_ >> target & 1) == 0, target, " is unborn");
      require_of((targets >> target & 1) == 0, target, " appears twice");
      targets |= bit_mask(target);
    }
    require((targets & op.control_mask) == 0, "a target is also a control");
    switch (op.form) {
      case Form::kMatrix:
        return check_matrix(sweep, op);
      case Form::kFlip:
        require(op.target_count == 1, "a flip needs one target");
        require(op.data_count == 0, "a flip has no data");
        return;
      case Form::kPhases:
        return check_phases(sweep, op);
    }
    require(false, "unknown form");
  }

  void check_matrix(const Sweep& sweep, const PlanOp& op) {
    require(op.target_count > 0, "a matrix needs a target");
    const std::size_t order = std::size_t{1} << op.target_count;
    require(op.data_count == order * order, "a matrix needs 4^targets entries");
    require(std::size_t{op.data_begin} + op.data_count <= sweep.matrices.size(), "matrix data out of range");
    const Complex* matrix = sweep.matrices.data() + op.data_begin;
    for (std::size_t column = 0; column < order; ++column) {
      double norm = 0;
      for (std::size_t row = 0; row < order; ++row) {
        require(is_finite(matrix[row * order + column]), "a matrix entry is not finite");
        norm += std::norm(matrix[row * order + column]);
      }
      require(std::abs(norm - 1) < kNormTolerance, "a matrix column is not normalised");
    }
  }

  void check_phases(const Sweep& sweep, const PlanOp& op) {
    require(op.target_count == 0, "phases have no targets");
    require(std::size_t{op.data_begin} + op.data_count <= sweep.phases.size(), "phase terms out of range");
    for (std::size_t i = 0; i < op.data_count; ++i) {
      const PhaseTerm& term = sweep.phases[op.data_begin + i];
      require((term.mask & ~all_mask_) == 0, "a phase term names a bit outside the state");
      require(!term.parity || term.mask != 0, "a parity term without bits");
      require(std::isfinite(term.angle), "an angle is not finite");
    }
  }

  void check_trace() const {
    for (const TraceEntry& entry : plan_.trace) {
      if (entry.stage < 0) continue;
      const auto stage = static_cast<std::size_t>(entry.stage), sweep = static_cast<std::size_t>(entry.sweep);
      require(stage < plan_.stages.size() && sweep < plan_.stages[stage].sweeps.size() &&
                  static_cast<std::size_t>(entry.op) < plan_.stages[stage].sweeps[sweep].ops.size(),
              "the trace names an operation that is not there");
    }
  }

  const Plan& plan_;
  Index local_mask_ = 0, all_mask_ = 0, unborn_ = 0;
  Layout layout_;  // of the qubits' wires
  std::size_t stage_ = 0;
  int sweep_ = -1, op_ = -1;
  bool where_known_ = false;
  std::uint64_t sweeps_ = 0, gates_ = 0;
};

}  // namespace

void verify_plan(const Plan& plan) { Verifier(plan).run(); }

}  // namespace qsim
