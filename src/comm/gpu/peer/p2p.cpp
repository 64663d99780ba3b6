// A chunk in long runs is pulled into slots of the ring and put in place by copy engines, which leave the
// multiprocessors to the sweeps; a scattered one is swapped in place by kernels, half of it by each of the two ranks.
// Each side of a trade records events on its stream and tells the other's host, which then lets its own stream wait for
// them. A chunk that goes to several peers, nearest first:
//
//   for each: record READY | tell and be told | wait its READY, pull theirs -> slot (or swap half), record DONE
//   for each: tell and be told | wait its DONE, slot -> mine
//
// All ranks go through their peers in the same order, by distance, so that pairs pull from each other. Where there are
// several peers, pulls have streams of their own, two for all lanes, chunk after chunk in turn. READY is recorded
// there, after the pull before: a pair begins together, and nobody pulls from a rank that another one still pulls from.
// Left to the lanes, ranks got out of step and stayed so: exchanges between four took 9 ms or 15.
//
// Where the next sweep loads from the slots itself, the last step is only the wait: that sweep stores where they read.
//
// A stream only ever waits for an event that has been recorded, and both sides run the same sequence of trades in the
// same order, so the earliest unfinished trade never waits for a later one, whatever queues streams share on the
// device.
#include "comm/gpu/peer/p2p.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/bits.h"
#include "comm/gpu/driver.h"
#include "comm/gpu/peer/peer_events.h"
#include "comm/gpu/peer/peer_memory.h"
#include "comm/gpu/strided_copy.h"
#include "device/views.h"
#include "kernels/cuda/state.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr std::chrono::seconds kPatience{20};  // a lane's longest exchange takes a few seconds

/// An event of this device that nobody times.
class PlainEvent {
 public:
  PlainEvent() { check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
  ~PlainEvent() { cudaEventDestroy(event_); }
  PlainEvent(const PlainEvent&) = delete;
  PlainEvent& operator=(const PlainEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Keeps the number of trades that a lane has not finished small. A full queue would block the host inside the driver,
/// with this device locked; another rank's thread that must enqueue its side of a trade could then never do it. Asking
/// does not lock.
class LanePace {
 public:
  /// Call after `trades` trades; waits until all but the last two batches are done. `give_up` may throw.
  template <class GiveUp>
  void pace(std::size_t trades, cudaStream_t stream, GiveUp give_up) {
    since_ += trades;
    if (since_ < kBatch) return;
    since_ = 0;
    check_cuda(cudaEventRecord(events_[next_].get(), stream), "cudaEventRecord after a batch of trades");
    next_ = 1 - next_;  // now the one before; an event that was never recorded is done
    AskAgain again(kPatience);
    for (;;) {
      const cudaError_t status = cudaEventQuery(events_[next_].get());
      if (status == cudaSuccess) return;
      if (status != cudaErrorNotReady) check_cuda(status, "cudaEventQuery of a batch of trades");
      if (!again.pause()) give_up();
    }
  }

 private:
  static constexpr std::size_t kBatch = 4;
  std::array<PlainEvent, 2> events_;
  std::size_t next_ = 0, since_ = 0;
};

class P2pTransport final : public Transport {
 public:
  P2pTransport(Backend& backend, Communicator& communicator, std::uint32_t local_bits, Precision precision)
      : backend_(backend),
        rank_(static_cast<std::size_t>(communicator.rank())),
        lanes_(static_cast<std::size_t>(backend.lanes())),
        shape_{local_bits, amplitude_bytes(precision)},
        communicator_(communicator),
        states_(communicator, backend.state()),
        events_(communicator, lanes_),
        paces_(lanes_),
        swept_(lanes_),
        pulled_(lanes_),
        traded_(static_cast<std::size_t>(communicator.size()), false) {
    warm_up();
  }

  std::string_view name() const override { return "p2p"; }
  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override { return slot_bytes; }

  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    const Trade one{mine, theirs, peer, slot};
    trade_all({&one, 1}, lane);
  }

  void trade_all(std::span<const Trade> trades, int lane_number) override { trade_pieces(trades, lane_number, true); }
  bool leaves_in_slots() const override { return true; }
  void trade_to_slots(std::span<const Trade> trades, int lane_number) override {
    trade_pieces(trades, lane_number, false);
  }

  /// Waits for every lane; a peer that has gone would leave them waiting for ever, so no progress is an error.
  void finish() override {
    AskAgain again(kPatience);
    for (std::size_t lane = 0; lane < lanes_;) {
      const cudaError_t status = cudaStreamQuery(lane_stream(backend_, static_cast<int>(lane)));
      if (status == cudaSuccess) {
        again.restart();
        ++lane;
        continue;
      }
      if (status != cudaErrorNotReady) check_cuda(status, "cudaStreamQuery of a lane that trades");
      if (!again.pause()) give_up(lane);
    }
    // This rank's events may go only when its partners have named them for the last time.
    for (std::size_t step = 1; step < traded_.size(); ++step) {
      const std::size_t peer = rank_ ^ step;
      if (!traded_[peer]) continue;
      traded_[peer] = false;
      meet(static_cast<int>(peer));
    }
  }

 private:
  /// Only views that copy engines suit may stay in their slots.
  void trade_pieces(std::span<const Trade> trades, int lane_number, bool in_place) {
    const auto lane = static_cast<std::size_t>(lane_number);
    const cudaStream_t stream = lane_stream(backend_, lane_number);
    // All views have the same shape, so all ranks go the same way.
    const bool by_engines = suits_copy_engine(view_runs(shape_, trades.front().mine));
    const cudaStream_t pulls = by_engines && trades.size() > 1 ? next_pull_stream() : stream;
    wait_for_stream(pulls, stream, swept_[lane]);
    for (const Trade& one : trades) {
      const auto peer = static_cast<std::size_t>(one.peer);
      check_cuda(cudaEventRecord(events_.own_ready(peer, lane), pulls), "cudaEventRecord of a chunk that is ready");
      meet(one.peer);
      check_cuda(cudaStreamWaitEvent(pulls, events_.ready_of(peer, lane)), "cudaStreamWaitEvent for a peer's chunk");
      if (by_engines) {
        copy_view_to_buffer(shape_, one.theirs, states_.region(one.peer), backend_.slot(one.slot).data, pulls);
      } else {
        swap_half(one.mine, one.theirs, one.peer, pulls);
      }
      check_cuda(cudaEventRecord(events_.own_done(peer, lane), pulls), "cudaEventRecord of a trade's part");
    }
    wait_for_stream(stream, pulls, pulled_[lane]);
    for (const Trade& one : trades) meet(one.peer);
    for (const Trade& one : trades) {
      const auto peer = static_cast<std::size_t>(one.peer);
      check_cuda(cudaStreamWaitEvent(stream, events_.done_of(peer, lane)), "cudaStreamWaitEvent for a peer's part");
      if (by_engines && in_place) {
        copy_buffer_to_view(shape_, one.mine, backend_.slot(one.slot).data, backend_.state().data, stream);
      }
      traded_[peer] = true;
    }
    paces_[lane].pace(trades.size(), stream, [&] { give_up(lane); });
  }

  /// Lanes 6 and 7 in turn: no exchange runs its chunks on them, and the first eight share no queues. The last ones
  /// where there are fewer.
  cudaStream_t next_pull_stream() {
    const int last = std::min(static_cast<int>(lanes_), 8) - 1;
    return lane_stream(backend_, std::max(0, last - static_cast<int>(turn_++ % 2)));
  }

  /// What `stream` is given next waits for what `other` has been given so far.
  static void wait_for_stream(cudaStream_t stream, cudaStream_t other, const PlainEvent& event) {
    if (stream == other) return;
    check_cuda(cudaEventRecord(event.get(), other), "cudaEventRecord between a lane and its pulls");
    check_cuda(cudaStreamWaitEvent(stream, event.get()), "cudaStreamWaitEvent between a lane and its pulls");
  }

  /// The kernel's first launch loads it; that must not happen while peers wait for each other.
  void warm_up() {
    const cudaStream_t stream = lane_stream(backend_, 0);
    std::byte* const state = backend_.state().data;
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{16}}) {
      check_cuda(cuda::launch_swap(state, state, bytes, {}, 0, 0, 1, stream), "first launch of an exchange");
    }
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize after warming up");
  }

