// A run from circuit to result: check, plan, fit, allocate, execute, read, verify. Ranks agree on every error before
// the state is touched; afterwards a rank that fails alone ends the job.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/clock.h"
#include "base/ranks/agreement.h"
#include "base/ranks/communicator.h"
#include "base/text.h"
#include "circuit/circuit_analysis.h"
#include "comm/nccl/nccl_transport.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/cost/state_bytes.h"
#include "plan/program/forecast.h"
#include "plan/program/planned_circuit.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/target.h"
#include "runtime/answer/read_outs.h"
#include "session/choose/choose.h"
#include "session/choose/registry.h"
#include "session/rank/capacity.h"
#include "session/rank/rank_session.h"
#include "session/rank/settle.h"
#include "simulator/memory/read_out_memory.h"
#include "simulator/run/inverse_check.h"
#include "simulator/run/run_pictures.h"
#include "simulator/run/second_walk.h"
#include "simulator/settings.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

constexpr std::uint32_t kVirtualRankBits = 3;  // --reproducible plans for 8 ranks

/// Where the run is made; its one state needs no other's room.
Settled settle_run(const Circuit& circuit, const RunOptions& options, Communicator& communicator) {
  Target target = options;
  target.states = 1;
  Settled settled = settle(target, communicator, [&] { return choose_backend(circuit, options); });
  if (options.reproducible) settled.least_active_bits = 10;
  return settled;
}

/// A run's result, or why fewer ranks are to make it.
struct Outcome {
  std::optional<Result> result = {};
  int fewer_ranks = 0;
  int gpu = 0;  // of this rank
  std::string reason = {};
  double seconds = 0;  // that finding this out took
};

/// What a run adds to a rank of a session that runs one program: reports, times, checks and files.
class Simulation {
 public:
  /// `may_take_fewer`: where fewer ranks would be faster, that is the outcome.
  Simulation(const Circuit& circuit, const RunOptions& options, const Settings& settings, Communicator& communicator,
             bool may_take_fewer)
      : may_take_fewer_(may_take_fewer && options.exchange == ExchangeKind::kAuto && !options.oversubscribe_gpus &&
                        !options.reproducible),
        circuit_(circuit),
        options_(options),
        settings_(settings),
        communicator_(communicator),
        session_(settle_run(circuit, options, communicator), communicator, options.verify) {}

  Outcome run() {
    describe_choice();
    result_.time.start = seconds_since(begin_);
    together(communicator_, [&] { make_programs(); });
    if (std::optional<Outcome> fewer = look_at_fewer_ranks()) return std::move(*fewer);
    PoolLayout pool;
    together(communicator_, [&] { pool = plan_pool(); });
    prepare(pool);
    compute([&] { execute(); });
    rank_.require_intact();
    compute([&] { read_out(); });
    write_files();
    if (second_walk_) compute([&] { second_walk_->compare(answers_, *second_run_, asked_); });
    if (inverse_) inverse_->run(session_, options_.start_seed);
    rank_.require_intact();
    finish();
    result_.time.total = seconds_since(begin_);
    return {std::move(result_)};
  }

 private:
  /// Runs what is past agreement.
  void compute(const std::function<void()>& step) { alone(communicator_, step); }

  void describe_choice() {
    result_.run.backend = name_of(settled_.target.backend);
    result_.run.reason = settled_.reason;
    if (std::string unequal = settled_.memory.warning(); !unequal.empty()) {
      result_.warnings.push_back(std::move(unequal));
    }
  }

  /// With --reproducible the plan is one for 8 ranks, or as many as the circuit can be split over.
  std::uint32_t plan_rank_bits() const {
    if (!options_.reproducible) return rank_bits_;
    if (rank_bits_ > kVirtualRankBits) {
      throw UsageError("`reproducible` plans for 8 ranks, and there are " + std::to_string(communicator_.size()),
                       "use at most 8 ranks");
    }
    const std::uint32_t needed = needed_local_bits(circuit_);
    return std::min(kVirtualRankBits, circuit_.qubits() > needed ? circuit_.qubits() - needed : 0);
  }

