// The test is an exchange in small: many chunks, every partner, all lanes, more trades under way than the ring has
// slots, in a corner of the state, so it costs the same for any state size.
#include "runtime/exchange/transport_check.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/ranks/agreement.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"

namespace qsim {
namespace {

constexpr std::uint32_t kPatternTileBits = 10;  // active bits of the sweep that writes the pattern
constexpr std::uint32_t kLeastPieceBits = 6;    // of a piece, where the shard has as many
constexpr std::uint32_t kMostPiecesBits = 12;
constexpr std::uint64_t kBytesPerLane = std::uint64_t{2} << 20;  // of the corner that is traded

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

/// The corner of the state, 2^bits amplitudes: chunks of one piece for each partner, which one trade takes.
struct Corner {
  std::uint32_t local_bits = 0, piece_bits = 0, part_bits = 0, chunk_bits = 0;
  std::uint32_t piece_count_bits() const { return part_bits + chunk_bits; }
  std::uint32_t bits() const { return piece_bits + piece_count_bits(); }
  Index pieces() const { return Index{1} << piece_count_bits(); }
  Index piece(Index chunk, Index partner) const { return chunk << part_bits | (partner & low_mask(part_bits)); }
  /// Piece `number` in a row or, `scattered`, one amplitude of every pieces().
  ChunkView view(Index number, bool scattered) const {
    const Index outside = low_mask(local_bits) & ~low_mask(bits());
    if (scattered) return {outside | low_mask(piece_count_bits()), number};
    return {low_mask(local_bits) & ~low_mask(piece_bits), number << piece_bits};
  }
};

Corner choose_corner(const DistributedState& state, const Transport& transport, const PoolLayout& pool,
                     std::uint32_t lanes) {
  Corner corner;
  corner.local_bits = state.local_bits();
  corner.part_bits = std::min(state.rank_bits, corner.local_bits);
  const std::uint32_t room = corner.local_bits - corner.part_bits;
  const auto trades = [&] { return static_cast<Index>(state.communicator.size() - 1) << corner.chunk_bits; };
  while ((trades() <= pool.chunk_slots || (Index{1} << corner.chunk_bits) < 2 * lanes) &&
         corner.chunk_bits + kLeastPieceBits < room && corner.piece_count_bits() < kMostPiecesBits) {
    ++corner.chunk_bits;
  }
  const std::uint64_t amplitude = amplitude_bytes(state.precision);
  const std::uint64_t most = transport.max_trade_bytes(pool.chunk_bytes);
  corner.piece_bits = room - corner.chunk_bits;
  while (corner.piece_bits > 0 && ((amplitude << corner.piece_bits) > most ||
                                   (amplitude << corner.bits()) > std::max(kBytesPerLane * lanes, most))) {
    --corner.piece_bits;
  }
  return corner;
}

/// Where the contents of every rank's pieces are after the trades: (rank, piece) by rank and piece.
using Origins = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// The test between a rank and all others.
class SelfTest {
 public:
  SelfTest(DistributedState& state, Transport& transport, const PoolLayout& pool)
      : state_(state),
        transport_(transport),
        slots_(pool.chunk_slots),
        lanes_(static_cast<std::uint32_t>(
            std::max(1, std::min(state.backend.lanes(), static_cast<int>(pool.chunk_slots))))),
        corner_(choose_corner(state, transport, pool, lanes_)),
        ranks_(static_cast<Index>(state.communicator.size())),
        rank_(state.rank()) {
    const Index trades = corner_.pieces() >> corner_.part_bits;
    // An even number of rounds would bring everything back. Shards that are too small to cut do with one.
    if (corner_.chunk_bits > 0) {
      while (rounds_ * trades * (ranks_ - 1) <= slots_) rounds_ += 2;
    }
  }

  /// The rank whose data arrived changed, or -1.
  int run(bool scattered) {
    const std::uint32_t active = std::min(corner_.bits(), kPatternTileBits);
    const Sweep pattern = pattern_sweep(corner_.local_bits, active, static_cast<int>(rank_));
    const std::uint32_t handle = state_.backend.prepare({&pattern, 1}, Summing::kNo);
    state_.backend.sweep(handle, {low_mask(corner_.local_bits) & ~low_mask(corner_.bits()), 0}, 0, false);
    const std::vector<std::uint64_t> own = hashes(scattered);
    std::vector<std::uint64_t> all(own.size() * ranks_);
    state_.communicator.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
    Origins origins;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      for (std::uint32_t piece = 0; piece < corner_.pieces(); ++piece) origins.push_back({rank, piece});
    }
    state_.backend.fork();
    for (std::uint32_t round = 0; round < rounds_; ++round) trade_all(scattered, origins);
    transport_.finish();
    state_.backend.join();
    state_.backend.synchronize();
    state_.backend.clear_sweeps();
    const std::vector<std::uint64_t> found = hashes(scattered);
    for (Index piece = 0; piece < corner_.pieces(); ++piece) {
      const auto [from, number] = origins[rank_ * corner_.pieces() + piece];
      if (found[piece] != all[from * corner_.pieces() + number]) return static_cast<int>(from);
    }
    return -1;
  }

