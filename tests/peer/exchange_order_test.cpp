// Exchanges between GPUs' streams, played on the host with random pauses: whatever the events leave open happens in
// some run, so a missing one shows as wrong amplitudes, and a circle of waits as a run that does not end.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/ranks/communicator.h"
#include "comm/gpu/driver.h"
#include "comm/gpu/peer/p2p.h"
#include "comm/nccl/nccl_transport.h"
#include "comm/nccl/time_limit.h"
#include "null/null_backend.h"
#include "peer/host_streams.h"
#include "plan/cost/pool_layout.h"
#include "runtime/exchange/exchange_pipeline.h"
#include "support/campaign.h"

namespace qsim {
namespace {

using Words = std::array<std::uint64_t, 2>;  // stands for an amplitude

/// What sweep `handle` does to an amplitude: no two of them commute.
Words swept(Words word, std::uint32_t handle) {
  for (std::uint64_t& w : word) w = w * (2 * handle + 3) + handle + 1;
  return word;
}

/// A shard and a ring in host memory, worked on by streams.
class StreamBackend final : public NullBackend, private DeviceQueues, private ArrivalSweeps {
 public:
  StreamBackend(std::uint32_t local_bits, PoolLayout pool, Precision precision)
      : NullBackend(options_of(precision)), words_(amplitude_bytes(precision) / 8), bits_(local_bits) {
    shard.resize(words_ << local_bits);
    slots_.assign(pool.chunk_slots, std::vector<std::uint64_t>(pool.chunk_bytes / 8));
    for (int lane = 0; lane < kLanes; ++lane) streams_.push_back(test::make_host_stream());
    for (cudaEvent_t& event : events_) check_cuda(cudaEventCreateWithFlags(&event, 0), "cudaEventCreateWithFlags");
  }
  ~StreamBackend() override {
    end();
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }
  /// Waits for all that its streams do, which may be in other ranks' memory.
  void end() {
    for (const cudaStream_t stream : std::exchange(streams_, {})) test::end_host_stream(stream);
  }

