// A device without amplitudes: it counts what it is told to do and objects to a wrong order.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "device/backend.h"
#include "device/transport.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"

namespace qsim {

/// What a null backend was told to do; bytes as plan_work counts them.
struct NullCounts {
  std::uint64_t sweeps = 0, sweep_calls = 0, trades = 0;  // a sweep in chunks is one sweep and many calls
  std::uint64_t bytes_swept = 0, bytes_sent = 0;
  friend bool operator==(const NullCounts&, const NullCounts&) = default;
};

/// Throws Error when a sweep runs out of order: on unborn bits that do not match, on a chunk that the sweep before has
/// not finished, twice on one chunk, or cut by active bits. Read-outs give zeros (the norm is 0, too).
class NullBackend : public Backend, private ShardReader {
 public:
  explicit NullBackend(const BackendOptions& options) : precision_(options.precision) {}

  const NullCounts& counts() const { return counts_; }
  /// A part of the shard was traded (the null transport's call): each sweep under way runs before the trades of all its
  /// chunks, or after them.
  void note_trade(const ChunkView& mine, std::uint32_t slot, int lane);
  /// Error when a sweep has run on some of its chunks only.
  void require_complete() const;

  BackendInfo info() const override;
  void reserve(const PoolLayout& layout, std::uint32_t local_bits) override;
  std::uint64_t peak_bytes() const override { return layout_.total_bytes(); }
  MemoryRegion state() override { return {nullptr, layout_.state_bytes, false}; }
  MemoryRegion slot(std::uint32_t slot) override;
  void save_state(std::uint32_t snapshot) override;
  void restore_state(std::uint32_t snapshot) override;
  void exchange_state(std::uint32_t snapshot) override;
  void copy_in(Index, Index, const std::byte*) override { unborn_ = 0; }

  ShardReader& reader() override { return *this; }
  Abilities abilities() override { return {}; }

  std::uint32_t prepare(std::span<const Sweep> sweeps, Summing summing) override;
  void expect_chunks(std::uint32_t, Index, Index) override {}
  void finish_preparing() override {}
  void clear_sweeps() override;
  void sweep(std::uint32_t handle, ChunkView chunk, int lane, bool accumulate_norm) override;
  double take_norm() override { return 0; }
  int lanes() const override { return kLanes; }
  void fork() override {}
  void join() override {}
  void synchronize() override {}

  void pack(ChunkView view, std::uint32_t slot, int lane) override;
  void unpack(ChunkView view, std::uint32_t slot, int lane) override;
  void fill_random(const Layout& layout, std::uint32_t rank, std::uint64_t seed, double scale) override;

 private:
  double norm() override { return 0; }
  void bit_probabilities(std::span<double> out) override;
  void histogram(std::span<const Bit> bits, std::span<double> out) override;
  void unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out) override;
  void locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
              std::span<Index> out) override;
  std::vector<IndexProbability> top(std::size_t, const Layout&, std::uint32_t) override { return {}; }
  void pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out) override;
  void pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                         std::uint32_t slot, std::span<Complex> out) override;
  Complex inner_product(std::uint32_t) override { return 0; }
  std::uint64_t checksum(ChunkView) override { return 0; }
  void read_amplitudes(std::span<const Index> indices, std::span<Complex> out) override;
  void copy_out(Index first, Index count, std::byte* host) override;

  static constexpr int kLanes = 4;

  // What of a prepared sweep matters for order.
  struct Prepared {
    Index active = 0, unborn = 0, births = 0;
    bool reads = true;
    std::uint64_t bytes = 0;
  };
  // A sweep that has run on some of its chunks.
  struct UnderWay {
    std::uint32_t handle = 0;
    Index mask = 0;
    std::vector<bool> done;  // by the chunk's bits
    std::size_t left = 0;
    // Which side of the trades it runs on, known from the first trade since it began.
    enum class Side : std::uint8_t { kUnknown, kBefore, kAfter } side = Side::kUnknown;
  };

  void check_view(const ChunkView& view, int lane) const;
  void begin(std::uint32_t handle, Index mask);
  static bool finished(const UnderWay& sweep, const ChunkView& view);

  Precision precision_;
  PoolLayout layout_;
  std::uint32_t local_bits_ = 0;
  bool reserved_ = false;
  Index unborn_ = 0;
  std::map<std::uint32_t, Index> snapshots_;  // the unborn bits of each
  std::vector<Prepared> sweeps_;
  std::vector<UnderWay> under_way_;
  NullCounts counts_;
};

/// Counts trades on a null backend; nothing travels.
std::unique_ptr<Transport> make_null_transport(NullBackend& backend);

}  // namespace qsim
