// Trades through host memory: pack into the ring slot, swap pieces with the peer, unpack. For CPU backends.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "qsim/backend.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Bytes of one piece: what arrives is copied on while it is still in the cache.
constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;

class HostTransport final : public Transport {
 public:
  HostTransport(Backend& backend, Communicator& communicator) : backend_(backend), communicator_(communicator) {
    const MemoryRegion state = backend.state();
    if (state.on_device) {
      throw CommunicatorError("the host transport cannot move the state of a device (" + backend.info().device + ")",
                              communicator.rank());
    }
  }

  std::string_view name() const override { return "host"; }

  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override {
    return slot_bytes - std::min(slot_bytes / 2, kPieceBytes);
  }

  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    if (mine.mask != theirs.mask) throw Error("a trade of views that cut the shard differently");
    const MemoryRegion region = backend_.slot(slot);
    const std::uint64_t bytes = backend_.state().bytes >> std::popcount(mine.mask);
    if (bytes > max_trade_bytes(region.bytes)) {
      throw Error("a trade of " + std::to_string(bytes) + " bytes through a slot of " + std::to_string(region.bytes));
    }
    backend_.pack(mine, slot, lane);
    const std::uint64_t piece_bytes = std::min(kPieceBytes, region.bytes - bytes);
    const std::span<std::byte> arrival(region.data + bytes, piece_bytes);
    for (std::uint64_t offset = 0; offset < bytes; offset += piece_bytes) {
      const std::uint64_t count = std::min(piece_bytes, bytes - offset);
      const std::span<std::byte> piece(region.data + offset, count);
      communicator_.exchange(peer, piece, arrival.first(count));
      std::memcpy(piece.data(), arrival.data(), count);
    }
    backend_.unpack(mine, slot, lane);
  }

  void finish() override {}

 private:
  Backend& backend_;
  Communicator& communicator_;
};

}  // namespace

std::unique_ptr<Transport> make_host_transport(Backend& backend, Communicator& communicator) {
  return std::make_unique<HostTransport>(backend, communicator);
}

}  // namespace qsim