  PlanOptions plan_options(std::uint32_t rank_bits) const {
    PlanOptions plan;
    plan.rank_bits = rank_bits;
    plan.precision = options_.precision;
    plan.start = options_.start;
    plan.known_zeros = options_.known_zeros;
    plan.tile_bits = options_.tile_bits;
    plan.strategy = options_.strategy;
    return plan;
  }

  void make_programs() {
    const Clock::time_point start = Clock::now();
    // A state beyond any memory is refused before a plan is made for it.
    require_fit(state_bytes(options_.precision, circuit_.qubits() - rank_bits_));
    program_ = plan_circuit(circuit_, settled_.machine, plan_options(plan_rank_bits()));
    const PlanOptions plan = plan_options(rank_bits_);
    if (options_.verify == Verify::kFull && settings_.dynamic) {
      second_walk_ = std::make_unique<SecondWalk>(circuit_, program_, settled_.machine, plan);
    } else if (options_.verify == Verify::kFull) {
      inverse_ = std::make_unique<InverseCheck>(circuit_, program_, settled_.machine, plan);
    }
    result_.time.plan = seconds_since(start);
  }

  /// A user who asks for many GPUs may be better served by fewer: some of a process's threads, or one alone of several
  /// processes. Elsewhere that is said. Collective.
  std::optional<Outcome> look_at_fewer_ranks() {
    if (!settled_.gpu || settings_.dynamic || rank_bits_ == 0 || circuit_.operation_count() > kMostForecastOperations) {
      return {};
    }
    Outcome fewer;
    std::vector<RanksForecast> forecasts;
    std::uint64_t taken = rank_bits_;
    together(communicator_, [&] {
      if (communicator_.rank() != 0) return;
      const Clock::time_point start = Clock::now();
      Machine machine = settled_.machine;
      machine.memory_bytes_per_rank = settled_.memory.least_bytes;
      forecasts = forecast_ranks(circuit_, machine, plan_options(rank_bits_), 0, rank_bits_);
      if (may_take_fewer_) {
        const std::vector<RanksForecast> outer = {forecasts.front(), forecasts.back()};
        const std::vector<RanksForecast>& open = communicator_.name() == "threads" ? forecasts : outer;
        taken = fastest_ranks(open).rank_bits;
        fewer.reason = fewer_ranks_note(open);
      }
      if (taken == rank_bits_) {
        std::string note = fewer_ranks_note(forecasts);
        if (!note.empty()) result_.warnings.push_back(std::move(note));
      }
      result_.time.plan += seconds_since(start);
    });
    communicator_.broadcast(std::as_writable_bytes(std::span(&taken, 1)), 0);
    if (taken == rank_bits_) return {};
    fewer.fewer_ranks = 1 << taken;
    fewer.gpu = settled_.gpu->id;
    fewer.seconds = seconds_since(begin_);
    return fewer;
  }

  void require_fit(std::uint64_t needed) const {
    CapacityQuestion question = settled_.capacity_question(circuit_.qubits(), needed);
    read_out_.explain(question);
    require_capacity(question, settled_.machine);
  }

  /// The pool for all that the run does; CapacityError.
  PoolLayout plan_pool() {
    const Clock::time_point start = Clock::now();
    const int threads = settled_.threads(circuit_.qubits() - rank_bits_, communicator_);
    read_out_.predict(asked_,
                      {circuit_, program_, circuit_.qubits(), rank_bits_, options_.precision, threads, !settled_.gpu});
    // What a run can do without gets what the answers leave.
    const std::uint64_t room = settled_.memory.least_bytes - std::min(settled_.memory.least_bytes, read_out_.with(0));
    PoolLayout pool = program_layout(program_, settled_.machine, rank_bits_);
    if (inverse_) inverse_->add_to(pool, settled_.machine, room, settled_.gpu.has_value());
    if (second_walk_ && !second_walk_->add_to(pool, settled_.machine, rank_bits_, room)) {
      second_walk_.reset();
      result_.warnings.push_back("`verify` full: there is no memory for the tables of a second walk to compare with");
    }
    if (program_.dynamic) add_snapshots(pool, program_, room);
    const std::uint64_t needed = read_out_.with(pool.total_bytes());
    require_fit(needed);
    if (settled_.gpu) read_out_.require_host(settled_.ranks_of_host, host_limits().usable_bytes);
    if (settled_.machine.kind == BackendKind::kCpu && options_.max_memory == 0 &&
        needed * settled_.ranks_of_host > host_limits().available_bytes) {
      result_.warnings.push_back("the run needs " + format_bytes(needed * settled_.ranks_of_host) +
                                 " while the system says that " + format_bytes(host_limits().available_bytes) +
                                 " are available now: it may swap");
    }
    result_.memory.predicted_bytes_per_rank = needed;
    result_.time.init = seconds_since(start);
    return pool;
  }

