// Ranks as threads of one process. Buffers are read in place by the other ranks; a rank that fails or ends early
// releases every rank that waits for it. Once all have ended, the group is as new.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "base/ranks/communicator.h"
#include "comm/rank_threads.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Thrown in a rank that waited for one that failed: it is not the cause, so it is not what the caller gets to see.
class ReleasedError : public CommunicatorError {
 public:
  using CommunicatorError::CommunicatorError;
};

/// What the threads share. Every wait ends when its condition holds or when the group has failed.
class ThreadGroup {
 public:
  explicit ThreadGroup(int size)
      : size_(size),
        ended_(static_cast<std::size_t>(size)),
        buffers_(static_cast<std::size_t>(size)),
        mail_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)),
        spins_(std::thread::hardware_concurrency() >= static_cast<unsigned>(size) ? kSpins : 0) {}

  int size() const { return size_; }

  void fail(int rank, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (failed_rank_ < 0) {
      failed_rank_ = rank;
      reason_ = reason;
    }
    changed_.notify_all();
  }

  void end(int rank) {
    const std::lock_guard lock(mutex_);
    ended_[static_cast<std::size_t>(rank)] = true;
    changed_.notify_all();
  }

  /// Forgets failures, letters and who has ended. No rank is in a call.
  void renew() {
    const std::lock_guard lock(mutex_);
    arrived_ = 0;
    failed_rank_ = -1;
    std::fill(ended_.begin(), ended_.end(), false);
    for (Mail& mail : mail_) mail.state = Mail::kEmpty;
  }

  void barrier() {
    std::unique_lock lock(mutex_);
    throw_if_failed();  // ranks that were released still count as arrived
    const std::uint64_t generation = generation_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++generation_;
      changed_.notify_all();
      return;
    }
    wait(lock, 0, size_, [&] { return generation_ != generation; });
  }

  /// Shows `data` to every rank; call between two barriers' worth of use: publish, barrier, read peers, barrier.
  void publish(int rank, std::span<std::byte> data) { buffers_[static_cast<std::size_t>(rank)] = data; }
  std::span<std::byte> published(int rank) const { return buffers_[static_cast<std::size_t>(rank)]; }

  void exchange(int rank, int peer, std::span<const std::byte> send, std::span<std::byte> receive) {
    Mail& out = mail(rank, peer);
    Mail& in = mail(peer, rank);
    out.data = send;
    set(out, Mail::kPosted);
    bool fits = false;
    try {
      wait_for_mail(peer, [&] { return in.state == Mail::kPosted; });
      // The sender may fail and take its letter back.
      int posted = Mail::kPosted;
      if (!in.state.compare_exchange_strong(posted, Mail::kTaken)) throw_if_failed_now();
      const std::span<const std::byte> data = in.data;
      fits = data.size() == receive.size();
      if (fits && !data.empty()) std::memcpy(receive.data(), data.data(), data.size());
      set(in, Mail::kEmpty);
      wait_for_mail(peer, [&] { return out.state == Mail::kEmpty; });
    } catch (const CommunicatorError&) {
      // The caller's buffer may go now, but not while the peer copies from it.
      int posted = Mail::kPosted;
      if (!out.state.compare_exchange_strong(posted, Mail::kEmpty)) {
        while (out.state != Mail::kEmpty) std::this_thread::yield();
      }
      throw;
    }
    if (!fits)
      throw CommunicatorError(
          "ranks " + std::to_string(rank) + " and " + std::to_string(peer) + " exchange messages of different sizes",
          rank);
  }

 private:
  /// A letter from one rank to another. Its state alone says who may touch it: the sender while empty, the receiver
  /// while taken, and whoever changes it first while posted.
  struct Mail {
    enum : int { kEmpty, kPosted, kTaken };
    std::span<const std::byte> data;
    std::atomic<int> state{kEmpty};
  };

  Mail& mail(int from, int to) {
    return mail_[static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(to)];
  }

  /// Wakes who sleeps; where nobody does, which is the rule while ranks trade chunks, it costs two atomic operations.
  void set(Mail& mail, int state) {
    mail.state = state;
    if (sleepers_ == 0) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  /// Partners of a trade are some microseconds apart: asks for a while, where every rank has a core, and sleeps then.
  template <typename Condition>
  void wait_for_mail(int peer, Condition&& condition) {
    for (int turn = 0; turn < spins_; ++turn) {
      if (condition()) return;
      if (turn % 16 == 15) std::this_thread::yield();
    }
    std::unique_lock lock(mutex_);
    ++sleepers_;
    try {
      wait(lock, peer, peer + 1, condition);
    } catch (const CommunicatorError&) {
      --sleepers_;
      throw;
    }
    --sleepers_;
  }

  void throw_if_failed_now() {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
    throw Error("a rank took back what it sent without having failed");
  }

  void throw_if_failed() const {
    if (failed_rank_ >= 0)
      throw ReleasedError("rank " + std::to_string(failed_rank_) + " failed: " + reason_, failed_rank_);
  }

  /// Waits for something that ranks [first, last) must do.
  template <typename Condition>
  void wait(std::unique_lock<std::mutex>& lock, int first, int last, Condition&& condition) {
    const auto gone = [&] { return std::find(ended_.begin() + first, ended_.begin() + last, true); };
    changed_.wait(lock, [&] { return condition() || failed_rank_ >= 0 || gone() != ended_.begin() + last; });
    if (condition()) return;
    throw_if_failed();
    const int rank = static_cast<int>(gone() - ended_.begin());
    throw ReleasedError("rank " + std::to_string(rank) + " ended while other ranks wait for it", rank);
  }

  static constexpr int kSpins = 4096;

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  std::uint64_t generation_ = 0;
  int failed_rank_ = -1;
  std::string reason_;
  std::vector<bool> ended_;
  std::vector<std::span<std::byte>> buffers_;
  std::vector<Mail> mail_;
  const int spins_;
  std::atomic<int> sleepers_{0};
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadGroup& group, int rank) : group_(group), rank_(rank) {}
  std::string_view name() const override { return "threads"; }
  int rank() const override { return rank_; }
  int size() const override { return group_.size(); }

  void exchange(int peer, std::span<const std::byte> send, std::span<std::byte> receive) override {
    require_rank(peer);
    group_.exchange(rank_, peer, send, receive);
  }
  void sum(std::span<double> values) override { reduce(values, std::plus<>()); }
  void sum(std::span<std::uint64_t> values) override { reduce(values, std::plus<>()); }
  void max(std::span<std::int64_t> values) override {
    reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }
  void broadcast(std::span<std::byte> data, int root) override {
    require_rank(root);
    group_.publish(rank_, data);
    group_.barrier();
    const std::span<std::byte> source = group_.published(root);
    const bool fits = source.size() == data.size();
    if (fits && rank_ != root && !data.empty()) std::memcpy(data.data(), source.data(), data.size());
    group_.barrier();
    require_size(fits);
  }
  void all_gather(std::span<const std::byte> send, std::span<std::byte> receive) override {
    // Published spans are writable because reductions write through them; a gather only reads.
    group_.publish(rank_, {const_cast<std::byte*>(send.data()), send.size()});
    group_.barrier();
    bool fits = receive.size() == send.size() * static_cast<std::size_t>(size());
    for (int peer = 0; peer < size(); ++peer) {
      const std::span<std::byte> source = group_.published(peer);
      fits = fits && source.size() == send.size();
      if (!fits || source.empty()) continue;
      std::memcpy(receive.data() + static_cast<std::size_t>(peer) * send.size(), source.data(), source.size());
    }
    group_.barrier();
    require_size(fits);
  }
  void barrier() override { group_.barrier(); }
  void abort(int exit_code, const std::string& message) override {
    group_.fail(rank_, message);
    throw CommunicatorError(message + " (exit code " + std::to_string(exit_code) + ")", rank_);
  }

 private:
  void require_rank(int rank) const {
    if (rank < 0 || rank >= size()) {
      throw CommunicatorError(
          "rank " + std::to_string(rank) + " does not exist in a group of " + std::to_string(size()), rank_);
    }
  }
  void require_size(bool fits) const {
    if (!fits) throw CommunicatorError("ranks disagree about the size of a message", rank_);
  }

  /// Rank r reduces slice r of everybody's values in rank order and writes it back to everybody.
  template <typename T, typename Operation>
  void reduce(std::span<T> values, Operation operation) {
    group_.publish(rank_, std::as_writable_bytes(values));
    group_.barrier();
    bool fits = true;
    for (int peer = 0; peer < size(); ++peer) fits = fits && group_.published(peer).size() == values.size_bytes();
    if (fits) {
      const auto ranks = static_cast<std::size_t>(size()), self = static_cast<std::size_t>(rank_);
      const std::size_t begin = values.size() * self / ranks, end = values.size() * (self + 1) / ranks;
      for (std::size_t i = begin; i < end; ++i) {
        T total = peer_values<T>(0)[i];
        for (int peer = 1; peer < size(); ++peer) total = static_cast<T>(operation(total, peer_values<T>(peer)[i]));
        for (int peer = 0; peer < size(); ++peer) peer_values<T>(peer)[i] = total;
      }
    }
    group_.barrier();
    require_size(fits);
  }
  template <typename T>
  T* peer_values(int peer) const {
    return reinterpret_cast<T*>(group_.published(peer).data());
  }

  ThreadGroup& group_;
  const int rank_;
};

