// ThreadTeam: workers sleep between runs.
#include "cpu/thread_team.h"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace qsim::cpu {

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
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    take_tasks(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void ThreadTeam::run_erased(std::uint64_t count, Call call, void* context) {
  call_ = call;
  context_ = context;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  const bool alone = workers_.empty() || count < 2;
  if (!alone) {
    const std::lock_guard lock(mutex_);
    busy_ = static_cast<int>(workers_.size());
    ++generation_;
  }
  if (!alone) start_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  if (!alone) done_.wait(lock, [&] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

int affinity_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return std::max(1u, std::thread::hardware_concurrency());
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace qsim::cpu
