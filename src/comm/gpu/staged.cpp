// Host-driven trades: the stream is drained, the communicator moves the bytes, the stream goes on.
#include "comm/gpu/staged.h"

#include <cuda_runtime_api.h>

#include <span>
#include <vector>

#include "comm/gpu/driver.h"
#include "comm/gpu/pinned_buffer.h"
#include "comm/gpu/strided_copy.h"
#include "qsim/error.h"

namespace qsim {
namespace {

class StagedTransport final : public Transport {
 public:
  StagedTransport(Backend& backend, Communicator& communicator, ShardShape shape)
      : backend_(backend), communicator_(communicator), shape_(shape), outgoing_(backend.slot(0).bytes, check_cuda) {
    for (int lane = 0; lane < backend.lanes(); ++lane) incoming_.emplace_back(backend.slot(0).bytes, check_cuda);
  }

  std::string_view name() const override { return "staged"; }
  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override { return slot_bytes; }

  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    (void)theirs;
    const cudaStream_t stream = lane_stream(backend_, lane);
    std::byte* const buffer = backend_.slot(slot).data;
    const std::size_t bytes = view_runs(shape_, mine).bytes();
    const std::span<std::byte> send = outgoing_.first(bytes);
    const std::span<std::byte> receive = incoming_[static_cast<std::size_t>(lane)].first(bytes);
    copy_view_to_buffer(shape_, mine, backend_.state().data, buffer, stream);
    check_cuda(cudaMemcpyAsync(send.data(), buffer, bytes, cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync to the host");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize before a staged trade");  // `receive` is free, too
    communicator_.exchange(peer, send, receive);
    check_cuda(cudaMemcpyAsync(buffer, receive.data(), bytes, cudaMemcpyHostToDevice, stream),
               "cudaMemcpyAsync from the host");
    copy_buffer_to_view(shape_, mine, buffer, backend_.state().data, stream);
  }

  void finish() override { backend_.synchronize(); }

 private:
  Backend& backend_;
  Communicator& communicator_;
  ShardShape shape_;
  PinnedBuffer outgoing_;               // one is enough: it is free again when exchange returns
  std::vector<PinnedBuffer> incoming_;  // one a lane: its upload may still be under way
};

class DeviceMpiTransport final : public Transport {
 public:
  DeviceMpiTransport(Backend& backend, Communicator& communicator, ShardShape shape)
      : backend_(backend), communicator_(communicator), shape_(shape) {}

  std::string_view name() const override { return "mpi"; }

  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    (void)theirs;
    const cudaStream_t stream = lane_stream(backend_, lane);
    const MemoryRegion buffer = backend_.slot(slot);
    const std::size_t bytes = view_runs(shape_, mine).bytes();
    const std::span<std::byte> receive(buffer.data, bytes);
    const std::span<std::byte> send(buffer.data + buffer.bytes / 2, bytes);
    copy_view_to_buffer(shape_, mine, backend_.state().data, send.data(), stream);
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize before an MPI trade");
    communicator_.exchange(peer, send, receive);
    copy_buffer_to_view(shape_, mine, receive.data(), backend_.state().data, stream);
  }

  void finish() override { backend_.synchronize(); }

 private:
  Backend& backend_;
  Communicator& communicator_;
  ShardShape shape_;
};

}  // namespace

std::unique_ptr<Transport> open_staged_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits,
                                                 Precision precision) {
  return std::make_unique<StagedTransport>(backend, communicator, ShardShape{local_bits, amplitude_bytes(precision)});
}

std::unique_ptr<Transport> open_device_mpi_transport(Backend& backend, Communicator& communicator,
                                                     std::uint32_t local_bits, Precision precision) {
  return std::make_unique<DeviceMpiTransport>(backend, communicator,
                                              ShardShape{local_bits, amplitude_bytes(precision)});
}

}  // namespace qsim
