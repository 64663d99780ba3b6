// Sessions: ranks that are opened, and one caller at a time.
#include "qsim/session.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ranks/agreement.h"
#include "comm/rank_threads.h"
#include "qsim/error.h"
#include "session/program_impl.h"
#include "session/session_impl.h"

namespace qsim {

std::shared_ptr<Communicator> mpi_communicator() {
  std::shared_ptr<Communicator> communicator = make_mpi_communicator();
  if (!communicator) throw CommunicatorError("this library was built without MPI: build it with -DQSIM_MPI=ON");
  return communicator;
}

int rank_of(const Communicator& communicator) { return communicator.rank(); }

Session::Impl::Impl(const Target& wanted, const SessionOptions& wanted_options)
    : target(wanted), options(wanted_options) {
  require_rank_count(ranks());
  const auto open = [&](Communicator& communicator) {
    auto rank = std::make_unique<RankSession>(wanted, communicator, options.verify);
    if (options.progress) rank->on_progress = progress_of(communicator);
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

int Session::Impl::ranks() const { return target.communicator != nullptr ? target.communicator->size() : target.ranks; }

RankSession& Session::Impl::whole_ranks() {
  if (ranks() == 1) return *shared.front();
  if (!whole) {
    if (!self) self = make_self_communicator();
    Target alone = target;
    alone.ranks = 1;
    alone.communicator = nullptr;
    alone.exchange = ExchangeKind::kAuto;
    whole = std::make_unique<RankSession>(alone, *self, options.verify);
    if (options.progress) whole->on_progress = progress_of(*self);
  }
  return *whole;
}

std::function<void(double)> Session::Impl::progress_of(Communicator& communicator) {
  return [this, &communicator](double fraction) {
    std::int64_t stop = 0;
    const auto now = std::chrono::steady_clock::now();
    if (communicator.rank() == 0 && is_root() && now - told_ >= std::chrono::milliseconds(100) && fraction > 0) {
      told_ = now;
      const double elapsed = std::chrono::duration<double>(now - began_).count();
      try {
        options.progress({fraction, elapsed * (1 - fraction) / fraction});
      } catch (...) {
        from_progress_ = std::current_exception();
        stop = 1;
      }
    }
    if (communicator.size() > 1) communicator.max({&stop, 1});
    if (stop != 0) throw UsageError("the run was ended by the caller's progress function");
  };
}

void Session::Impl::begin_progress() {
  began_ = told_ = std::chrono::steady_clock::now();
  from_progress_ = nullptr;
}

void Session::Impl::each(bool split, const char* call, const Work& work) {
  const std::unique_lock lock(busy, std::try_to_lock);
  if (!lock.owns_lock()) throw UsageError("this session is in use: one thread, and one call, at a time");
  bury();
  begin_progress();
  if (target.communicator != nullptr) {
    const Fact fact{"the call", call};
    require_same(*target.communicator, {&fact, 1});
  }
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

void Session::Impl::end(Shards shards, bool split) {
  {
    const std::lock_guard lock(ending_);
    ended_shards_.emplace_back(std::move(shards), split);
  }
  if (const std::unique_lock lock(busy, std::try_to_lock); lock.owns_lock()) bury();
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

Session::Session(const Target& target, const SessionOptions& options)
    : impl_(std::make_shared<Impl>(target, options)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&& other) noexcept {
  Session old(std::move(other));
  std::swap(impl_, old.impl_);
  return *this;
}
Session::~Session() {
  if (impl_) impl_->ended = true;
}

const Target& Session::target() const { return impl_->target; }
const std::string& Session::reason() const { return impl_->shared.front()->settled().reason; }

std::uint64_t Session::memory_bytes() const { return impl_->shared.front()->settled().memory.least_bytes; }

Program Session::compile(const Circuit& circuit, const CompileOptions& options) const {
  return Program(
      make_program(circuit, impl_->target, impl_->ranks(), impl_->shared.front()->settled().machine, options));
}

State Session::state(std::uint32_t qubits) {
  State state(std::make_unique<State::Impl>(impl_, qubits, is_split(qubits, impl_->ranks(), 0)));
  state.set();
  return state;
}

State Session::run(const Program& program, std::span<const double> values) {
  State state(std::make_unique<State::Impl>(impl_, program.qubits(), program.impl_->is_split()));
  state.run_from_zero(program, values);
  return state;
}

}  // namespace qsim
