// A fixed team of threads that shares numbered tasks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace qsim {

/// Runs tasks 0..count-1 on `size` threads, the caller among them. Which thread takes which task varies; results must
/// not depend on it. Where cores are busy with others' work, the caller would wait for threads that do not get their
/// turn: it does not wait for those that have not begun, and works alone for a while after it has waited for longer
/// than it worked. Never allocates after construction.
class ThreadTeam {
 public:
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// body(task, worker) for every task; rethrows the first exception after all threads have stopped.
  template <typename Body>
  void run(std::uint64_t count, Body&& body) {
    using Function = std::remove_reference_t<Body>;
    run_erased(
        count, [](void* context, std::uint64_t task, int worker) { (*static_cast<Function*>(context))(task, worker); },
        const_cast<std::remove_const_t<Function>*>(&body));
  }

 private:
  using Call = void (*)(void* context, std::uint64_t task, int worker);
  void run_erased(std::uint64_t count, Call call, void* context);
  void take_tasks(int worker);
  void note_wait(double worked, double waited);
  void work(int worker);
  void stop();

  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::uint64_t generation_ = 0;  // of the current run; workers wait for it to change
  bool open_ = false;             // the current run takes workers still
  int active_ = 0;                // workers in it; one that is woken too late never joins, and nobody waits for it
  bool stopping_ = false;
  std::exception_ptr failure_;
  double alone_ = 0;  // seconds of work that the caller does alone before it asks the others again
  int in_vain_ = 0;   // how many times in a row it waited too long

  Call call_ = nullptr;
  void* context_ = nullptr;
  std::uint64_t count_ = 0;
  alignas(64) std::atomic<std::uint64_t> next_{0};
  std::vector<std::jthread> workers_;
};

/// Number of processors in the calling thread's affinity mask, at least 1.
int affinity_threads();
/// `wanted`, or as many where that is 0.
inline int threads_or_all(int wanted) { return wanted > 0 ? wanted : affinity_threads(); }

}  // namespace qsim