  void prepare(const PoolLayout& pool) {
    const Clock::time_point start = Clock::now();
    read_out_.start();
    std::vector<const PlannedCircuit*> programs = {&program_};
    if (second_walk_) programs.push_back(&second_walk_->program());
    session_.vacate(circuit_.qubits(), pool, programs);
    result_.run.exchange = rank_.exchange();
    if (!rank_.exchange().empty()) result_.run.reason += "; " + rank_.exchange() + ": " + rank_.exchange_reason();
    if (!options_.profile_path.empty() || options_.pictures) {
      DeviceQueues* const queues = rank_.backend().abilities().queues;
      profile_ = std::make_unique<Profile>(queues == nullptr ? nullptr : queues->lane_clock());
      rank_.executor().profile = rank_.exchanges().profile = profile_.get();
    }
    WalkRoom walk_room;
    if (!profile_) walk_room = session_.lend(program_, settled_.memory.least_bytes - read_out_.bytes());
    const std::uint64_t walk_bytes = walk_room.bytes;
    program_run_ = session_.stage(circuit_, program_, options_.marginals, std::move(walk_room));
    if (second_walk_) {
      asked_.shot_marginals = true;
      second_run_ = session_.stage(circuit_, second_walk_->program(), false, WalkRoom{walk_bytes, {}, {}});
    }
    result_.time.init += seconds_since(start);
  }

  void execute() {
    if (communicator_.rank() == 0 && options_.progress) {
      options_.progress({0, predicted_seconds()});
      program_run_->on_progress = [this, pace = ProgressPace()](double fraction) mutable {
        if (const auto left = pace.left(fraction)) options_.progress({fraction, *left});
      };
    }
    for (std::uint32_t i = 0; i < options_.warm_ups; ++i) run_once();
    const Clock::time_point first = Clock::now();
    double spent = 0;  // rank 0's, so that all ranks stop together
    for (std::uint32_t i = 0; i < options_.repeats && spent < options_.repeat_seconds; ++i) {
      run_once();
      result_.time.simulate_repeats.push_back(result_.time.simulate);
      result_.time.read_out_repeats.push_back(result_.time.read_out);
      spent = seconds_since(first);
      communicator_.broadcast(std::as_writable_bytes(std::span(&spent, 1)), 0);
    }
  }

  /// Makes the final state once and takes the answers that every branch gives. A random start state is made before the
  /// clock starts.
  void run_once() {
    rank_.executor().clear_counts();
    communicator_.barrier();
    if (profile_) profile_->restart();
    const Clock::time_point begin = Clock::now();
    answers_ = program_run_->run(asked_);
    communicator_.barrier();
    counts_ = rank_.executor().counts();
    result_.time.read_out = answers_.read_seconds;
    result_.time.simulate = std::max(0.0, seconds_since(begin) - answers_.read_seconds - counts_.start_seconds);
    result_.time.exchange = answers_.exchange_seconds;
    result_.work.bytes_exchanged_per_rank = answers_.exchange_bytes;
  }

  /// Of the plan that the circuit is; 0 where measurements decide what runs.
  double predicted_seconds() const {
    return program_.dynamic || program_.plans.empty() ? 0 : plan_work(program_.plans.front()).total_seconds;
  }

  void read_out() {
    const Clock::time_point start = Clock::now();
    finish_read_outs(rank_.state(), rank_.exchanges(), asked_, false, answers_);
    result_.time.read_out += seconds_since(start);
  }