  MemoryRegion state() override { return {reinterpret_cast<std::byte*>(shard.data()), shard.size() * 8, true}; }
  MemoryRegion slot(std::uint32_t slot) override {
    return {reinterpret_cast<std::byte*>(slots_.at(slot).data()), slots_[slot].size() * 8, true};
  }
  int lanes() const override { return kLanes; }
  Abilities abilities() override { return {.queues = this, .arrivals = this}; }
  void* native_lane(int lane) override { return streams_.at(static_cast<std::size_t>(lane)); }
  void sweep(std::uint32_t handle, ChunkView chunk, int lane, bool) override {
    test::enqueue(streams_.at(static_cast<std::size_t>(lane)), [this, handle, chunk] {
      for (Index i = 0; i < Index{1} << bits_; ++i) {
        if ((i & chunk.mask) == chunk.value) set(i, swept(get(i), handle));
      }
    });
  }
  LaneClock* lane_clock() override { return nullptr; }
  bool loads_arrived(std::uint32_t, Index, Index) override { return true; }
  void sweep_arrived(std::uint32_t handle, ChunkView chunk, int lane, bool, Index arrivals,
                     std::span<const Trade> arrived) override {
    ++arrivals_loaded;
    test::enqueue(streams_.at(static_cast<std::size_t>(lane)),
                  [this, handle, chunk, arrivals, trades = std::vector<Trade>(arrived.begin(), arrived.end())] {
                    for (Index i = 0; i < Index{1} << bits_; ++i) {
                      if ((i & chunk.mask) != chunk.value) continue;
                      Words word = get(i);
                      for (const Trade& one : trades) {
                        if ((i & arrivals) != (one.mine.value & arrivals)) continue;
                        const Index at = i - one.mine.value;  // views are runs of memory
                        std::memcpy(word.data(), &slots_[one.slot][at * words_], 8 * words_);
                      }
                      set(i, swept(word, handle));
                    }
                  });
  }
  void fork() override {
    record(0);
    for (std::size_t lane = 1; lane < kLanes; ++lane) wait(lane, 0);
  }
  void join() override {
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      record(lane);
      wait(0, lane);
    }
  }
  void synchronize() override {
    for (const cudaStream_t stream : streams_) check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  Words get(Index i) const {
    Words word{};
    std::memcpy(word.data(), &shard[i * words_], 8 * words_);
    return word;
  }
  void set(Index i, Words word) { std::memcpy(&shard[i * words_], word.data(), 8 * words_); }

  std::vector<std::uint64_t> shard;
  std::uint64_t arrivals_loaded = 0;  // sweeps that have

 private:
  static BackendOptions options_of(Precision precision) {
    BackendOptions options;
    options.precision = precision;
    return options;
  }

  void record(std::size_t lane) { check_cuda(cudaEventRecord(events_[lane], streams_[lane]), "cudaEventRecord"); }
  void wait(std::size_t lane, std::size_t event) {
    check_cuda(cudaStreamWaitEvent(streams_[lane], events_[event], 0), "cudaStreamWaitEvent");
  }

  static constexpr int kLanes = 16;
  std::size_t words_;
  std::uint32_t bits_;
  std::vector<std::vector<std::uint64_t>> slots_;
  std::vector<cudaStream_t> streams_;
  std::array<cudaEvent_t, kLanes> events_{};
};

enum class Way { kPeerMemory, kNccl };

struct Game {
  Way way = Way::kPeerMemory;
  std::uint32_t rank_bits = 1, local_bits = 12;
  Precision precision = Precision::kDouble;
  PoolLayout pool;
  Exchange exchange;
  std::vector<ChunkedSweep> before, after;
};

Words first_word(Index i, Precision precision) { return {i + 1, precision == Precision::kDouble ? ~i : 0}; }

Index swapped(const Exchange& exchange, Index i) {
  for (const auto& [local, global] : exchange.swaps) {
    if (test_bit(i, local) != test_bit(i, global)) i ^= bit_mask(local) | bit_mask(global);
  }
  return i;
}

std::unique_ptr<Transport> open_transport(const Game& game, Backend& backend, Communicator& communicator) {
  if (game.way == Way::kNccl) return open_nccl_transport(backend, communicator, game.local_bits, game.precision);
  return open_p2p_transport(backend, communicator, game.local_bits, game.precision);
}

/// Plays the game three times over, each time on what the last has left, and compares every amplitude.
/// `arrivals_loaded`: sweeps of all ranks that loaded what had arrived from slots.
void play(const Game& game, std::uint64_t* arrivals_loaded = nullptr) {
  constexpr int kTimes = 3;
  const Index amplitudes = Index{1} << (game.local_bits + game.rank_bits);
  std::vector<Words> expected(amplitudes), next(amplitudes);
  for (Index i = 0; i < amplitudes; ++i) expected[i] = first_word(i, game.precision);
  const auto sweep_all = [&](const std::vector<ChunkedSweep>& sweeps) {
    for (const ChunkedSweep& sweep : sweeps) {
      for (Words& word : expected) {
        word = swept(word, sweep.handle);
        if (game.precision == Precision::kSingle) word[1] = 0;
      }
    }
  };
  for (int time = 0; time < kTimes; ++time) {
    sweep_all(game.before);
    for (Index i = 0; i < amplitudes; ++i) {  // what is not born stays
      next[(i & game.exchange.unborn) == 0 ? swapped(game.exchange, i) : i] = expected[i];
    }
    expected = next;
    sweep_all(game.after);
  }
  struct Backends : std::deque<StreamBackend> {
    // Where a rank has failed, kernels of others may still write what is its.
    ~Backends() {
      for (StreamBackend& backend : *this) backend.end();
    }
  } backends;
  const int ranks = 1 << game.rank_bits;
  for (int rank = 0; rank < ranks; ++rank) {
    StreamBackend& backend = backends.emplace_back(game.local_bits, game.pool, game.precision);
    for (Index i = 0; i < Index{1} << game.local_bits; ++i) {
      backend.set(i, first_word(static_cast<Index>(rank) << game.local_bits | i, game.precision));
    }
  }
  run_thread_ranks(ranks, [&](Communicator& communicator) {
    StreamBackend& backend = backends[static_cast<std::size_t>(communicator.rank())];
    const auto transport = open_transport(game, backend, communicator);
    DistributedState state{backend, communicator, game.local_bits + game.rank_bits, game.rank_bits, game.precision, {}};
    ExchangePipeline pipeline(state, transport.get(), game.pool);
    std::vector<ChunkedSweep> after = game.after;
    if (!after.empty()) after.front().arrivals = pipeline.arrival_bits(game.exchange);
    for (int time = 0; time < kTimes; ++time) pipeline.run(game.exchange, game.before, after);
    backend.synchronize();
    communicator.barrier();  // others may still name this rank's events
  });
  for (Index i = 0; i < amplitudes; ++i) {
    const StreamBackend& backend = backends[i >> game.local_bits];
    ASSERT_EQ(backend.get(i & low_mask(game.local_bits)), expected[i]) << "amplitude " << i;
  }
  if (arrivals_loaded == nullptr) return;
  for (const StreamBackend& backend : backends) *arrivals_loaded += backend.arrivals_loaded;
}

Game random_game(std::uint64_t seed, Way way, std::uint32_t rank_bits) {
  std::mt19937_64 random(seed);
  Game game;
  game.way = way;
  game.rank_bits = rank_bits;
  game.precision = random() % 2 == 0 ? Precision::kDouble : Precision::kSingle;
  // Chunks in one run go by copies, scattered ones by kernels.
  const bool high = random() % 2 == 0;
  std::vector<Bit> bits;
  for (std::uint32_t bit = 0; bit < game.local_bits; ++bit) bits.push_back(static_cast<Bit>(bit));
  if (!high) std::shuffle(bits.begin(), bits.end(), random);
  const auto take = [&] {
    const Bit bit = bits.back();
    bits.pop_back();
    return bit;
  };
  const auto swaps = static_cast<std::uint32_t>(1 + random() % rank_bits);
  std::vector<Bit> global;
  for (std::uint32_t bit = 0; bit < rank_bits; ++bit) global.push_back(static_cast<Bit>(game.local_bits + bit));
  std::shuffle(global.begin(), global.end(), random);
  for (std::uint32_t i = 0; i < swaps; ++i) game.exchange.swaps.emplace_back(take(), global[i]);
  const auto chunk_bits = random() % 5;
  for (std::uint64_t i = 0; i < chunk_bits; ++i) game.exchange.chunk_mask |= bit_mask(take());
  for (std::uint64_t i = random() % 3; i > 0; --i) game.exchange.unborn |= bit_mask(take());
  // From slots that take a whole part of a chunk to ones that take an eighth; from one slot to plenty.
  const std::uint64_t part = amplitude_bytes(game.precision) << (game.local_bits - swaps - chunk_bits);
  game.pool.chunk_bytes = std::max<std::uint64_t>(64, part >> (random() % 4));
  game.pool.chunk_slots = static_cast<std::uint32_t>(1 + random() % 16);
  for (std::uint64_t i = random() % 3; i > 0; --i) game.before.push_back({static_cast<std::uint32_t>(i), false, 0});
  for (std::uint64_t i = random() % 3; i > 0; --i) game.after.push_back({static_cast<std::uint32_t>(10 + i), false, 0});
  return game;
}

class PeerExchange : public testing::TestWithParam<std::tuple<Way, std::uint32_t>> {
 protected:
  void SetUp() override {
    if (way() == Way::kNccl && nccl_version().empty()) GTEST_SKIP() << "built without NCCL";
  }
  static Way way() { return std::get<0>(GetParam()); }
  static std::uint32_t rank_bits() { return std::get<1>(GetParam()); }
};

TEST_P(PeerExchange, MovesEveryAmplitudeInOrderWhateverIsLate) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::set_pauses(seed % 4 == 0 ? 0 : 300, seed);
    ASSERT_NO_FATAL_FAILURE(play(random_game(seed, way(), rank_bits())));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, PeerExchange,
                         testing::Combine(testing::Values(Way::kPeerMemory, Way::kNccl), testing::Values(1, 2, 3)),
                         [](const auto& number) {
                           return (std::get<0>(number.param) == Way::kNccl ? "Nccl" : "PeerMemory") +
                                  std::to_string(1 << std::get<1>(number.param));
                         });

TEST_P(PeerExchange, SweepsLoadWhatArrivesFromSlotsWhateverIsLate) {
  if (way() == Way::kNccl) GTEST_SKIP() << "NCCL leaves nothing in slots";
  std::uint64_t loaded = 0;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test::set_pauses(300, seed);
    std::mt19937_64 random(seed);
    Game game;
    game.rank_bits = rank_bits();
    game.precision = seed % 2 == 0 ? Precision::kDouble : Precision::kSingle;
    const auto swaps = static_cast<std::uint32_t>(1 + random() % game.rank_bits);
    const auto chunk_bits = static_cast<std::uint32_t>(1 + random() % 4);
    for (std::uint32_t i = 0; i < swaps; ++i) {
      game.exchange.swaps.emplace_back(static_cast<Bit>(game.local_bits - swaps + i),
                                       static_cast<Bit>(game.local_bits + i));
    }
    game.exchange.chunk_mask = low_mask(game.local_bits - swaps) & ~low_mask(game.local_bits - swaps - chunk_bits);
    game.pool.chunk_bytes = amplitude_bytes(game.precision) << (game.local_bits - swaps - chunk_bits);
    game.pool.chunk_slots = static_cast<std::uint32_t>((1U << swaps) - 1 + random() % 8);
    if (seed % 3 != 0) game.before.push_back({3, false, 0});
    for (std::uint64_t i = random() % 2; i < 2; ++i)
      game.after.push_back({static_cast<std::uint32_t>(10 + i), false, 0});
    std::uint64_t now = 0;
    ASSERT_NO_FATAL_FAILURE(play(game, &now));
    EXPECT_EQ(now, std::uint64_t{3} << (game.rank_bits + chunk_bits)) << "one sweep a chunk, rank and time";
    loaded += now;
  }
  EXPECT_GT(loaded, 0U);
}

