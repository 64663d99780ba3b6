// What a Session keeps, and its states with it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "comm/rank_threads.h"
#include "qsim/session.h"
#include "session/callers.h"
#include "session/program_impl.h"
#include "session/rank/rank_session.h"

namespace qsim {

struct Session::Impl {
  /// How a rank's choices are made.
  using Settling = std::function<Settled(const Target&, Communicator&)>;
  Impl(const Target& wanted, const SessionOptions& options, Settling how = settle_for_any);

  using Call = Callers::Call;
  /// For Call::arguments; 0 where nobody compares them.
  template <class Item>
  std::uint64_t digest_of(std::span<const Item> items) const {
    return target.communicator == nullptr ? 0 : xxh3({reinterpret_cast<const char*>(items.data()), items.size_bytes()});
  }
  std::uint64_t digest_of(std::initializer_list<std::uint64_t> numbers) const {
    return digest_of(std::span(numbers.begin(), numbers.size()));
  }

  using Work = std::function<void(RankSession&, std::size_t rank)>;
  /// Agrees on `call`, then does `agreed`, then `work` on every rank that is this process's; `rank` counts those.
  /// UsageError while another thread does something here.
  void each(bool split, const Call& call, const Work& work, const std::function<void()>& agreed = {});
  using Shards = std::vector<std::unique_ptr<Shard>>;
  /// Ends the shards of a state: now, or when the call under way is over.
  void end(Shards shards, bool split);
  /// How many shards a state has in this process.
  std::size_t shards(bool split) const { return split && threads ? static_cast<std::size_t>(threads->size()) : 1; }
  /// Whether this process's ranks are the ones that show and write what all of them know.
  bool is_root() const { return target.communicator == nullptr || target.communicator->rank() == 0; }
  int ranks() const { return rank_count(target); }
  /// UsageError where `program` was compiled for something else.
  void require_target(const Program::Impl& program) const;
  /// From the system, the same on every rank.
  std::uint64_t draw_seed() const;
  RankSession& whole_ranks();
  /// What `ran`, run as a program on every rank of `session`, has left in their pools as a state. Collective.
  static State adopt(const std::shared_ptr<Impl>& session, const Plan& ran, bool split);
  static State::Impl& impl_of(State& state);
  std::function<void(double)> progress_of(Communicator& communicator);

  Target target;
  SessionOptions options;
  const std::shared_ptr<Callers> callers;
  std::unique_ptr<Communicator> self;
  std::unique_ptr<RankThreads> threads;
  std::vector<std::unique_ptr<RankSession>> shared;  // the ranks that are this process's
  std::unique_ptr<RankSession> whole;                // for states that are not split; made when the first one is

 private:
  void bury();

  const Settling settling_;
  std::mutex ending_;
  std::vector<std::pair<Shards, bool>> ended_shards_;
  ProgressPace pace_;
  std::exception_ptr from_progress_;
};

/// UsageError for numbers of qubits that no state has.
void require_qubits(std::uint32_t qubits);

struct State::Impl {
  Impl(std::shared_ptr<Session::Impl> of, std::uint32_t qubits, bool split);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  using Work = std::function<void(RankSession&, Shard&, bool first)>;
  using Call = Callers::Call;
  /// Does `work` on every shard, which is in the pool then; `first`: this process's first.
  void read(const Call& call, const Work& work, const std::function<void()>& agreed = {});
  /// What `question(rank)` gives on the first of them; every one is asked.
  template <class Question>
  auto ask(const Call& call, const Question& question) {
    std::invoke_result_t<Question, RankSession&> answer{};
    read(call, [&](RankSession& rank, Shard&, bool first) {
      auto mine = question(rank);
      if (first) answer = std::move(mine);
    });
    return answer;
  }
  /// As read(), for work that makes the state what it is; where it fails there is none.
  void write(const Call& call, const Work& work);
  void run(const Call& call, const std::function<ShapedPlan(RankSession&, Shard&)>& plan_of,
           std::uint64_t start_seed = 1);
  /// As State::run(); `from_zero`: of |0...0>, whatever the state was.
  void run(Program::Impl& program, std::span<const double> values, bool from_zero);

  std::vector<double> expectations(std::span<const PauliString> strings, const std::function<void()>& check);

  /// UsageError unless the state has a value.
  void require_value() const;
  /// `call`, which has to find a value: where one rank's state has none, all say so.
  Call of_value(const Call& call) const;

  std::shared_ptr<Session::Impl> session;
  const std::uint32_t qubits;
  const bool split;
  bool defined = false;
  std::vector<std::unique_ptr<Shard>> shards;
};

}  // namespace qsim
