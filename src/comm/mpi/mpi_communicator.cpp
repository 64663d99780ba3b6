// Ranks as MPI processes; the only file that knows <mpi.h>. Every message is at most 1 GiB, every count an int.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/launcher.h"
#include "qsim/communicator.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::size_t kMessageBytes = std::size_t{1} << 30;

void check(int code, const char* call, int rank) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw CommunicatorError(std::string(call) + " failed on rank " + std::to_string(rank) + ": " + text.data(), rank);
}

/// Calls `send(offset, count)` for pieces of at most `limit` of `total`.
template <typename Piece>
void split(std::size_t total, std::size_t limit, Piece&& piece) {
  for (std::size_t offset = 0; offset < total; offset += limit) {
    piece(offset, static_cast<int>(std::min(limit, total - offset)));
  }
}

/// Where ranks fill a host's cores, one that waits must not spin while the one it waits for wants the core. Open MPI
/// decides that from --oversubscribe alone; a setting of the user's stays.
void yield_on_full_hosts() {
  const LaunchEnvironment launched = launch_environment();
  if (launched.launcher != "Open MPI" || launched.local_size < 2) return;
  if (static_cast<unsigned>(launched.local_size) < std::thread::hardware_concurrency()) return;
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
}

/// MPI_Init and MPI_Finalize, unless the program around the library has done that itself.
class MpiSession {
 public:
  MpiSession() {
    int finalized = 0, initialized = 0;
    MPI_Finalized(&finalized);
    if (finalized) throw CommunicatorError("MPI has already been finalized in this process");
    MPI_Initialized(&initialized);
    if (initialized) return;
    yield_on_full_hosts();
    int provided = MPI_THREAD_SINGLE;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
      throw CommunicatorError("MPI_Init_thread failed", -1, "start qsim with the mpirun of " + mpi_library_version());
    }
    owner_ = true;
    if (provided < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw CommunicatorError("this MPI has no thread support (MPI_THREAD_FUNNELED is needed)");
    }
  }
  ~MpiSession() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (owner_ && !finalized) MPI_Finalize();
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

 private:
  bool owner_ = false;
};

/// Ends this process, and with it the job, when a call that needs other ranks does not return for too long. Broadcasts
/// and maxima are not watched: others may wait there for what rank 0 reads from a person, or prints.
class Watchdog {
 public:
  Watchdog(int rank, std::chrono::seconds limit) : rank_(rank), limit_(limit) {
    if (limit_.count() > 0) thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  /// Calls `call` and watches how long it takes; `peer` -1: all ranks.
  template <typename Call>
  void during(const char* name, int peer, Call&& call) {
    name_.store(name, std::memory_order_relaxed);
    peer_.store(peer, std::memory_order_relaxed);
    since_.store(now(), std::memory_order_release);
    call();
    since_.store(0, std::memory_order_relaxed);
  }

 private:
  static std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

  void watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, std::chrono::milliseconds(250), [&] { return stop.stop_requested(); })) {
      const std::int64_t since = since_.load(std::memory_order_acquire);
      if (since == 0 || std::chrono::steady_clock::duration(now() - since) < limit_) continue;
      const int peer = peer_.load(std::memory_order_relaxed);
      const std::string text = "qsim: rank " + std::to_string(rank_) + " has waited " + std::to_string(limit_.count()) +
                               " s in " + name_.load(std::memory_order_relaxed) + " for " +
                               (peer < 0 ? "the other ranks" : "rank " + std::to_string(peer)) +
                               ": the job is ended (QSIM_WATCHDOG_SECONDS sets another limit)\n";
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
      ::_exit(static_cast<int>(ExitCode::kCommunication));  // MPI is the other thread's; the launcher ends the rest
    }
  }

  const int rank_;
  const std::chrono::seconds limit_;
  std::atomic<const char*> name_{""};
  std::atomic<int> peer_{-1};
  std::atomic<std::int64_t> since_{0};  // 0: in no call
  std::jthread thread_;                 // last: it reads the others
};

std::chrono::seconds watchdog_limit() {
  constexpr std::chrono::seconds kDefault{300};
  const char* text = std::getenv("QSIM_WATCHDOG_SECONDS");
  if (text == nullptr) return kDefault;
  int seconds = 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, seconds);
  if (error != std::errc() || rest != end || seconds < 0) {
    throw UsageError(std::string("QSIM_WATCHDOG_SECONDS is \"") + text + "\", not a number of seconds (0: no limit)");
  }
  return std::chrono::seconds(seconds);
}