/// QSIM_FAULT_STEP: every how manieth call fails once, of the runtime or of NCCL, where each of them takes others'
/// patience.
TEST_P(PeerExchange, EndsWithTheErrorOfAnyCallThatFails) {
  const std::uint64_t some = way() == Way::kNccl ? std::uint64_t{23} << 2 * rank_bits() : 23;
  const std::uint64_t step = test::number_from("QSIM_FAULT_STEP", some);
  std::uint64_t failed = 0, harmless = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Game game = random_game(seed, way(), rank_bits());
    test::set_pauses(0, seed);
    for (std::uint64_t nth = seed;; nth += step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", call " + std::to_string(nth));
      test::fail_call(nth);
      bool threw = false;
      try {
        ASSERT_NO_FATAL_FAILURE(play(game));
      } catch (const std::exception& error) {
        threw = true;
        EXPECT_STRNE(error.what(), "");
      }
      const bool reached = test::call_has_failed();
      test::fail_call(0);
      if (!reached) {
        EXPECT_FALSE(threw);
        break;
      }
      ++failed;
      if (!threw) ++harmless;
    }
  }
  std::printf("%u ranks: %ld calls failed, %ld of them without effect\n", 1U << rank_bits(), static_cast<long>(failed),
              static_cast<long>(harmless));
}

