// NCCL is loaded when the first transport opens, so that programs without it start as fast as ever. NVLink multicast
// stays off.
#include "comm/nccl/nccl_transport.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/file/shared_library.h"
#include "base/ranks/agreement.h"
#include "comm/gpu/driver.h"
#include "comm/gpu/strided_copy.h"
#include "comm/job_end.h"
#include "comm/nccl/time_limit.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::chrono::seconds kPatience{60};       // a lane's longest exchange takes a few seconds
constexpr std::chrono::seconds kStartPatience{15};  // eight GPUs of a host meet in two or three

/// For calls that wait for all ranks and give no sign of the others: ends the process when it lives longer than
/// kStartPatience.
class StartLimit : TimeLimit {
 public:
  explicit StartLimit(int rank)
      : TimeLimit(kStartPatience, [rank] {
          end_process("qsim: error: rank " + std::to_string(rank) + ": NCCL has waited for the other ranks for " +
                          std::to_string(kStartPatience.count()) +
                          " s; the job is ended (choose another way with `exchange`)",
                      static_cast<int>(ExitCode::kCommunication));
        }) {}
};

/// The functions of libnccl that are used; loaded() is false when the library is not there.
struct NcclLibrary {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) comm_init_rank = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;

  bool loaded() const { return receive != nullptr; }

  static NcclLibrary load() {
    NcclLibrary nccl;
    void* library = open_library({{"libnccl.so.2"}, {"nvidia/nccl/lib"}, {}});
    if (library == nullptr) return nccl;
    const auto find = [library](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    const bool complete =
        find("ncclGetVersion", nccl.get_version) && find("ncclGetUniqueId", nccl.get_unique_id) &&
        find("ncclCommInitRank", nccl.comm_init_rank) && find("ncclCommDestroy", nccl.comm_destroy) &&
        find("ncclCommAbort", nccl.comm_abort) && find("ncclCommGetAsyncError", nccl.comm_get_async_error) &&
        find("ncclGetErrorString", nccl.get_error_string) && find("ncclGroupStart", nccl.group_start) &&
        find("ncclGroupEnd", nccl.group_end) && find("ncclSend", nccl.send) && find("ncclRecv", nccl.receive);
    return complete ? nccl : NcclLibrary{};
  }
};

class NcclTransport final : public Transport {
 public:
  NcclTransport(Backend& backend, Communicator& communicator, ShardShape shape, const NcclLibrary& nccl)
      : backend_(backend), shape_(shape), nccl_(nccl), rank_(communicator.rank()) {
    ncclUniqueId id{};
    together(communicator, [&] {
      if (communicator.rank() == 0 && nccl_.get_unique_id(&id) != ncclSuccess)
        throw CommunicatorError("ncclGetUniqueId failed on rank 0", 0);
    });
    communicator.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    const ncclResult_t status = join(communicator, id);
    try {
      together(communicator, [&] {
        if (status == ncclSuccess) return;
        throw CommunicatorError(std::string("ncclCommInitRank: ") + nccl_.get_error_string(status),
                                communicator.rank());
      });
    } catch (const CommunicatorError&) {
      if (status == ncclSuccess) nccl_.comm_abort(comm_);
      throw;
    }
  }

  ~NcclTransport() override {
    if (finished_) {
      nccl_.comm_destroy(comm_);
    } else {
      nccl_.comm_abort(comm_);  // a trade is pending and its partner may be gone: waiting could last for ever
    }
  }
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;