struct Outcome {
  std::exception_ptr error;
  bool released = false;
};

}  // namespace

struct RankThreads::Team {
  explicit Team(int ranks) : group(ranks), outcomes(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) communicators.push_back(std::make_unique<ThreadCommunicator>(group, rank));
  }

  void run_rank(int rank) {
    Outcome& outcome = outcomes[static_cast<std::size_t>(rank)];
    outcome = {};
    try {
      (*body)(*communicators[static_cast<std::size_t>(rank)]);
      group.end(rank);
    } catch (const ReleasedError& error) {
      outcome = {std::current_exception(), true};
      group.fail(rank, error.what());
    } catch (const std::exception& error) {
      outcome = {std::current_exception(), false};
      group.fail(rank, error.what());
    } catch (...) {
      outcome = {std::current_exception(), false};
      group.fail(rank, "unknown exception");
    }
  }

  /// What a thread does until the team is dissolved: rank `rank` of every run.
  void serve(int rank) {
    std::uint64_t runs = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return dissolved || begun != runs; });
        if (begun == runs) return;
        runs = begun;
      }
      run_rank(rank);
      const std::lock_guard lock(mutex);
      if (--running == 0) changed.notify_all();
    }
  }

  void dissolve() {
    {
      const std::lock_guard lock(mutex);
      dissolved = true;
    }
    changed.notify_all();
    threads.clear();
  }

  ThreadGroup group;
  std::vector<std::unique_ptr<Communicator>> communicators;
  std::vector<Outcome> outcomes;
  std::mutex mutex;
  std::condition_variable changed;
  const std::function<void(Communicator&)>* body = nullptr;
  std::uint64_t begun = 0;  // runs so far
  int running = 0;          // threads that have not ended the latest
  bool dissolved = false;
  std::vector<std::jthread> threads;
};

