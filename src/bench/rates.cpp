#include "bench/rates.h"

#include <algorithm>
#include <array>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/ranks/communicator.h"
#include "device/backend.h"
#include "document/result.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "qsim/error.h"
#include "session/choose/registry.h"

namespace qsim::bench {
namespace {

constexpr int kRepeats = 5;
constexpr std::uint64_t kHostBytes = std::uint64_t{256} << 20;  // of all threads together: larger than any cache
constexpr std::uint64_t kDeviceBytes = std::uint64_t{4} << 30;  // of a GPU
// Of repeats on a GPU: the driver clears what the last run gave back, at a tenth of the memory's rate.
constexpr double kDeviceSeconds = 0.5;
constexpr std::uint64_t kMessageBytes = std::uint64_t{16} << 20;  // a rank

/// In-place read and write of host memory by `threads` threads: bytes read plus written a second, best of some.
double host_rate(int threads) {
  const std::size_t count = kHostBytes / sizeof(double) / static_cast<std::size_t>(threads);
  std::vector<std::vector<double>> parts(static_cast<std::size_t>(threads));
  // Taken by the last thread to arrive, before any is released: threads may outnumber cores.
  Clock::time_point start, now;
  std::barrier gate(threads, [&]() noexcept {
    start = now;
    now = Clock::now();
  });
  double best = 0;
  const auto work = [&](int number) {
    std::vector<double>& part = parts[static_cast<std::size_t>(number)];
    part.assign(count, 1.0);
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      gate.arrive_and_wait();
      for (double& value : part) value *= 1.0000001;
      gate.arrive_and_wait();
      const double bytes = 2.0 * static_cast<double>(count * sizeof(double)) * threads;
      if (number == 0) best = std::max(best, bytes / seconds_of(now - start));
      gate.arrive_and_wait();
    }
  };
  std::vector<std::jthread> team;
  for (int number = 1; number < threads; ++number) team.emplace_back(work, number);
  work(0);
  return best;
}

/// A copy of the state beside itself on the device.
double device_rate(BackendKind kind) {
  const std::unique_ptr<Backend> backend = make_backend(kind, {});
  PoolLayout pool;
  pool.state_bytes = pool.snapshot_bytes = kDeviceBytes;
  pool.scratch_bytes = std::uint64_t{64} << 20;
  backend->reserve(pool, 28);
  backend->fill_random(Layout::identity(28), 0, 1, 1e-4);
  double best = 0;
  const Clock::time_point begin = Clock::now();
  while (seconds_since(begin) < kDeviceSeconds) {
    backend->synchronize();
    const Clock::time_point start = Clock::now();
    backend->save_state(0);
    backend->synchronize();
    best = std::max(best, 2.0 * static_cast<double>(kDeviceBytes) / seconds_since(start));
  }
  return best;
}

/// Every rank trades a message with its neighbour; bytes sent a second by the slowest.
double exchange_rate(Communicator& communicator) {
  std::vector<std::byte> send(kMessageBytes), receive(kMessageBytes);
  double best = 0;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    communicator.barrier();
    const Clock::time_point start = Clock::now();
    communicator.exchange(communicator.rank() ^ 1, send, receive);
    communicator.barrier();
    best = std::max(best, static_cast<double>(kMessageBytes) / seconds_since(start));
  }
  return best;
}

}  // namespace

std::optional<double> Rates::copy_gbps(const RunSummary& run) {
  if (run.backend == "null") return std::nullopt;
  const bool threads = communicator_ == nullptr && run.backend == "cpu";
  const int ranks = threads ? run.ranks : 1;
  const int workers = run.backend == "cpu" ? std::max(1, run.threads) * ranks : 1;
  std::optional<double>& known = copy_[{run.backend, workers}];
  if (!known) {
    // Cores share a memory and are measured together; one GPU stands for all.
    std::array<double, 1> rate{};
    if (communicator_ != nullptr) communicator_->barrier();
    if (run.backend == "cpu") {
      rate[0] = 1e-9 * host_rate(workers);
    } else if (communicator_ == nullptr || communicator_->rank() == 0) {
      rate[0] = 1e-9 * device_rate(choice_of<BackendKind>(run.backend));
    }
    if (communicator_ != nullptr) {
      communicator_->sum(rate);
      if (run.backend == "cpu") rate[0] /= communicator_->size();
    }
    known = rate[0];
  }
  return *known / ranks;
}

std::optional<double> Rates::link_gbps(const RunSummary& run) {
  if (run.ranks < 2 || run.backend == "null") return std::nullopt;
  // What a GPU's links reach depends on the transport: the cost table has what was measured.
  if (run.backend == "cuda") return 1e-9 * find_machine("h200").cost_double.link_bytes_per_second;
  std::optional<double>& known = link_[{run.backend, run.ranks}];
  if (!known) {
    double rate = 0;
    if (communicator_ != nullptr) {
      rate = exchange_rate(*communicator_);
      std::array<double, 1> sum{rate};
      communicator_->sum(sum);
      rate = sum[0] / communicator_->size();
    } else {
      run_thread_ranks(run.ranks, [&](Communicator& communicator) {
        const double mine = exchange_rate(communicator);
        if (communicator.rank() == 0) rate = mine;
      });
    }
    known = 1e-9 * rate;
  }
  return known;
}

}  // namespace qsim::bench
