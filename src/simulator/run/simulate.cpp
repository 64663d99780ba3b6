// A run: what is asked is checked, a session is opened, and its ranks run one program; on fewer of them where that is
// faster, and whole on each where the circuit cannot be split.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/clock.h"
#include "base/ranks/agreement.h"
#include "base/ranks/communicator.h"
#include "circuit/circuit_analysis.h"
#include "document/result.h"
#include "plan/cost/state_bytes.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/session.h"
#include "qsim/target.h"
#include "session/choose/choose.h"
#include "session/program_ahead.h"
#include "session/program_impl.h"
#include "session/rank/settle.h"
#include "session/session_impl.h"
#include "simulator/run/rank_run.h"
#include "simulator/settings.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

constexpr std::uint32_t kVirtualRankBits = 3;  // `reproducible` plans for 8 ranks

class Run {
 public:
  /// `circuit` is checked against them.
  Run(const Circuit& circuit, const RunOptions& options, const Settings& settings, const ProgramAhead* ahead)
      : circuit_(circuit), options_(options), settings_(settings), ahead_(ahead) {
    options_.states = 1;  // its one state needs no other's room
  }

  Result on_all_ranks(bool may_take_fewer) {
    open();
    const std::uint32_t rank_bits = log2_exact(static_cast<Index>(session_->ranks()));
    if (rank_bits > 0 && circuit_.qubits() < rank_bits + needed_local_bits(circuit_)) {
      Result result = whole();
      result.run.reason += "; too few qubits to be split, so every rank holds them all";
      return result;
    }
    Outcome outcome = split(may_take_fewer);
    if (outcome.result) return *std::move(outcome.result);
    try {
      return on_fewer_ranks(outcome);
    } catch (const CapacityError&) {  // of what is read out as well
      open();
      return *split(false).result;
    }
  }

 private:
  void open() {
    session_.reset();  // its memory is free before the next one's is counted
    begin_ = Clock::now();
    const auto settling = [this](const Target& target, Communicator& communicator) {
      const PlanOptions plan = plan_options(options_, 0);
      Settled settled = settle(target, communicator, [&] { return choose_backend(circuit_, target, plan); });
      if (options_.reproducible) settled.least_active_bits = 10;
      return settled;
    };
    SessionOptions of_session;
    of_session.verify = options_.verify;
    session_ = std::make_shared<Session::Impl>(options_, of_session, settling);
  }

  /// With `reproducible` the plan is one for 8 ranks, or as many as the circuit can be split over.
  std::uint32_t plan_rank_bits(std::uint32_t rank_bits) const {
    if (!options_.reproducible) return rank_bits;
    if (rank_bits > kVirtualRankBits) {
      throw UsageError("`reproducible` plans for 8 ranks, and there are " + std::to_string(1u << rank_bits),
                       "use at most 8 ranks");
    }
    const std::uint32_t needed = needed_local_bits(circuit_);
    return std::min(kVirtualRankBits, circuit_.qubits() > needed ? circuit_.qubits() - needed : 0);
  }

  struct Compiled {
    std::shared_ptr<Program::Impl> program;
    std::unique_ptr<InverseCheck> inverse;  // where it is to be checked by one
  };

  /// For ranks that are settled like `rank`.
  Compiled compile_for(const RankSession& rank) const {
    const Settled& settled = rank.settled();
    Compiled compiled;
    const PlanOptions plan = plan_options(options_, plan_rank_bits(settled.rank_bits));
    if (ahead_ != nullptr) compiled.program = ahead_->program(settled.machine, plan);
    if (!compiled.program) {
      compiled.program = std::make_shared<Program::Impl>(borrowed(circuit_), settled.machine, plan);
    }
    if (options_.verify == Verify::kFull && !compiled.program->dynamic) {
      compiled.inverse = std::make_unique<InverseCheck>(*compiled.program, *session_, rank);
    }
    return compiled;
  }

  Outcome split(bool may_take_fewer) {
    const Compiled compiled = compile_for(*session_->shared.front());
    Outcome outcome;
    session_->each(true, "run", [&](RankSession& rank, std::size_t index) {
      const RunJob job{options_, settings_, *compiled.program, compiled.inverse.get()};
      Outcome mine = run_on_rank(job, rank, begin_, may_take_fewer);
      if (index == 0) outcome = std::move(mine);
    });
    if (compiled.inverse && outcome.result) take_back(*compiled.inverse, session_->ranks() > 1, outcome);
    return outcome;
  }

