// What a Session keeps, and its states with it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/ranks/communicator.h"
#include "comm/rank_threads.h"
#include "qsim/session.h"
#include "session/program_impl.h"
#include "session/rank/rank_session.h"

namespace qsim {

struct Session::Impl {
  Impl(const Target& wanted, const SessionOptions& options);

  using Work = std::function<void(RankSession&, std::size_t rank)>;
  /// Does `work` on every rank that is this process's; `rank` counts those. `call` names it: ranks of other processes
  /// that do another are told so. UsageError while another thread does something here.
  void each(bool split, const char* call, const Work& work);
  using Shards = std::vector<std::unique_ptr<Shard>>;
  /// Ends the shards of a state: now, or when the call under way is over.
  void end(Shards shards, bool split);
  /// How many shards a state has in this process.
  std::size_t shards(bool split) const { return split && threads ? static_cast<std::size_t>(threads->size()) : 1; }
  /// Whether this process's ranks are the ones that show and write what all of them know.
  bool is_root() const { return target.communicator == nullptr || target.communicator->rank() == 0; }
  int ranks() const;
  /// UsageError where `program` was compiled for something else.
  void require_target(const Program::Impl& program) const;
  /// From the system, the same on every rank.
  std::uint64_t draw_seed() const;
  RankSession& whole_ranks();
  std::function<void(double)> progress_of(Communicator& communicator);
  void begin_progress();

  Target target;
  SessionOptions options;
  std::unique_ptr<Communicator> self;
  std::unique_ptr<RankThreads> threads;
  std::vector<std::unique_ptr<RankSession>> shared;  // the ranks that are this process's
  std::unique_ptr<RankSession> whole;                // for states that are not split; made when the first one is
  std::mutex busy;
  std::atomic<bool> ended{false};

 private:
  void bury();

  std::mutex ending_;
  std::vector<std::pair<Shards, bool>> ended_shards_;
  std::chrono::steady_clock::time_point began_, told_;
  std::exception_ptr from_progress_;
};

struct State::Impl {
  Impl(std::shared_ptr<Session::Impl> of, std::uint32_t qubits, bool split);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  using Work = std::function<void(RankSession&, Shard&, bool first)>;
  /// Does `work` on every shard, which is in the pool then; `first`: this process's first.
  void read(const char* call, const Work& work);
  /// What `question(rank)` gives on the first of them; every one is asked.
  template <class Question>
  auto ask(const char* call, const Question& question) {
    std::invoke_result_t<Question, RankSession&> answer{};
    read(call, [&](RankSession& rank, Shard&, bool first) {
      auto mine = question(rank);
      if (first) answer = std::move(mine);
    });
    return answer;
  }
  /// As read(), for work that makes the state what it is; where it fails there is none.
  void write(const char* call, const Work& work);
  void run(const char* call, const std::function<ShapedPlan(RankSession&, Shard&)>& plan_of,
           std::uint64_t start_seed = 1);

  /// UsageError unless the state has a value.
  void require_value() const;
  /// UsageError when its session has ended.
  void require_session() const;

  std::shared_ptr<Session::Impl> session;
  const std::uint32_t qubits;
  const bool split;
  bool defined = false;
  std::vector<std::unique_ptr<Shard>> shards;
};

}  // namespace qsim
