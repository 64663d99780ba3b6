// Sessions: ranks that are opened, and one caller at a time.
#include "qsim/session.h"

#include <array>
#include <string>
#include <utility>

#include "base/philox.h"
#include "base/ranks/agreement.h"
#include "comm/rank_threads.h"
#include "qsim/error.h"
#include "runtime/answer/read_outs.h"
#include "runtime/check/question_check.h"
#include "session/program_impl.h"
#include "session/session_impl.h"

namespace qsim {

std::shared_ptr<Communicator> mpi_communicator() {
  std::shared_ptr<Communicator> communicator = make_mpi_communicator();
  if (!communicator) throw CommunicatorError("this library was built without MPI: build it with -DQSIM_MPI=ON");
  return communicator;
}

Session::Impl::Impl(const Target& wanted, const SessionOptions& wanted_options, Settling how)
    : target(wanted),
      options(wanted_options),
      callers(std::make_shared<Callers>(target.communicator)),
      settling_(std::move(how)) {
  require_rank_count(ranks());
  std::int64_t asked = options.progress ? 1 : 0;  // by any of the ranks, which stop together
  if (target.communicator != nullptr) {
    const std::array<Fact, 3> facts{Fact{"`precision`", std::string(name_of(target.precision))},
                                    Fact{"`exchange`", std::string(name_of(target.exchange))},
                                    Fact{"`verify`", std::string(name_of(options.verify))}};
    require_same(*target.communicator, facts);
    target.communicator->max({&asked, 1});
  }
  const auto open = [&](Communicator& communicator) {
    auto rank = std::make_unique<RankSession>(settling_(wanted, communicator), communicator, options.verify);
    if (asked != 0) rank->on_progress = progress_of(communicator);
    return rank;
  };
  if (target.communicator != nullptr) {
    shared.push_back(open(*target.communicator));
  } else if (target.ranks == 1) {
    self = make_self_communicator();
    shared.push_back(open(*self));
  } else {
    threads = std::make_unique<RankThreads>(target.ranks);
    shared.resize(static_cast<std::size_t>(target.ranks));
    threads->run([&](Communicator& communicator) {
      shared[static_cast<std::size_t>(communicator.rank())] = open(communicator);
    });
  }
  target.backend = shared.front()->settled().target.backend;
}

RankSession& Session::Impl::whole_ranks() {
  if (ranks() == 1) return *shared.front();
  if (!whole) {
    if (!self) self = make_self_communicator();
    const Settled& of_rank = shared.front()->settled();
    Target alone = target;
    alone.ranks = 1;
    alone.communicator = nullptr;
    alone.exchange = ExchangeKind::kAuto;
    if (of_rank.gpu) alone.gpu_ids = {of_rank.gpu->id};
    Settled settled = settling_(alone, *self);
    settled.reason = of_rank.reason;
    whole = std::make_unique<RankSession>(std::move(settled), *self, options.verify);
    if (options.progress) whole->on_progress = progress_of(*self);
  }
  return *whole;
}

std::function<void(double)> Session::Impl::progress_of(Communicator& communicator) {
  return [this, &communicator](double fraction) {
    std::int64_t stop = 0;
    const bool tells = options.progress && communicator.rank() == 0 && is_root();
    if (const auto left = tells ? pace_.left(fraction) : std::nullopt) {
      try {
        options.progress({fraction, *left});
      } catch (...) {
        from_progress_ = std::current_exception();
        stop = 1;
      }
    }
    if (communicator.size() > 1) communicator.max({&stop, 1});
    if (stop != 0) throw UsageError("the run was ended by the caller's progress function");
  };
}

void Session::Impl::each(bool split, const Call& call, const Work& work, const std::function<void()>& agreed) {
  const Callers::Turn turn(*callers);
  turn.require();
  bury();
  pace_ = {};
  from_progress_ = nullptr;
  callers->agree(call);
  if (agreed) agreed();
  try {
    if (!split) {
      work(whole_ranks(), 0);
    } else if (threads) {
      threads->run([&](Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        work(*shared[rank], rank);
      });
    } else {
      work(*shared.front(), 0);
    }
  } catch (...) {
    if (const std::exception_ptr cause = std::exchange(from_progress_, nullptr)) std::rethrow_exception(cause);
    throw;
  }
}

void Session::Impl::require_target(const Program::Impl& program) const {
  if (program.backend == target.backend && program.options.precision == target.precision && program.ranks == ranks())
    return;
  throw UsageError("the program was compiled for another target (" + std::string(name_of(program.backend)) + ", " +
                       std::string(name_of(program.options.precision)) + ", " + std::to_string(program.ranks) +
                       " ranks)",
                   "Session::compile() makes one for this session");
}

std::uint64_t Session::Impl::draw_seed() const {
  std::uint64_t seed = qsim::draw_seed();
  if (target.communicator != nullptr) {
    target.communicator->broadcast(std::as_writable_bytes(std::span(&seed, 1)), 0);
  }
  return seed;
}

void Session::Impl::end(Shards shards, bool split) {
  {
    const std::lock_guard lock(ending_);
    ended_shards_.emplace_back(std::move(shards), split);
  }
  if (const Callers::Turn turn(*callers); turn) bury();
}

void Session::Impl::bury() {
  const std::lock_guard lock(ending_);
  for (const auto& [shards, split] : ended_shards_) {
    for (std::size_t i = 0; i < shards.size(); ++i) {
      RankSession* const rank = split || ranks() == 1 ? shared[i].get() : whole.get();
      if (rank != nullptr) rank->forget(*shards[i]);
    }
  }
  ended_shards_.clear();
}

namespace {

Session::Impl& required(const std::shared_ptr<Session::Impl>& session) {
  if (!session) throw UsageError("this session was moved from");
  return *session;
}

}  // namespace

Session::Session(const Target& target, const SessionOptions& options)
    : impl_(std::make_shared<Impl>(target, options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  Session old(std::move(other));
  std::swap(impl_, old.impl_);
  return *this;
}
Session::~Session() {
  if (impl_) impl_->callers->end();
}

const Target& Session::target() const { return required(impl_).target; }
int Session::ranks() const { return required(impl_).ranks(); }
int Session::rank() const {
  return required(impl_).target.communicator != nullptr ? required(impl_).target.communicator->rank() : 0;
}
const std::string& Session::reason() const { return required(impl_).shared.front()->settled().reason; }

std::uint64_t Session::memory_bytes() const { return required(impl_).shared.front()->settled().memory.least_bytes; }

Program Session::compile(const Circuit& circuit, const CompileOptions& options) const {
  const Impl& own = required(impl_);
  return Program(make_program(circuit, own.target, own.shared.front()->settled().machine, options));
}

State Session::state(std::uint32_t qubits) {
  required(impl_).each(true, {"state", qubits, [&] { require_qubits(qubits); }}, [](RankSession&, std::size_t) {});
  State state(std::make_unique<State::Impl>(impl_, qubits, is_split(qubits, required(impl_).ranks(), 0)));
  state.set();
  return state;
}

State Session::run(const Program& program, std::span<const double> values) {
  required(impl_);
  State state(std::make_unique<State::Impl>(impl_, program.qubits(), program.impl().is_split()));
  state.impl().run(program.impl(), values, true);
  return state;
}

ProgramAnswers Session::answer(const Program& program, const Questions& questions, std::span<const double> values) {
  const Program::Impl& of = program.impl();
  ReadOuts wanted;
  wanted.shots = questions.shots;
  wanted.seed = questions.seed.value_or(0);
  wanted.distribution = questions.distribution;
  wanted.marginals = questions.marginals;
  wanted.probabilities = questions.probabilities;
  wanted.expectation = questions.expectations;
  wanted.max_iterations = questions.max_iterations;
  const auto check = [&] {
    required(impl_).require_target(of);
    of.circuit->require_values(values);
    if (questions.shots > 0 && !of.circuit->measures()) throw UsageError("`shots` of a circuit that measures nothing");
    if (questions.distribution && of.circuit->clbits() == 0) {
      throw UsageError("`distribution` of a circuit without classical bits");
    }
    require_read_outs(wanted, *of.circuit);
  };
  Answers found;
  const auto work = [&](RankSession& rank, std::size_t index) {
    Program::Impl::Whole whole;
    together(rank.rank().communicator(), [&] { whole = program.impl().whole(values); });
    Answers mine = rank.answer(*whole.circuit, *whole.planned, wanted);
    if (index == 0) found = std::move(mine);
  };
  std::string asked;
  if (required(impl_).target.communicator != nullptr) {
    for (const Fact& fact : facts_of(wanted)) asked += fact.name + "=" + fact.value + ";";
  }
  const std::uint64_t digest = required(impl_).digest_of({required(impl_).digest_of(values), of.circuit->qubits(),
                                                          of.circuit->operations().size(), wanted.shots,
                                                          questions.seed.has_value(), wanted.seed, xxh3(asked)});
  required(impl_).each(of.is_split(), {"answer", digest, check}, work, [&] {
    if (questions.shots > 0 && !questions.seed) wanted.seed = required(impl_).draw_seed();
  });
  ProgramAnswers answers;
  if (found.counts) answers.counts = std::move(*found.counts);
  if (found.distribution) answers.distribution = std::move(*found.distribution);
  if (found.marginals) answers.marginals = std::move(*found.marginals);
  if (found.probabilities) {
    for (QubitProbabilities& joint : *found.probabilities) answers.probabilities.push_back(std::move(joint.values));
  }
  if (found.expectation) {
    for (const ExpectationValue& sum : *found.expectation) answers.expectations.push_back(sum.value);
  }
  answers.seed = wanted.seed;
  answers.branches = found.branches;
  return answers;
}

}  // namespace qsim
