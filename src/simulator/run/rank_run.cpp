// A rank's part of a run: plan, fit, allocate, execute, read, verify. Ranks agree on every error before the state is
// touched; afterwards a rank that fails alone ends the job.
#include "simulator/run/rank_run.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/bits.h"
#include "base/ranks/agreement.h"
#include "base/ranks/communicator.h"
#include "base/text.h"
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
#include "session/rank/settle.h"
#include "simulator/memory/read_out_memory.h"
#include "simulator/run/run_pictures.h"
#include "simulator/run/second_walk.h"

namespace qsim {
namespace {

/// What a run adds to a rank of a session that runs one program: reports, times, checks and files.
class RankRun {
 public:
  RankRun(const RunJob& job, RankSession& session, Clock::time_point begin, bool may_take_fewer)
      : begin_(begin),
        may_take_fewer_(may_take_fewer && job.options.exchange == ExchangeKind::kAuto &&
                        !job.options.oversubscribe_gpus && !job.options.reproducible),
        options_(job.options),
        settings_(job.settings),
        circuit_(*job.program.circuit),
        compiled_(job.program),
        inverse_(job.inverse),
        session_(session) {}

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
    rank_.require_intact();
    finish();
    result_.time.total = seconds_since(begin_);
    Outcome outcome{std::move(result_)};
    outcome.has_copy = has_copy_;
    return outcome;
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

  /// Of what a run is checked by.
  PlanOptions check_options() const {
    PlanOptions plan = compiled_.options;
    plan.rank_bits = rank_bits_;
    return plan;
  }

  void make_programs() {
    const Clock::time_point start = Clock::now();
    // A state beyond any memory is refused before a plan is made for it.
    require_fit(state_bytes(options_.precision, circuit_.qubits() - rank_bits_));
    planned_ = compiled_.whole({}, Program::Impl::Use::kLook).planned;
    if (options_.verify == Verify::kFull && compiled_.dynamic) {
      second_walk_ = std::make_unique<SecondWalk>(circuit_, *planned_, settled_.machine, check_options());
    }
    result_.time.plan = seconds_since(start);
  }

  /// A user who asks for many GPUs may be better served by fewer: some of a process's threads, or one alone of several
  /// processes. Elsewhere that is said. Collective.
  std::optional<Outcome> look_at_fewer_ranks() {
    if (!settled_.gpu || compiled_.dynamic || rank_bits_ == 0 || circuit_.operation_count() > kMostForecastOperations) {
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
      forecasts = forecast_ranks(circuit_, machine, check_options(), 0, rank_bits_);
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
                      {circuit_, *planned_, circuit_.qubits(), rank_bits_, options_.precision, threads, !settled_.gpu});
    // What a run can do without gets what the answers leave.
    const std::uint64_t room = settled_.memory.least_bytes - std::min(settled_.memory.least_bytes, read_out_.with(0));
    PoolLayout pool = program_layout(*planned_, settled_.machine, rank_bits_);
    if (inverse_ != nullptr) has_copy_ = inverse_->add_to(pool, settled_.machine, room, settled_.gpu.has_value());
    if (second_walk_ && !second_walk_->add_to(pool, settled_.machine, rank_bits_, room)) {
      second_walk_.reset();
      result_.warnings.push_back("`verify` full: there is no memory for the tables of a second walk to compare with");
    }
    if (planned_->dynamic) add_snapshots(pool, *planned_, room);
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
    std::vector<const PlannedCircuit*> programs = {planned_.get()};
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
    if (!profile_) walk_room = session_.lend(*planned_, settled_.memory.least_bytes - read_out_.bytes());
    const std::uint64_t walk_bytes = walk_room.bytes;
    program_run_ = session_.stage(circuit_, *planned_, options_.marginals, std::move(walk_room));
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
    return planned_->dynamic || planned_->plans.empty() ? 0 : plan_work(planned_->plans.front()).total_seconds;
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
      result_.pictures = run_pictures(*planned_, settled_.machine, gather_spans(*profile_, communicator_));
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

  const Clock::time_point begin_;
  const bool may_take_fewer_;
  const RunOptions& options_;
  const Settings& settings_;
  const Circuit& circuit_;
  Program::Impl& compiled_;
  InverseCheck* const inverse_;
  RankSession& session_;
  ReadOuts asked_ = settings_.asked;
  Result result_;
  Rank& rank_ = session_.rank();
  Communicator& communicator_ = rank_.communicator();
  const Settled& settled_ = session_.settled();
  const std::uint32_t rank_bits_ = settled_.rank_bits;
  std::shared_ptr<const PlannedCircuit> planned_;
  ReadOutMemory read_out_;
  std::unique_ptr<SecondWalk> second_walk_;
  std::unique_ptr<Profile> profile_;
  std::unique_ptr<ProgramRun> program_run_, second_run_;
  Answers answers_;
  ExecutionCounts counts_;
  bool has_copy_ = false;
};

}  // namespace

Outcome run_on_rank(const RunJob& job, RankSession& session, Clock::time_point begin, bool may_take_fewer) {
  return RankRun(job, session, begin, may_take_fewer).run();
}

}  // namespace qsim
