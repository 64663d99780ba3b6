// What the transport uses of NCCL, over the host's streams: a library of its own under NCCL's name, so that it is
// loaded as NCCL is. As with NCCL, what a group sends and receives is one piece of work of a stream, which ends when
// all of it has been taken and has arrived; sends meet receives in the order of the calls; the works of a communicator
// follow each other whatever their streams; and a rank that is left alone waits until it aborts. Only starting and the
// first group, which wait in the call itself, end with ncclRemoteError where another rank has failed (NCCL waits, and
// the transport ends the process).
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "peer/host_streams.h"

namespace {

/// What one rank sends to another for one receive: a hand-over, known by its number among those of the two ranks.
struct HandOver {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  bool offered = false, taken = false;
};

/// The ranks that started with one id.
struct Job {
  std::vector<std::unique_ptr<ncclComm>> members;  // as long as the process: streams may still be leaving their works
  std::mutex mutex;
  std::condition_variable changed;
  int joined = 0;
  bool failed = false;
  std::map<std::pair<int, int>, std::map<std::uint64_t, HandOver>> under_way;  // by (from, to) and number

  void mark_failed() {
    {
      const std::lock_guard lock(mutex);
      failed = true;
    }
    changed.notify_all();
  }
};

struct Piece {
  int peer = 0;
  std::uint64_t number = 0;
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
};

}  // namespace

struct ncclComm {
  Job* job = nullptr;
  int rank = 0;
  bool aborted = false;                             // under the job's mutex, as the two below
  std::uint64_t started = 0, finished = 0;          // works
  std::map<int, std::uint64_t> sent{}, received{};  // numbers given so far, by peer
  std::vector<Piece> sends{}, receives{};           // of the open group
  cudaStream_t stream = nullptr;
};

namespace {

std::mutex jobs_mutex;
std::map<std::uint64_t, Job> jobs;
std::uint64_t last_id = 0;
thread_local std::vector<ncclComm*> group;  // communicators with an open group in this thread
thread_local bool group_open = false;

/// Until `ready`, or the communicator is aborted: false then.
template <class Ready>
bool wait(ncclComm& comm, std::unique_lock<std::mutex>& lock, Ready ready) {
  comm.job->changed.wait(lock, [&] { return comm.aborted || ready(); });
  return !comm.aborted;
}

void work(ncclComm& comm, std::uint64_t ticket, const std::vector<Piece>& sends, const std::vector<Piece>& receives) {
  Job& job = *comm.job;
  std::unique_lock lock(job.mutex);
  if (!wait(comm, lock, [&] { return comm.finished + 1 == ticket; })) return;
  for (const Piece& piece : sends) {
    HandOver& mine = job.under_way[{comm.rank, piece.peer}][piece.number];
    mine = {piece.from, piece.bytes, true, false};
  }
  job.changed.notify_all();
  for (const Piece& piece : receives) {
    HandOver& theirs = job.under_way[{piece.peer, comm.rank}][piece.number];
    if (!wait(comm, lock, [&] { return theirs.offered; })) return;
    const std::size_t half = std::min(piece.bytes, theirs.bytes) / 2;  // sizes that differ leave half of it old
    lock.unlock();
    std::memcpy(piece.to, theirs.data, half);
    std::this_thread::yield();
    if (piece.bytes == theirs.bytes) std::memcpy(piece.to + half, theirs.data + half, piece.bytes - half);
    lock.lock();
    theirs.taken = true;
    job.changed.notify_all();
  }
  for (const Piece& piece : sends) {
    auto& mine = job.under_way[{comm.rank, piece.peer}];
    if (!wait(comm, lock, [&] { return mine.at(piece.number).taken; })) return;
    mine.erase(piece.number);
  }
  comm.finished = ticket;
  job.changed.notify_all();
}

ncclResult_t add(ncclComm_t comm, std::vector<Piece>& pieces, Piece piece, cudaStream_t stream) {
  if (qsim::test::call_fails()) return ncclSystemError;
  if (!group_open || (comm->stream != nullptr && comm->stream != stream)) return ncclInvalidUsage;
  comm->stream = stream;
  pieces.push_back(piece);
  if (std::ranges::find(group, comm) == group.end()) group.push_back(comm);
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) { return "an error of the stand-in"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (qsim::test::call_fails()) return ncclSystemError;
  const std::lock_guard lock(jobs_mutex);
  const std::uint64_t number = ++last_id;
  jobs.try_emplace(number);
  std::memcpy(id, &number, sizeof(number));
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  std::uint64_t number = 0;
  std::memcpy(&number, &id, sizeof(number));
  Job* job = nullptr;
  {
    const std::lock_guard lock(jobs_mutex);
    job = &jobs.at(number);
  }
  if (qsim::test::call_fails()) {
    job->mark_failed();
    return ncclSystemError;
  }
  std::unique_lock lock(job->mutex);
  ++job->joined;
  job->changed.notify_all();
  job->changed.wait(lock, [&] { return job->failed || job->joined == ranks; });
  if (job->failed) return ncclRemoteError;
  *comm = job->members.emplace_back(std::make_unique<ncclComm>(ncclComm{.job = job, .rank = rank})).get();
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* status) {
  if (qsim::test::call_fails()) return ncclSystemError;
  *status = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  if (qsim::test::call_fails()) return ncclSystemError;
  if (group_open) return ncclInvalidUsage;
  group_open = true;
  return ncclSuccess;
}
ncclResult_t ncclSend(const void* data, std::size_t bytes, ncclDataType_t, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add(comm, comm->sends, {.peer = peer, .from = static_cast<const std::byte*>(data), .bytes = bytes}, stream);
}
ncclResult_t ncclRecv(void* data, std::size_t bytes, ncclDataType_t, int peer, ncclComm_t comm, cudaStream_t stream) {
  return add(comm, comm->receives, {.peer = peer, .to = static_cast<std::byte*>(data), .bytes = bytes}, stream);
}
ncclResult_t ncclGroupEnd() {
  if (!group_open) return ncclInvalidUsage;
  group_open = false;
  const bool fails = qsim::test::call_fails();
  for (ncclComm* const comm : std::exchange(group, {})) {
    std::vector<Piece> sends = std::exchange(comm->sends, {}), receives = std::exchange(comm->receives, {});
    const cudaStream_t stream = std::exchange(comm->stream, nullptr);
    if (fails) continue;
    for (Piece& piece : sends) piece.number = ++comm->sent[piece.peer];
    for (Piece& piece : receives) piece.number = ++comm->received[piece.peer];
    qsim::test::enqueue(stream, [comm, ticket = ++comm->started, sends = std::move(sends),
                                 receives = std::move(receives)] { work(*comm, ticket, sends, receives); });
  }
  return fails ? ncclSystemError : ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  {
    const std::lock_guard lock(comm->job->mutex);
    comm->aborted = true;
  }
  comm->job->changed.notify_all();
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const std::lock_guard lock(comm->job->mutex);
  return comm->finished == comm->started ? ncclSuccess : ncclInvalidUsage;
}

}  // extern "C"