RankThreads::RankThreads(int ranks) {
  if (ranks < 1) throw UsageError("the number of ranks must be at least 1, not " + std::to_string(ranks));
  if (ranks > kMostThreadRanks) {
    throw UsageError(
        std::to_string(ranks) + " ranks in one process: at most " + std::to_string(kMostThreadRanks) + " are threads",
        "more ranks are processes of an MPI launcher");
  }
  team_ = std::make_unique<Team>(ranks);
  try {
    for (int rank = 1; rank < ranks; ++rank) {
      team_->threads.emplace_back([team = team_.get(), rank] { team->serve(rank); });
    }
  } catch (const std::bad_alloc&) {
    team_->dissolve();
    throw;
  } catch (const std::exception& error) {
    const std::size_t started = team_->threads.size();
    team_->dissolve();
    throw CommunicatorError("rank " + std::to_string(started + 1) + " of " + std::to_string(ranks) +
                            " could not be started as a thread: " + error.what());
  }
}

RankThreads::~RankThreads() { team_->dissolve(); }

int RankThreads::size() const { return team_->group.size(); }

void RankThreads::run(const std::function<void(Communicator&)>& body) {
  {
    const std::lock_guard lock(team_->mutex);
    team_->body = &body;
    team_->running = size() - 1;
    ++team_->begun;
  }
  team_->changed.notify_all();
  team_->run_rank(0);
  {
    std::unique_lock lock(team_->mutex);
    team_->changed.wait(lock, [&] { return team_->running == 0; });
  }
  team_->group.renew();
  for (const bool released : {false, true}) {
    for (const Outcome& outcome : team_->outcomes) {
      if (outcome.error && outcome.released == released) std::rethrow_exception(outcome.error);
    }
  }
}

void run_thread_ranks(int ranks, const std::function<void(Communicator&)>& body) { RankThreads(ranks).run(body); }

}  // namespace qsim
