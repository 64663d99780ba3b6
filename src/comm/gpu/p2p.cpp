// A trade needs no host: flags in device memory, written and awaited by the streams themselves, order the two sides.
//
// trade on one side:  flag READY -> peer | wait peer's READY | pull theirs -> slot | flag READ -> peer | wait peer's
// READ | slot -> mine Both sides run the same sequence of trades in the same order on the same lanes, so whatever
// queues streams share on the device, the earliest unfinished trade never waits for a later one.
#include "comm/gpu/p2p.h"

#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "comm/gpu/driver.h"
#include "comm/gpu/peer_memory.h"
#include "comm/gpu/strided_copy.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::chrono::seconds kPatience{20};  // a lane's longest exchange takes a few seconds

enum Signal : std::size_t { kReady, kRead, kSignalCount };

/// Device words that peers write: one for each (signal, sender, lane), counting trades.
class FlagBoard {
 public:
  explicit FlagBoard(std::size_t words) : bytes_(words * sizeof(std::uint32_t)) {
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, bytes_), "cudaMalloc of the transport's flags");
    data_ = static_cast<std::uint32_t*>(memory);
    check_cuda(cudaMemset(data_, 0, bytes_), "cudaMemset");
    check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  ~FlagBoard() { cudaFree(data_); }
  FlagBoard(const FlagBoard&) = delete;
  FlagBoard& operator=(const FlagBoard&) = delete;
  MemoryRegion region() { return {reinterpret_cast<std::byte*>(data_), bytes_, true}; }

 private:
  std::uint32_t* data_ = nullptr;
  std::size_t bytes_;
};

/// Keeps the number of trades that a lane has not finished small. A full queue would block the host inside the driver,
/// with this device locked; another rank's thread that must enqueue its side of a trade could then never do it. Asking
/// does not lock.
class LanePace {
 public:
  LanePace() {
    for (cudaEvent_t& event : events_) {
      check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
  }
  LanePace(const LanePace&) = delete;
  LanePace& operator=(const LanePace&) = delete;
  ~LanePace() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  /// Call after each trade; waits until all but the last two batches are done. `give_up` may throw.
  template <class GiveUp>
  void pace(cudaStream_t stream, GiveUp give_up) {
    if (++since_ < kBatch) return;
    since_ = 0;
    check_cuda(cudaEventRecord(events_[next_], stream), "cudaEventRecord after a batch of trades");
    next_ = 1 - next_;  // now the one before; an event that was never recorded is done
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      const cudaError_t status = cudaEventQuery(events_[next_]);
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check_cuda(status, "cudaEventQuery of a batch of trades");
      if (std::chrono::steady_clock::now() - start > kPatience) give_up();
      std::this_thread::yield();
    }
  }

 private:
  static constexpr int kBatch = 4;
  std::array<cudaEvent_t, 2> events_{};
  std::size_t next_ = 0;
  int since_ = 0;
};

class P2pTransport final : public Transport {
 public:
  P2pTransport(Backend& backend, Communicator& communicator, std::uint32_t local_bits, Precision precision)
      : backend_(backend),
        rank_(static_cast<std::size_t>(communicator.rank())),
        ranks_(static_cast<std::size_t>(communicator.size())),
        lanes_(static_cast<std::size_t>(backend.lanes())),
        shape_{local_bits, amplitude_bytes(precision)},
        driver_(StreamMemoryDriver::resolve()),
        board_(kSignalCount * ranks_ * lanes_),
        states_(communicator, backend.state()),
        boards_(communicator, board_.region()),
        counts_(ranks_ * lanes_, 0),
        paces_(lanes_) {
    warm_up_copies(shape_, backend.state().data, backend.slot(0).data,
                   static_cast<cudaStream_t>(backend.native_lane(0)));
  }

  ~P2pTransport() override {
    // A rank that leaves early releases every stream that waits for it: flags far ahead satisfy all waits.
    for (std::size_t peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_ || finished_) continue;
      for (std::size_t lane = 0; lane < lanes_; ++lane) {
        for (Signal signal : {kReady, kRead}) {
          const std::uint32_t far_ahead = counts_[peer * lanes_ + lane] + 0x3fffffffu;
          cudaMemcpy(flag(peer, signal, rank_, lane), &far_ahead, sizeof far_ahead, cudaMemcpyHostToDevice);
        }
      }
    }
  }

  std::string_view name() const override { return "p2p"; }
  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override { return slot_bytes; }

  void trade(ChunkView mine, ChunkView theirs, int peer_rank, std::uint32_t slot, int lane_number) override {
    const auto peer = static_cast<std::size_t>(peer_rank);
    const auto lane = static_cast<std::size_t>(lane_number);
    const auto stream = static_cast<cudaStream_t>(backend_.native_lane(lane_number));
    const std::uint32_t count = ++counts_[peer * lanes_ + lane];
    finished_ = false;
    std::byte* buffer = backend_.slot(slot).data;
    driver_.write(stream, flag(peer, kReady, rank_, lane), count);
    driver_.wait(stream, flag(rank_, kReady, peer, lane), count);
    copy_view_to_buffer(shape_, theirs, states_.region(peer_rank), buffer, stream);
    driver_.write(stream, flag(peer, kRead, rank_, lane), count);
    driver_.wait(stream, flag(rank_, kRead, peer, lane), count);
    copy_buffer_to_view(shape_, mine, buffer, backend_.state().data, stream);
    paces_[lane].pace(stream, [&] { give_up(lane); });
  }

  /// Waits for every lane; a peer that has gone would leave them waiting for ever, so no progress is an error.
  void finish() override {
    auto last_progress = std::chrono::steady_clock::now();
    for (std::size_t lane = 0; lane < lanes_;) {
      const cudaError_t status =
          cudaStreamQuery(static_cast<cudaStream_t>(backend_.native_lane(static_cast<int>(lane))));
      if (status == cudaSuccess) {
        last_progress = std::chrono::steady_clock::now();
        ++lane;
        continue;
      }
      if (status != cudaErrorNotReady) check_cuda(status, "cudaStreamQuery of a lane that trades");
      if (std::chrono::steady_clock::now() - last_progress > kPatience) give_up(lane);
      std::this_thread::yield();
    }
    finished_ = true;
  }

 private:
  [[noreturn]] void give_up(std::size_t lane) const {
    throw CommunicatorError("rank " + std::to_string(rank_) + " waited " + std::to_string(kPatience.count()) +
                                " s for its peers' chunks on lane " + std::to_string(lane),
                            static_cast<int>(rank_), "choose another way with --exchange");
  }

  /// The word on `owner`'s board that `sender` writes for `lane`.
  std::uint32_t* flag(std::size_t owner, Signal signal, std::size_t sender, std::size_t lane) {
    auto* board = reinterpret_cast<std::uint32_t*>(boards_.region(static_cast<int>(owner)));
    return board + (static_cast<std::size_t>(signal) * ranks_ + sender) * lanes_ + lane;
  }

  Backend& backend_;
  std::size_t rank_, ranks_, lanes_;
  ShardShape shape_;
  StreamMemoryDriver driver_;
  FlagBoard board_;
  PeerMemory states_;
  PeerMemory boards_;
  std::vector<std::uint32_t> counts_;  // trades begun with [peer][lane]
  std::vector<LanePace> paces_;        // by lane
  bool finished_ = true;
};

}  // namespace

std::unique_ptr<Transport> open_p2p_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                              Precision precision) {
  return std::make_unique<P2pTransport>(backend, communicator, local_bits, precision);
}

}  // namespace qsim