TEST(TimeLimit, ExpiresWhenItLivesTooLongAndOnlyThen) {
  std::atomic<int> expired{0};
  const auto count = [&] { ++expired; };
  for (int i = 0; i < 2000; ++i) const TimeLimit limit(std::chrono::minutes(1), count);
  EXPECT_EQ(expired, 0);
  {
    const TimeLimit limit(std::chrono::milliseconds(1), count);
    for (int i = 0; i < 10000 && expired == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(expired, 1);
}

TEST(PeerExchange, GoesByCopiesWhereChunksAreRunsAndByKernelsWhereTheyAreScattered) {
  Game game;
  game.rank_bits = 2;
  game.pool.chunk_bytes = 1 << 14;
  game.pool.chunk_slots = 8;
  game.exchange.swaps = {{10, 12}, {11, 13}};
  game.exchange.chunk_mask = bit_mask(9) | bit_mask(8);
  test::CopyCounts before = test::copy_counts();
  play(game);
  test::CopyCounts now = test::copy_counts();
  // Three times, 4 ranks, 4 chunks, 3 partners: into a slot and into place.
  EXPECT_EQ(now.copies - before.copies, 3u * 4 * 4 * 3 * 2);
  game.exchange.swaps = {{0, 12}, {3, 13}};
  before = now;
  play(game);
  now = test::copy_counts();
  EXPECT_EQ(now.copies, before.copies);
  EXPECT_GE(now.kernels - before.kernels, 3u * 4 * 4 * 3);
}

}  // namespace
}  // namespace qsim
