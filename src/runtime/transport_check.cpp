// The tile that the self-test trades is written by a sweep over one chunk, so it costs the same for any state size.
#include "runtime/transport_check.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/hash.h"
#include "qsim/error.h"
#include "runtime/agreement.h"

namespace qsim {
namespace {

constexpr std::uint32_t kTestBits = 10;

/// Writes a product state with a different amplitude at every place, scaled differently on every rank.
Sweep pattern_sweep(std::uint32_t local_bits, std::uint32_t tile_bits, int rank) {
  Sweep sweep;
  sweep.reads = false;
  sweep.unborn = low_mask(local_bits);
  for (std::uint32_t bit = 0; bit < local_bits; ++bit) {
    const double turn = 0.3 + 0.7 * bit;
    if (bit < tile_bits) sweep.active.push_back(static_cast<Bit>(bit));
    sweep.births.push_back({static_cast<Bit>(bit), {Complex(0.9), std::polar(1.0, turn)}});
  }
  sweep.store = sweep.active;
  sweep.start_scale = Complex(1.0 + rank, 0.25 * rank);
  return sweep;
}

std::vector<Complex> read_tile(DistributedState& state, std::uint32_t tile_bits) {
  std::vector<Index> indices(std::size_t{1} << tile_bits);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  std::vector<Complex> values(indices.size());
  state.backend.read_amplitudes(indices, values);
  return values;
}

}  // namespace

void self_test(DistributedState& state, Transport& transport, const PoolLayout& pool) {
  std::uint32_t tile_bits = std::min(state.local_bits(), kTestBits);
  while (tile_bits > 0 &&
         (amplitude_bytes(state.precision) << tile_bits) > transport.max_trade_bytes(pool.chunk_bytes)) {
    --tile_bits;
  }
  const ChunkView tile{low_mask(state.local_bits()) & ~low_mask(tile_bits), 0};
  const int rank = state.communicator.rank();
  const Sweep pattern = pattern_sweep(state.local_bits(), tile_bits, rank);
  const std::uint32_t handle = state.backend.prepare({&pattern, 1});
  int bad_peer = -1;
  for (int step = 1; step < state.communicator.size(); ++step) {
    const int peer = rank ^ step;
    state.backend.sweep(handle, tile, 0, false);
    const std::vector<Complex> sent = read_tile(state, tile_bits);
    std::vector<Complex> wanted(sent.size());
    state.communicator.exchange(peer, std::as_bytes(std::span(sent)), std::as_writable_bytes(std::span(wanted)));
    transport.trade(tile, tile, peer, static_cast<std::uint32_t>(step) % pool.chunk_slots, 0);
    transport.finish();
    state.backend.synchronize();
    const std::vector<Complex> received = read_tile(state, tile_bits);
    if (std::memcmp(received.data(), wanted.data(), wanted.size() * sizeof(Complex)) != 0) bad_peer = peer;
  }
  state.backend.clear_sweeps();
  together(state.communicator, [&] {
    if (bad_peer < 0) return;
    throw CommunicatorError("the " + std::string(transport.name()) + " transport delivered other data to rank " +
                                std::to_string(rank) + " than rank " + std::to_string(bad_peer) + " sent",
                            rank, "choose another way with --exchange");
  });
}

CheckedTransport::CheckedTransport(Transport& inner, Backend& backend, Communicator& communicator)
    : inner_(inner), backend_(backend), communicator_(communicator) {}

std::uint64_t CheckedTransport::checksum(ChunkView view, std::uint32_t slot, int lane) {
  backend_.synchronize();
  const MemoryRegion region = backend_.slot(slot);
  if (!region.on_device) {
    backend_.pack(view, slot, lane);
    const std::uint64_t bytes = backend_.state().bytes >> count_bits(view.mask);
    return xxh3({reinterpret_cast<const char*>(region.data), bytes});
  }
  // Device memory is not the host's to read: the integer sum of probabilities is exact and costs one read.
  std::uint64_t units = 0;
  backend_.unit_histogram(view, {}, {&units, 1});
  return units;
}

void CheckedTransport::trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) {
  backend_.join();
  const std::uint64_t sent = checksum(mine, slot, lane);
  std::uint64_t wanted = 0;
  communicator_.exchange(peer, std::as_bytes(std::span(&sent, 1)), std::as_writable_bytes(std::span(&wanted, 1)));
  inner_.trade(mine, theirs, peer, slot, lane);
  inner_.finish();
  ++trades_;
  if (checksum(mine, slot, lane) == wanted) return;
  ++changed_;
  changed_peer_ = peer;
}

void CheckedTransport::require_intact() {
  together(communicator_, [&] {
    if (changed_ == 0) return;
    throw VerificationError("the " + std::string(inner_.name()) + " transport changed " + std::to_string(changed_) +
                            " of " + std::to_string(trades_) + " chunks that rank " +
                            std::to_string(communicator_.rank()) + " received (the last from rank " +
                            std::to_string(changed_peer_) + "): the result is wrong and is not shown");
  });
}

}  // namespace qsim