  /// Of two ranks the lower one exchanges the first half of the views' amplitudes, the other one the rest.
  void swap_half(ChunkView mine, ChunkView theirs, int peer, cudaStream_t stream) {
    const bool paired = shape_.amplitude_bytes == 8 && (mine.mask & 1) == 0 && shape_.local_bits > 0;
    const unsigned drop = paired ? 1 : 0;  // two neighbours move as one
    const cuda::ViewMap map = cuda::view_map(shape_.local_bits - drop, mine.mask >> drop, mine.value >> drop);
    const std::uint64_t count = std::uint64_t{1} << (shape_.local_bits - count_bits(mine.mask) - drop);
    const bool first = static_cast<int>(rank_) < peer;
    check_cuda(cuda::launch_swap(backend_.state().data, states_.region(peer), shape_.amplitude_bytes << drop, map,
                                 theirs.value >> drop, first ? 0 : count / 2, first ? count / 2 : count, stream),
               "launch of an exchange with a peer");
  }

  [[noreturn]] void give_up(std::size_t lane) const {
    throw CommunicatorError("rank " + std::to_string(rank_) + " waited " + std::to_string(kPatience.count()) +
                                " s for its peers' chunks on lane " + std::to_string(lane),
                            static_cast<int>(rank_), "choose another way with `exchange`");
  }

  /// Returns when the peer's host has come here too.
  void meet(int peer) {
    const std::byte here{};
    std::byte there{};
    communicator_.exchange(peer, {&here, 1}, {&there, 1});
  }

  Backend& backend_;
  std::size_t rank_, lanes_;
  ShardShape shape_;
  Communicator& communicator_;
  PeerMemory states_;
  PeerEvents events_;
  std::vector<LanePace> paces_;             // by lane
  std::vector<PlainEvent> swept_, pulled_;  // by lane: a chunk may be pulled from; it has come
  unsigned turn_ = 0;                       // of the streams that pull
  std::vector<bool> traded_;                // with whom since the last finish()
};

}  // namespace

std::unique_ptr<Transport> open_p2p_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                              Precision precision) {
  return std::make_unique<P2pTransport>(backend, communicator, local_bits, precision);
}

}  // namespace qsim
