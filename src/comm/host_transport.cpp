// Trades through host memory: pack into the ring slot, swap with the peer, unpack, in pieces that stay in the cache
// from the first step to the last. For CPU backends.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/bits.h"
#include "device/backend.h"
#include "device/transport.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Largest trade: it passes through a core's second-level cache twice, once on its way out and once on its way in.
constexpr std::uint64_t kTradeBytes = std::uint64_t{256} << 10;

class HostTransport final : public Transport {
 public:
  HostTransport(Backend& backend, Communicator& communicator, std::uint32_t local_bits)
      : backend_(backend), communicator_(communicator), local_bits_(local_bits) {
    const MemoryRegion state = backend.state();
    if (state.on_device) {
      throw CommunicatorError("the host transport cannot move the state of a device (" + backend.info().device + ")",
                              communicator.rank());
    }
  }

  std::string_view name() const override { return "host"; }

  std::uint64_t max_trade_bytes(std::uint64_t slot_bytes) const override {
    return std::min(slot_bytes / 2, kTradeBytes);
  }

  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    if (mine.mask != theirs.mask) throw Error("a trade of views that cut the shard differently");
    const MemoryRegion region = backend_.slot(slot);
    const std::uint64_t bytes = backend_.state().bytes >> std::popcount(mine.mask);
    if (bytes > max_trade_bytes(region.bytes)) {
      throw Error("a trade of " + std::to_string(bytes) + " bytes through a slot of " + std::to_string(region.bytes));
    }
    const Index free = low_mask(local_bits_) & ~mine.mask;
    if ((free & (free + 1)) == 0) {  // in one piece: it travels from where it lies
      const MemoryRegion state = backend_.state();
      const std::span<std::byte> data(state.data + mine.value * (state.bytes >> local_bits_), bytes);
      const std::span<std::byte> arrival(region.data, bytes);
      communicator_.exchange(peer, data, arrival);
      std::memcpy(data.data(), arrival.data(), bytes);
      return;
    }
    backend_.pack(mine, slot, lane);
    const std::span<std::byte> data(region.data, bytes), arrival(region.data + bytes, bytes);
    communicator_.exchange(peer, data, arrival);
    std::memcpy(data.data(), arrival.data(), bytes);
    backend_.unpack(mine, slot, lane);
  }

  void finish() override {}

 private:
  Backend& backend_;
  Communicator& communicator_;
  const std::uint32_t local_bits_;
};

}  // namespace

void Transport::trade_to_slots(std::span<const Trade>, int) {
  throw Error(std::string(name()) + " puts in place what arrives");
}

std::unique_ptr<Transport> make_host_transport(Backend& backend, Communicator& communicator, std::uint32_t local_bits) {
  return std::make_unique<HostTransport>(backend, communicator, local_bits);
}

}  // namespace qsim