  void write_files() {
    if (options_.statevector_path.empty() && !profile_) return;
    const Clock::time_point start = Clock::now();
    rank_.executor().profile = rank_.exchanges().profile = nullptr;
    if (profile_) rank_.backend().synchronize();
    if (options_.pictures) {
      result_.pictures = run_pictures(program_, settled_.machine, gather_spans(*profile_, communicator_));
    }
    if (options_.statevector_path.empty() && options_.profile_path.empty()) return;
    std::vector<OutputFile>& files = answers_.files.emplace();
    if (!options_.profile_path.empty()) {
      write_profile(*profile_, communicator_, options_.profile_path);
      files.push_back({"profile", options_.profile_path, "", {}});
    }
    finish_read_outs(rank_.state(), rank_.exchanges(), asked_, true, answers_);
    result_.time.output = seconds_since(start);
  }

  void finish() {
    result_.results = std::move(answers_);
    fill_circuit_and_run();
    Verification& verification = result_.verification;
    verification.gates_planned = counts_.gates_planned;
    verification.gates_applied = counts_.gates_applied;
    if (options_.verify != Verify::kOff) {
      if (counts_.norm_checked) verification.norm = counts_.norm;
      verification.status = "ok";
      if (counts_.gates_planned != counts_.gates_applied) {
        throw VerificationError(std::to_string(counts_.gates_applied) + " gates were applied where " +
                                std::to_string(counts_.gates_planned) +
                                " were planned: the result is wrong and is not shown");
      }
    }
    result_.memory.read_out_bytes_per_rank = read_out_.bytes();
    result_.memory.state_bytes = rank_.pool().state_bytes * static_cast<std::uint64_t>(communicator_.size());
    result_.memory.peak_bytes_per_rank.resize(static_cast<std::size_t>(communicator_.size()));
    const std::uint64_t ranks_here = communicator_.name() == "threads" ? settled_.ranks_of_host : 1;
    const std::uint64_t peak =
        rank_.backend().peak_bytes() + read_out_.peak_beside(rank_.backend().peak_bytes(), ranks_here);
    communicator_.all_gather(std::as_bytes(std::span(&peak, 1)),
                             std::as_writable_bytes(std::span(result_.memory.peak_bytes_per_rank)));
    WorkSummary& work = result_.work;
    work.sweeps = counts_.sweeps;
    work.exchanges = counts_.exchanges;
    work.bytes_swept_per_rank = counts_.bytes_swept;
    work.known_zeros = options_.known_zeros;
    const auto rate = [](std::uint64_t bytes, double seconds) {
      return seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0.0;
    };
    work.memory_gbps = rate(work.bytes_swept_per_rank, result_.time.simulate);
    work.link_gbps = rate(work.bytes_exchanged_per_rank, result_.time.exchange);
    result_.environment = environment();
    if (result_.run.exchange == "nccl") result_.environment.nccl = nccl_version();
  }

  void fill_circuit_and_run() {
    result_.circuit = summarize(circuit_);
    const BackendInfo info = rank_.backend().info();
    RunSummary& run = result_.run;
    run.device = info.device;
    run.precision = options_.precision;
    run.ranks = communicator_.size();
    run.threads = info.threads;
    run.seed = asked_.seed;
    run.seed_given = settings_.seed_given;
    run.shots = asked_.shots;
  }

  const Clock::time_point begin_ = Clock::now();
  const bool may_take_fewer_;
  const Circuit& circuit_;
  const RunOptions& options_;
  const Settings settings_;
  ReadOuts asked_ = settings_.asked;
  Communicator& communicator_;
  Result result_;
  RankSession session_;
  Rank& rank_ = session_.rank();
  const Settled& settled_ = session_.settled();
  const std::uint32_t rank_bits_ = settled_.rank_bits;
  PlannedCircuit program_;
  ReadOutMemory read_out_;
  std::unique_ptr<InverseCheck> inverse_;
  std::unique_ptr<SecondWalk> second_walk_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<ProgramRun> program_run_, second_run_;
  Answers answers_;
  ExecutionCounts counts_;
};

void describe_operations(Result& result, const Circuit& circuit) {
  result.circuit.operations = circuit.operation_count();
  result.circuit.depth = circuit.depth();
}