/// A communicator of our own, so that our messages never meet the program's.
class PrivateWorld {
 public:
  PrivateWorld() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_dup(MPI_COMM_WORLD, &handle_), "MPI_Comm_dup", -1);
    MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
  }
  ~PrivateWorld() { MPI_Comm_free(&handle_); }
  PrivateWorld(const PrivateWorld&) = delete;
  PrivateWorld& operator=(const PrivateWorld&) = delete;
  MPI_Comm get() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_rank(world_.get(), &rank_);
    MPI_Comm_size(world_.get(), &size_);
    const LaunchEnvironment launched = launch_environment();
    if (launched.size > 1 && size_ == 1) {
      throw CommunicatorError(launched.launcher + " started " + std::to_string(launched.size) +
                                  " processes but MPI says that this is 1 of 1",
                              launched.rank,
                              "the launcher belongs to another MPI than qsim, which was built with " +
                                  mpi_library_version() + ": use that one's mpirun (under Slurm: srun --mpi=pmix)");
    }
    if (size_ > 1) watchdog_ = std::make_unique<Watchdog>(rank_, watchdog_limit());
  }

  std::string_view name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(int peer, std::span<const std::byte> send, std::span<std::byte> receive) override {
    if (send.size() != receive.size()) {
      throw CommunicatorError(
          "an exchange sends " + std::to_string(send.size()) + " bytes and expects " + std::to_string(receive.size()),
          rank_);
    }
    split(send.size(), kMessageBytes, [&](std::size_t offset, int count) {
      watched("MPI_Sendrecv", peer, [&] {
        return MPI_Sendrecv(send.data() + offset, count, MPI_BYTE, peer, 0, receive.data() + offset, count, MPI_BYTE,
                            peer, 0, world_.get(), MPI_STATUS_IGNORE);
      });
    });
  }

  /// Each rank adds its slice of everybody's values in rank order, then the slices are gathered: MPI_Allreduce may add
  /// in any order.
  void sum(std::span<double> values) override {
    if (size_ == 1) return;
    const auto ranks = static_cast<std::size_t>(size_);
    const std::size_t slice = std::min(kSumSlice, (values.size() + ranks - 1) / ranks);
    std::vector<double> send(slice * ranks), receive(slice * ranks), total(slice);
    split(values.size(), slice * ranks, [&](std::size_t offset, int piece) {
      const auto count = static_cast<std::size_t>(piece);
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(offset), count, send.begin());
      std::fill(send.begin() + static_cast<std::ptrdiff_t>(count), send.end(), 0.0);
      const int items = static_cast<int>(slice);
      watched("MPI_Alltoall", -1, [&] {
        return MPI_Alltoall(send.data(), items, MPI_DOUBLE, receive.data(), items, MPI_DOUBLE, world_.get());
      });
      std::copy_n(receive.begin(), slice, total.begin());
      for (std::size_t peer = 1; peer < ranks; ++peer) {
        for (std::size_t i = 0; i < slice; ++i) total[i] += receive[peer * slice + i];
      }
      check(MPI_Allgather(total.data(), items, MPI_DOUBLE, receive.data(), items, MPI_DOUBLE, world_.get()),
            "MPI_Allgather", rank_);
      std::copy_n(receive.begin(), count, values.begin() + static_cast<std::ptrdiff_t>(offset));
    });
  }
  void sum(std::span<std::uint64_t> values) override { all_reduce(values, MPI_UINT64_T, MPI_SUM); }
  void max(std::span<std::int64_t> values) override { all_reduce(values, MPI_INT64_T, MPI_MAX); }

  void broadcast(std::span<std::byte> data, int root) override {
    split(data.size(), kMessageBytes, [&](std::size_t offset, int count) {
      check(MPI_Bcast(data.data() + offset, count, MPI_BYTE, root, world_.get()), "MPI_Bcast", rank_);
    });
  }

  void all_gather(std::span<const std::byte> send, std::span<std::byte> receive) override {
    if (receive.size() != send.size() * static_cast<std::size_t>(size_)) {
      throw CommunicatorError(
          "a gather of " + std::to_string(send.size()) + " bytes a rank into " + std::to_string(receive.size()), rank_);
    }
    if (receive.size() <= kMessageBytes) {
      const int count = static_cast<int>(send.size());
      watched("MPI_Allgather", -1, [&] {
        return MPI_Allgather(send.data(), count, MPI_BYTE, receive.data(), count, MPI_BYTE, world_.get());
      });
      return;
    }
    for (int root = 0; root < size_; ++root) {
      const std::span<std::byte> part = receive.subspan(static_cast<std::size_t>(root) * send.size(), send.size());
      if (root == rank_) std::memcpy(part.data(), send.data(), part.size());
      broadcast(part, root);
    }
  }

  void barrier() override {
    watched("MPI_Barrier", -1, [&] { return MPI_Barrier(world_.get()); });
  }

  void abort(int exit_code, const std::string& message) override {
    // The one place where the library writes to the user: nothing returns from here that could.
    const std::string text = "qsim: rank " + std::to_string(rank_) + ": " + message + "\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    ::_exit(exit_code);
  }

 private:
  static constexpr std::size_t kSumSlice = std::size_t{1} << 15;

  /// A call that returns an MPI code and needs `peer` (-1: all ranks).
  template <typename Call>
  void watched(const char* name, int peer, Call&& call) {
    int code = MPI_SUCCESS;
    if (watchdog_) {
      watchdog_->during(name, peer, [&] { code = call(); });
    } else {
      code = call();
    }
    check(code, name, rank_);
  }

  template <typename T>
  void all_reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
    split(values.size(), kMessageBytes / sizeof(T), [&](std::size_t offset, int count) {
      check(MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, count, type, operation, world_.get()), "MPI_Allreduce",
            rank_);
    });
  }

  MpiSession session_;
  PrivateWorld world_;
  int rank_ = 0, size_ = 1;
  std::unique_ptr<Watchdog> watchdog_;  // where there are other ranks
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator() { return std::make_unique<MpiCommunicator>(); }

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "an unknown MPI";
  const std::string_view full(text.data(), std::strlen(text.data()));
  return std::string(full.substr(0, full.find_first_of(",\n")));
}

}  // namespace qsim
