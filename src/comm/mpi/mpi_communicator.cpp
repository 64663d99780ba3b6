// Ranks as MPI processes. Messages are at most 64 MiB: small enough to
// see ranks move on while a slow network carries them.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "base/file/files.h"
#include "base/ranks/agreement.h"
#include "base/ranks/communicator.h"
#include "comm/launcher.h"
#include "comm/mpi/beats.h"
#include "comm/mpi/session.h"
#include "comm/mpi/watch.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::size_t kMessageBytes = std::size_t{64} << 20;

std::string error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return text.data();
}

/// Calls `send(offset, count)` for pieces of at most `limit` of `total`.
template <typename Piece>
void split(std::size_t total, std::size_t limit, Piece&& piece) {
  for (std::size_t offset = 0; offset < total; offset += limit) {
    piece(offset, static_cast<int>(std::min(limit, total - offset)));
  }
}

/// A communicator of our own, so that our messages never meet the program's.
class PrivateWorld {
 public:
  explicit PrivateWorld(Watch& watch) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_SUCCESS;
    watch.limited("MPI_Comm_dup", kStartLimit, [&] { code = MPI_Comm_dup(MPI_COMM_WORLD, &handle_); });
    // Other ranks may have theirs: to unwind into MPI_Finalize alone would hang.
    if (code != MPI_SUCCESS) watch.end("MPI_Comm_dup failed: " + error_text(code), false);
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
  explicit MpiCommunicator(const LaunchEnvironment& launched)
      : watch_(launched.rank), session_(watch_), world_(watch_) {
    MPI_Comm_rank(world_.get(), &rank_);
    MPI_Comm_size(world_.get(), &size_);
    if (launched.size > 1 && size_ == 1) {
      throw CommunicatorError(launched.launcher + " started " + std::to_string(launched.size) +
                                  " processes but MPI says that this is 1 of 1",
                              launched.rank,
                              "the launcher belongs to another MPI than qsim, which was built with " +
                                  mpi_library_version() +
                                  ": use that one's mpirun (under Slurm: srun --mpi=pmix); where nothing was " +
                                  "launched, its variables are left over: unset " + launched.variable);
    }
  }

  /// The ranks agree on what is watched. Throws the same on all of them.
  void start_watching() {
    std::chrono::seconds limit{};
    together(*this, [&] { limit = watch_limit(); });
    std::int64_t seconds = limit.count(), no_threads = session_.threads_may_call() ? 0 : 1;
    broadcast(std::as_writable_bytes(std::span(&seconds, 1)), 0);
    max({&no_threads, 1});
    watch_.set_limit(std::chrono::seconds(seconds));
    if (size_ == 1 || seconds == 0) return;
    std::vector<RankProcess> processes(static_cast<std::size_t>(size_));
    const RankProcess own = this_rank_process();
    all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(processes)));
    together(*this, [&] { watch_.watch_siblings(processes, rank_); });
    if (no_threads == 0) {
      together(*this, [&] { beats_ = std::make_unique<Beats>(watch_, world_.get(), std::chrono::seconds(seconds)); });
      meet_others();
      beats_->begin();
    } else {
      watch_.limit_waits();
    }
  }

  ~MpiCommunicator() override {
    if (size_ == 1) return;
    barrier();  // the last moment at which a rank that is lost is noticed by all others
    watch_.leave_siblings();
    watch_.limited("the end of the heartbeats", watch_.silence(), [this] { beats_.reset(); });
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
      watched("MPI_Allgather", -1, [&] {
        return MPI_Allgather(total.data(), items, MPI_DOUBLE, receive.data(), items, MPI_DOUBLE, world_.get());
      });
      std::copy_n(receive.begin(), count, values.begin() + static_cast<std::ptrdiff_t>(offset));
    });
  }
  void sum(std::span<std::uint64_t> values) override { all_reduce(values, MPI_UINT64_T, MPI_SUM); }
  void max(std::span<std::int64_t> values) override { all_reduce(values, MPI_INT64_T, MPI_MAX); }

  void broadcast(std::span<std::byte> data, int root) override {
    split(data.size(), kMessageBytes, [&](std::size_t offset, int count) {
      watched("MPI_Bcast", root == rank_ ? -1 : root,
              [&] { return MPI_Bcast(data.data() + offset, count, MPI_BYTE, root, world_.get()); });
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
    remove_unfinished_files();
    constexpr std::chrono::seconds kPatience{2};
    watch_.limited(
        "MPI_Abort", kPatience, [&] { MPI_Abort(MPI_COMM_WORLD, exit_code); }, exit_code);
    ::_exit(exit_code);
  }

 private:
  static constexpr std::size_t kSumSlice = std::size_t{1} << 15;

  /// Connects to all ranks, or of very many to those that are talked to most. Open MPI connects at the first message,
  /// and where that fails, since a cable was pulled, it ends the process in its own way, with a launcher that stays.
  void meet_others() {
    constexpr int kAll = 64;
    for (int step = 1; step < 2 * size_; step += step < kAll ? 1 : step) {
      const int peer = rank_ ^ step;
      std::byte mine{}, theirs{};
      if (peer < size_) exchange(peer, {&mine, 1}, {&theirs, 1});
    }
  }

  /// A call that returns an MPI code and needs `peer` (-1: all ranks). After one that fails ranks cannot agree any
  /// more.
  template <typename Call>
  void watched(const char* name, int peer, Call&& call) {
    int code = MPI_SUCCESS;
    watch_.during(name, peer, [&] { code = call(); });
    if (code != MPI_SUCCESS) {
      abort(static_cast<int>(ExitCode::kCommunication), std::string(name) + " failed: " + error_text(code));
    }
  }

  template <typename T>
  void all_reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
    split(values.size(), kMessageBytes / sizeof(T), [&](std::size_t offset, int count) {
      watched("MPI_Allreduce", -1, [&] {
        return MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, count, type, operation, world_.get());
      });
    });
  }

  Watch watch_;
  MpiSession session_;
  PrivateWorld world_;
  int rank_ = 0, size_ = 1;
  std::unique_ptr<Beats> beats_;  // where there are other ranks and a limit
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator() {
  auto communicator = std::make_unique<MpiCommunicator>(launch_environment());
  try {
    communicator->start_watching();
  } catch (const Error&) {
    throw;  // on all ranks
  } catch (const std::exception&) {
    // On this rank alone: to unwind into the end of the communicator would hang, since no rank is watched yet.
    const Failure failure = current_failure();
    communicator->abort(static_cast<int>(failure.code), failure.message);
  }
  return communicator;
}

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "an unknown MPI";
  const std::string_view full(text.data(), std::strlen(text.data()));
  return std::string(full.substr(0, full.find_first_of(",\n")));
}

}  // namespace qsim