/// Every rank holds all of the state and computes the same; rank 0 writes. `gpu`: this rank's, where it has one.
Result simulate_on_every_rank(const Circuit& circuit, const RunOptions& options, const Settings& settings,
                              Communicator& communicator, std::optional<int> gpu = {}) {
  RunOptions own = options;
  Settings own_settings = settings;
  own.exchange = ExchangeKind::kAuto;
  if (gpu) own.gpu_ids = {*gpu};
  if (communicator.rank() != 0) {
    own.statevector_path.clear();
    own_settings.asked.statevector.clear();
    own.profile_path.clear();
  }
  Result result;
  together(communicator, [&] {
    const std::unique_ptr<Communicator> self = make_self_communicator();
    result = *Simulation(circuit, own, own_settings, *self, false).run().result;
  });
  result.run.ranks = communicator.size();
  result.memory.peak_bytes_per_rank.assign(static_cast<std::size_t>(communicator.size()),
                                           result.memory.peak_bytes_per_rank.front());
  return result;
}

void take_note(const Outcome& fewer, const char* what, Result& result) {
  result.warnings.push_back(fewer.reason + ": " + what);
  result.time.plan += fewer.seconds;
  result.time.total += fewer.seconds;
}

/// simulate() on ranks that were told the same. Of threads the outcome may be that fewer of them make the run.
Outcome simulate_alike(const Circuit& circuit, const RunOptions& options, Communicator& communicator,
                       bool may_take_fewer = true) {
  if (options.start == Start::kZero) {
    if (const std::optional<Circuit> kept = without_idle_resets(circuit)) {
      Outcome outcome = simulate_alike(*kept, options, communicator, may_take_fewer);
      if (outcome.result) describe_operations(*outcome.result, circuit);
      return outcome;
    }
  }
  Settings settings;
  together(communicator, [&] { settings = check_settings(circuit, options, communicator.size()); });
  communicator.broadcast(std::as_writable_bytes(std::span(&settings.asked.seed, 1)), 0);  // drawn, where none was given
  const std::uint32_t rank_bits = log2_exact(static_cast<Index>(communicator.size()));
  if (communicator.size() > 1 && circuit.qubits() < rank_bits + needed_local_bits(circuit)) {
    Result result = simulate_on_every_rank(circuit, options, settings, communicator);
    result.run.reason += "; too few qubits to be split, so every rank holds them all";
    return {std::move(result)};
  }
  Outcome outcome = Simulation(circuit, options, settings, communicator, may_take_fewer).run();
  if (outcome.result || communicator.name() == "threads") return outcome;
  try {
    Result result = simulate_on_every_rank(circuit, options, settings, communicator, outcome.gpu);
    take_note(outcome, "every rank holds all of the state", result);
    return {std::move(result)};
  } catch (const CapacityError&) {  // of what is read out as well
    return Simulation(circuit, options, settings, communicator, false).run();
  }
}

Result simulate_on_threads(const Circuit& circuit, const RunOptions& options, int ranks, bool may_take_fewer) {
  if (ranks == 1) return *simulate_alike(circuit, options, *make_self_communicator()).result;
  Outcome outcome;
  run_thread_ranks(ranks, [&](Communicator& communicator) {
    Outcome of_rank = simulate_alike(circuit, options, communicator, may_take_fewer);
    if (communicator.rank() == 0) outcome = std::move(of_rank);
  });
  if (outcome.result) return std::move(*outcome.result);
  RunOptions of_fewer = options;
  if (!of_fewer.gpu_ids.empty()) of_fewer.gpu_ids.resize(static_cast<std::size_t>(outcome.fewer_ranks));
  try {
    Result result = simulate_on_threads(circuit, of_fewer, outcome.fewer_ranks, false);
    take_note(outcome, "the others are idle", result);
    return result;
  } catch (const CapacityError&) {  // of what is read out as well
    return simulate_on_threads(circuit, options, ranks, false);
  }
}

}  // namespace

Result simulate(const Circuit& circuit, const RunOptions& options, Communicator& communicator) {
  require_same_run(circuit, options, communicator);
  const bool threads = communicator.name() == "threads";  // whose number is the caller's
  return *simulate_alike(circuit, options, communicator, !threads).result;
}

Result simulate(const Circuit& circuit, const RunOptions& options, int ranks) {
  if (ranks > 1) {
    std::optional<Circuit> kept;
    if (options.start == Start::kZero) kept = without_idle_resets(circuit);
    check_settings(kept ? *kept : circuit, options, ranks);  // before any thread is started
  }
  return simulate_on_threads(circuit, options, ranks, true);
}

}  // namespace qsim