  std::string_view name() const override { return "nccl"; }

  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    const Trade one{mine, theirs, peer, slot};
    trade_all({&one, 1}, lane);
  }

  void trade_all(std::span<const Trade> trades, int lane) override {
    finished_ = false;
    const cudaStream_t stream = lane_stream(backend_, lane);
    for (const Trade& one : trades) {
      if (!in_one_run(one)) copy_view_to_buffer(shape_, one.mine, backend_.state().data, packed(one), stream);
    }
    std::optional<StartLimit> limit;  // NCCL connects at the first trade with a rank
    for (const Trade& one : trades) {
      if (met_.insert(one.peer).second && !limit) limit.emplace(rank_);
    }
    Group group(*this);
    for (const Trade& one : trades) {
      const ViewRuns runs = view_runs(shape_, one.mine);
      const std::byte* const outgoing = in_one_run(one) ? backend_.state().data + runs.offsets.front() : packed(one);
      check(nccl_.send(outgoing, runs.bytes(), ncclInt8, one.peer, comm_, stream), "ncclSend");
      check(nccl_.receive(backend_.slot(one.slot).data, runs.bytes(), ncclInt8, one.peer, comm_, stream), "ncclRecv");
    }
    group.end();
    limit.reset();
    for (const Trade& one : trades) {
      copy_buffer_to_view(shape_, one.mine, backend_.slot(one.slot).data, backend_.state().data, stream);
    }
  }

  void finish() override {
    // Errors of NCCL's own threads never reach a stream: look at them while the lanes drain. A peer that has gone shows
    // in no error at all, so no progress is one.
    AskAgain again(kPatience);
    for (int lane = 0; lane < backend_.lanes(); ++lane) {
      const cudaStream_t stream = lane_stream(backend_, lane);
      for (;;) {
        const cudaError_t status = cudaStreamQuery(stream);
        if (status == cudaSuccess) break;
        if (status != cudaErrorNotReady) check_cuda(status, "cudaStreamQuery of an NCCL lane");
        ncclResult_t asynchronous = ncclSuccess;
        check(nccl_.comm_get_async_error(comm_, &asynchronous), "ncclCommGetAsyncError");
        check(asynchronous, "an NCCL transfer");
        if (!again.pause()) {
          throw CommunicatorError("NCCL: no chunk has arrived for " + std::to_string(kPatience.count()) +
                                      " s on lane " + std::to_string(lane),
                                  rank_, "choose another way with `exchange`");
        }
      }
      again.restart();
    }
    finished_ = true;
  }

 private:
  /// Calls that NCCL begins together. One that is left open by an error would keep the communicator from being aborted.
  class Group {
   public:
    explicit Group(NcclTransport& transport) : transport_(transport) {
      transport_.check(transport_.nccl_.group_start(), "ncclGroupStart");
    }
    ~Group() {
      if (open_) (void)transport_.nccl_.group_end();
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    void end() {
      open_ = false;
      transport_.check(transport_.nccl_.group_end(), "ncclGroupEnd");
    }

   private:
    NcclTransport& transport_;
    bool open_ = true;
  };

  ncclResult_t join(const Communicator& communicator, const ncclUniqueId& id) {
    const StartLimit limit(rank_);
    return nccl_.comm_init_rank(&comm_, communicator.size(), id, rank_);
  }
  bool in_one_run(const Trade& one) const {
    const ViewRuns runs = view_runs(shape_, one.mine);
    return runs.count == 1 && runs.offsets.size() == 1;
  }
  /// Where scattered outgoing amplitudes are collected: the second half of the trade's slot.
  std::byte* packed(const Trade& one) {
    const MemoryRegion buffer = backend_.slot(one.slot);
    return buffer.data + buffer.bytes / 2;
  }
  void check(ncclResult_t status, const char* call) {
    if (status != ncclSuccess && status != ncclInProgress) {
      throw CommunicatorError(std::string("NCCL: ") + call + ": " + nccl_.get_error_string(status));
    }
  }

  Backend& backend_;
  ShardShape shape_;
  NcclLibrary nccl_;
  int rank_;
  ncclComm_t comm_ = nullptr;
  bool finished_ = true;
  std::set<int> met_;  // ranks that it has traded with
};

}  // namespace

std::unique_ptr<Transport> open_nccl_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                               Precision precision) {
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  const NcclLibrary nccl = NcclLibrary::load();
  together(communicator, [&] {
    if (nccl.loaded()) return;
    throw CommunicatorError("libnccl.so.2 cannot be loaded on rank " + std::to_string(communicator.rank()),
                            communicator.rank());
  });
  return std::make_unique<NcclTransport>(backend, communicator, ShardShape{local_bits, amplitude_bytes(precision)},
                                         nccl);
}

std::string nccl_version() {
  const NcclLibrary nccl = NcclLibrary::load();
  int version = 0;
  if (!nccl.loaded() || nccl.get_version(&version) != ncclSuccess) return {};
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100) + " (" + file_of(reinterpret_cast<const void*>(nccl.get_version)) + ")";
}

}  // namespace qsim