 private:
  void trade_all(bool scattered, Origins& origins) {
    for (Index chunk = 0; chunk < corner_.pieces() >> corner_.part_bits; ++chunk) {
      // Lanes and slots as exchanges take them: a slot always serves the same lane.
      const auto lane = static_cast<std::uint32_t>(chunk % lanes_);
      for (Index step = 1; step < ranks_; ++step) {
        const Index peer = rank_ ^ step;
        const std::uint32_t slot = (lane + lanes_ * (turn_++ % std::max(1u, slots_ / lanes_))) % slots_;
        transport_.trade(corner_.view(corner_.piece(chunk, peer), scattered),
                         corner_.view(corner_.piece(chunk, rank_), scattered), static_cast<int>(peer), slot,
                         static_cast<int>(lane));
        for (Index rank = 0; rank < ranks_; ++rank) {
          const Index other = rank ^ step;
          if (rank > other) continue;
          std::swap(origins[rank * corner_.pieces() + corner_.piece(chunk, other)],
                    origins[other * corner_.pieces() + corner_.piece(chunk, rank)]);
        }
      }
    }
  }

  /// Of every piece's bytes, in order.
  std::vector<std::uint64_t> hashes(bool scattered) {
    const std::size_t amplitude = amplitude_bytes(state_.precision), pieces = corner_.pieces();
    const std::size_t each = std::size_t{1} << corner_.piece_bits;
    std::vector<std::byte> bytes(amplitude << corner_.bits()), gathered(bytes.size());
    state_.backend.reader().copy_out(0, Index{1} << corner_.bits(), bytes.data());
    if (scattered) {
      for (std::size_t i = 0; i < pieces * each; ++i) {
        std::copy_n(bytes.data() + i * amplitude, amplitude,
                    gathered.data() + (i % pieces * each + i / pieces) * amplitude);
      }
      bytes.swap(gathered);
    }
    std::vector<std::uint64_t> found(pieces);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      found[piece] = xxh3({reinterpret_cast<const char*>(bytes.data()) + piece * each * amplitude, each * amplitude});
    }
    return found;
  }

  DistributedState& state_;
  Transport& transport_;
  const std::uint32_t slots_, lanes_;
  const Corner corner_;
  const Index ranks_, rank_;
  std::uint32_t rounds_ = 1, turn_ = 0;
};

}  // namespace

void self_test(DistributedState& state, Transport& transport, const PoolLayout& pool) {
  for (const bool scattered : {false, true}) {
    int bad_peer = -1;
    alone(state.communicator, [&] { bad_peer = SelfTest(state, transport, pool).run(scattered); });
    Failure failure;
    failure.code = ExitCode::kOk;
    if (bad_peer >= 0) {
      failure.code = ExitCode::kCommunication;
      failure.message = "the " + std::string(transport.name()) + " transport delivered other data to rank " +
                        std::to_string(state.communicator.rank()) + " than rank " + std::to_string(bad_peer) +
                        " sent, with many chunks under way";
      failure.hint = "choose another way with `exchange`";
    }
    failure = worst_failure(state.communicator, failure);
    if (failure.code != ExitCode::kOk) throw TransportRefused(failure.message, failure.rank, failure.hint);
  }
}

CheckedTransport::CheckedTransport(Transport& inner, Backend& backend, Communicator& communicator)
    : inner_(inner), backend_(backend), communicator_(communicator) {}

void CheckedTransport::trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) {
  backend_.join();
  const std::uint64_t sent = backend_.reader().checksum(mine);
  std::uint64_t wanted = 0;
  communicator_.exchange(peer, std::as_bytes(std::span(&sent, 1)), std::as_writable_bytes(std::span(&wanted, 1)));
  inner_.trade(mine, theirs, peer, slot, lane);
  inner_.finish();
  ++trades_;
  if (backend_.reader().checksum(mine) == wanted) return;
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
