// ThreadTeam: workers sleep between runs.
#include "base/threads/thread_team.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"

namespace qsim {

ThreadTeam::ThreadTeam(int size) {
  workers_.reserve(static_cast<std::size_t>(std::max(size, 1) - 1));
  try {
    for (int worker = 1; worker < size; ++worker) {
      workers_.emplace_back([this, worker] { work(worker); });
    }
  } catch (...) {
    stop();  // those that have started wait for work, and are waited for
    throw;
  }
}

ThreadTeam::~ThreadTeam() { stop(); }

void ThreadTeam::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
}

void ThreadTeam::take_tasks(int worker) {
  try {
    for (std::uint64_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
      call_(context_, task, worker);
    }
  } catch (...) {
    next_.store(count_, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void ThreadTeam::work(int worker) {
  std::uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
    if (stopping_) return;
    seen = generation_;
    if (!open_) continue;
    ++active_;
    lock.unlock();
    take_tasks(worker);
    lock.lock();
    if (--active_ == 0) done_.notify_one();
  }
}

void ThreadTeam::note_wait(double worked, double waited) {
  constexpr double kNoted = 5e-4;  // seconds; schedulers take turns of some milliseconds
  constexpr int kMostDoublings = 4;
  const bool too_long = waited > kNoted && waited > 2 * worked;
  alone_ = too_long ? std::ldexp(waited, in_vain_) : 0;
  in_vain_ = too_long ? std::min(in_vain_ + 1, kMostDoublings) : 0;
}

void ThreadTeam::run_erased(std::uint64_t count, Call call, void* context) {
  call_ = call;
  context_ = context;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  const bool together = !workers_.empty() && count > 1 && alone_ <= 0;
  if (together) {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      ++generation_;
    }
    start_.notify_all();
  }
  const auto begin = Clock::now();
  take_tasks(0);
  const auto end = Clock::now();
  if (together) {
    std::unique_lock lock(mutex_);
    open_ = false;
    done_.wait(lock, [&] { return active_ == 0; });
    note_wait(seconds_of(end - begin), seconds_since(end));
  } else {
    alone_ -= seconds_of(end - begin);
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

int affinity_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace qsim