  /// The check by the inverse, of what the run has left.
  void take_back(InverseCheck& inverse, bool split, Outcome& outcome) const {
    State state = Session::Impl::adopt(session_, inverse.forward_plan(), split);
    const std::string wrong = inverse.run(state, outcome.has_copy, options_.start_seed);
    const auto judge = [&] {
      if (!wrong.empty()) throw VerificationError(wrong + ": the result is wrong and is not shown");
    };
    if (options_.communicator != nullptr) {
      together(*options_.communicator, judge);
    } else {
      judge();
    }
    outcome.result->time.total = seconds_since(begin_);
  }

  /// Every process makes all of the state, and one of them writes.
  Result whole() {
    RunOptions own = options_;
    Settings own_settings = settings_;
    own.exchange = ExchangeKind::kAuto;
    if (!session_->is_root()) {
      own.statevector_path.clear();
      own_settings.asked.statevector.clear();
      own.profile_path.clear();
    }
    Compiled compiled;
    Outcome outcome;
    const auto work = [&](RankSession& rank, std::size_t) {
      compiled = compile_for(rank);
      outcome = run_on_rank({own, own_settings, *compiled.program, compiled.inverse.get()}, rank, begin_, false);
    };
    const auto alone = [&] { session_->each(false, "run", work); };
    if (options_.communicator != nullptr) {
      together(*options_.communicator, alone);
    } else {
      alone();
    }
    if (compiled.inverse) take_back(*compiled.inverse, false, outcome);
    Result& result = *outcome.result;
    result.run.ranks = session_->ranks();
    result.memory.peak_bytes_per_rank.assign(static_cast<std::size_t>(session_->ranks()),
                                             result.memory.peak_bytes_per_rank.front());
    return std::move(result);
  }

  /// Of processes each one has all of the state; of threads the others end.
  Result on_fewer_ranks(const Outcome& outcome) {
    const bool processes = options_.communicator != nullptr;
    std::optional<Result> result;
    if (processes) {
      begin_ = Clock::now();
      result = whole();
    } else {
      Run fewer(circuit_, options_, settings_, ahead_);
      fewer.options_.ranks = outcome.fewer_ranks;
      if (!options_.gpu_ids.empty()) fewer.options_.gpu_ids.resize(static_cast<std::size_t>(outcome.fewer_ranks));
      session_.reset();
      result = fewer.on_all_ranks(false);
    }
    result->warnings.push_back(outcome.reason +
                               (processes ? ": every rank holds all of the state" : ": the others are idle"));
    result->time.plan += outcome.seconds;
    result->time.total += outcome.seconds;
    return *std::move(result);
  }

  const Circuit& circuit_;
  RunOptions options_;
  const Settings& settings_;
  const ProgramAhead* const ahead_;
  Clock::time_point begin_;
  std::shared_ptr<Session::Impl> session_;
};

}  // namespace

Result simulate(const Circuit& circuit, const RunOptions& options, const ProgramAhead* ahead) {
  Communicator* const ranks = options.communicator.get();
  if (ranks != nullptr) require_same_run(circuit, options, *ranks);
  std::optional<Circuit> kept;
  if (options.start == Start::kZero) kept = without_idle_resets(circuit);
  const Circuit& wanted = kept ? *kept : circuit;
  Settings settings;
  if (ranks != nullptr) {
    together(*ranks, [&] { settings = check_settings(wanted, options, ranks->size()); });
    ranks->broadcast(std::as_writable_bytes(std::span(&settings.asked.seed, 1)), 0);  // drawn, where none was given
  } else {
    settings = check_settings(wanted, options, options.ranks);
  }
  const bool may_take_fewer = ranks == nullptr || ranks->name() != "threads";  // whose number is the caller's
  Result result = Run(wanted, options, settings, ahead).on_all_ranks(may_take_fewer);
  if (kept) {
    result.circuit.operations = circuit.operation_count();
    result.circuit.depth = circuit.depth();
  }
  return result;
}

std::unique_ptr<const ProgramAhead> plan_ahead(const Circuit& circuit, const RunOptions& options) {
  if (options.reproducible || !circuit.parameters().empty()) return nullptr;
  const std::optional<Machine> machine = listed_machine(circuit, options);
  if (!machine) return nullptr;
  return std::make_unique<const ProgramAhead>(circuit, *machine, plan_options(options, 0));
}

}  // namespace qsim
