// How ranks talk: control messages, and host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace qsim {

/// One rank's end of a group of ranks. All calls but rank, size and abort are collective or paired: every rank makes
/// them in the same order. Counts may pass 2^31; implementations split.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::string_view name() const = 0;  // "self", "threads", "mpi"
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends `send` to `peer` and receives `receive` from it (equal sizes on both sides, no overlap).
  virtual void exchange(int peer, std::span<const std::byte> send, std::span<std::byte> receive) = 0;
  /// Element-wise sums / maxima over ranks, in place, the same bits on every rank whatever the arrival order.
  virtual void sum(std::span<double> values) = 0;
  virtual void sum(std::span<std::uint64_t> values) = 0;
  virtual void max(std::span<std::int64_t> values) = 0;
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// `receive` is size() times `send`, in rank order, on every rank.
  virtual void all_gather(std::span<const std::byte> send, std::span<std::byte> receive) = 0;
  virtual void barrier() = 0;
  /// Ends every rank's process (or releases every thread rank with CommunicatorError); does not return.
  [[noreturn]] virtual void abort(int exit_code, const std::string& message) = 0;
};

/// The group of one.
std::unique_ptr<Communicator> make_self_communicator();

/// More threads than that gain nothing on any host, and each waits for all others several times in a run.
constexpr int kMostThreadRanks = 256;

/// Runs body(communicator) on `ranks` threads of this process, at most kMostThreadRanks (UsageError). The first
/// exception (lowest rank) is rethrown here after every thread has ended; ranks that wait for a failed one are released
/// with CommunicatorError.
void run_thread_ranks(int ranks, const std::function<void(Communicator&)>& body);

/// MPI_COMM_WORLD; initialises MPI unless that has been done, and then finalizes it in the destructor, which is
/// collective as well. A thread of its own sends heartbeats over MPI: a program that calls MPI itself initialises it
/// first, with MPI_THREAD_MULTIPLE. A rank that is not heard from any more ends the process (docs/mpi.md). Null when
/// the library was built without MPI. Throws CommunicatorError with the remedy when the launcher started several
/// processes but MPI says one.
std::unique_ptr<Communicator> make_mpi_communicator();
/// The rank that a launcher's environment gives this process, for when MPI cannot be asked; 0 without one.
int launched_rank();

}  // namespace qsim
