// The CPU backend: a shard in host memory, a team of threads, one sweep engine.
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstring>

#include "base/layout.h"
#include "cpu/cpu_info.h"
#include "cpu/permutation.h"
#include "cpu/read_out/readouts.h"
#include "cpu/read_out/readouts_pauli.h"
#include "cpu/sweep_engine.h"
#include "cpu/views.h"
#include "device/numbers/compensated.h"
#include "device/pool.h"
#include "kernels/cpu/pauli_block.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim::cpu {
namespace {

constexpr std::uint32_t kAloneBits = 13;

template <typename T>
class CpuBackend final : public Backend, private ShardReader, private SweepRenewal {
 public:
  explicit CpuBackend(const BackendOptions& options)
      : instruction_set_(choose_instruction_set(options.instruction_set)),
        team_(threads_or_all(options.threads)),
        pool_(memory_),
        engine_(make_engine<T>(instruction_set_)) {}

  BackendInfo info() const override {
    BackendInfo info;
    info.name = "cpu";
    info.device = processor_name() + ", " + std::to_string(team_.size()) +
                  (team_.size() == 1 ? " thread, " : " threads, ") + std::string(name_of(instruction_set_));
    info.free_bytes = host_memory().available_bytes;
    info.threads = team_.size();
    return info;
  }

  void reserve(const PoolLayout& layout, std::uint32_t local_bits) override {
    if (local_bits > static_cast<std::uint32_t>(kMaxQubits)) {
      throw UsageError("a shard of 2^" + std::to_string(local_bits) + " amplitudes is not addressable; at most 2^" +
                       std::to_string(kMaxQubits));
    }
    const std::uint64_t state_bytes = sizeof(Amplitude) << local_bits;
    if (layout.state_bytes < state_bytes) {
      throw CapacityError("the pool's layout gives the state " + std::to_string(layout.state_bytes) + " bytes; 2^" +
                              std::to_string(local_bits) + " amplitudes need " + std::to_string(state_bytes),
                          state_bytes, layout.state_bytes);
    }
    clear_sweeps();
    frames_.clear();
    slots_.clear();
    pool_.reserve(layout.total_bytes());
    bits_ = local_bits;
    auto push = [&](std::uint64_t bytes, const char* what) { return frames_.emplace_back(pool_, bytes, what).data(); };
    state_ = reinterpret_cast<Amplitude*>(push(layout.state_bytes, "the state"));
    snapshots_ = reinterpret_cast<Amplitude*>(push(layout.snapshot_bytes, "snapshots"));
    snapshot_count_ = layout.snapshot_bytes / state_bytes;
    slot_bytes_ = layout.chunk_bytes;
    for (std::uint32_t slot = 0; slot < layout.chunk_slots; ++slot) slots_.push_back(push(slot_bytes_, "a chunk slot"));
    push(layout.table_bytes, "sweep programs");
    push(layout.scratch_bytes, "scratch");
    spare_ = {push(layout.spare_bytes, "memory of sweeps that permute"), layout.spare_bytes};
  }

  std::uint64_t peak_bytes() const override { return pool_.peak(); }
  MemoryRegion state() override { return {reinterpret_cast<std::byte*>(state_), sizeof(Amplitude) << bits_, false}; }
  MemoryRegion slot(std::uint32_t slot) override { return {slots_.at(slot), slot_bytes_, false}; }

  void save_state(std::uint32_t snapshot) override { copy(snapshot_data(snapshot), state_); }
  void restore_state(std::uint32_t snapshot) override { copy(state_, snapshot_data(snapshot)); }
  void exchange_state(std::uint32_t snapshot) override {
    Amplitude* const other = snapshot_data(snapshot);
    in_pieces(
        [&](Index first, Index count) { std::swap_ranges(state_ + first, state_ + first + count, other + first); });
  }
  void copy_in(Index first, Index count, const std::byte* host) override {
    std::memcpy(reinterpret_cast<std::byte*>(state_ + first), host, count * sizeof(Amplitude));
  }

  ShardReader& reader() override { return *this; }
  Abilities abilities() override {
    Abilities abilities;
    abilities.renewal = this;
    return abilities;
  }

  std::uint32_t prepare(std::span<const Sweep> sweeps, Summing) override {
    const auto first = static_cast<std::uint32_t>(prepared_.size());
    in_stretches(
        sweeps,
        [&](std::size_t begin, std::size_t count) {
          std::uint32_t next = engine_->prepare(sweeps.subspan(begin, count), bits_, team_.size());
          for (std::size_t i = 0; i < count; ++i) prepared_.push_back({next++, {}});
        },
        [&](const Sweep& sweep) {
          prepared_.push_back({0, std::make_unique<Permutation>(sweep, bits_)});
        });
    return first;
  }
  void expect_chunks(std::uint32_t, Index, Index) override {}
  void finish_preparing() override {}
  void clear_sweeps() override {
    engine_->clear();
    prepared_.clear();
  }
  void sweep(std::uint32_t handle, ChunkView chunk, int, bool accumulate_norm) override {
    const Prepared& prepared = prepared_.at(handle);
    if (prepared.permutation) {
      if (prepared.permutation->run(state_, spare_, team_)) {
        auto* const before =
            reinterpret_cast<std::byte*>(std::exchange(state_, reinterpret_cast<Amplitude*>(spare_.data())));
        spare_ = {before, sizeof(Amplitude) << bits_};
      }
      if (accumulate_norm) norm_.add(norm());
      return;
    }
    const double sum = engine_->run(prepared.handle, state_, chunk, team_, accumulate_norm);
    if (accumulate_norm) norm_.add(sum);
  }
  double take_norm() override { return std::exchange(norm_, CompensatedSum()).value(); }

  int lanes() const override { return 1; }
  void fork() override {}
  void join() override {}
  void synchronize() override {}

  void pack(ChunkView view, std::uint32_t slot, int) override { move_runs<false>(view, slot); }
  void unpack(ChunkView view, std::uint32_t slot, int) override { move_runs<true>(view, slot); }

  void fill_random(const Layout& layout, std::uint32_t rank, std::uint64_t seed, double scale) override {
    cpu::fill_random(shard(), readers(), layout, rank, seed, scale);
  }

 private:
  using Amplitude = std::complex<T>;

  struct Prepared {
    std::uint32_t handle = 0;                  // the engine's
    std::unique_ptr<Permutation> permutation;  // else than that
  };

  /// others(begin, count) for neighbours that do not permute, permutation(sweep) for each that does, in order.
  template <typename Others, typename One>
  static void in_stretches(std::span<const Sweep> sweeps, Others others, One permutation) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < sweeps.size(); ++i) {
      if (!sweeps[i].permutes()) continue;
      if (i > begin) others(begin, i - begin);
      permutation(sweeps[i]);
      begin = i + 1;
    }
    if (sweeps.size() > begin) others(begin, sweeps.size() - begin);
  }
  /// Flips have no numbers.
  void renew(std::uint32_t handle, std::span<const Sweep> sweeps) override {
    in_stretches(
        sweeps,
        [&](std::size_t begin, std::size_t count) {
          engine_->renew(prepared_.at(handle + begin).handle, sweeps.subspan(begin, count), bits_);
        },
        [](const Sweep&) {});
  }

  double norm() override { return cpu::norm(shard(), readers()); }
  void bit_probabilities(std::span<double> out) override { cpu::bit_probabilities(shard(), readers(), out); }
  void histogram(std::span<const Bit> bits, std::span<double> out) override {
    cpu::histogram(shard(), readers(), bits, out);
  }
  void unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out) override {
    cpu::unit_histogram(shard(), readers(), view, bits, out);
  }
  void locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
              std::span<Index> out) override {
    cpu::locate(shard(), readers(), block_bits, order, draws, out);
  }
  std::vector<IndexProbability> top(std::size_t count, const Layout& layout, std::uint32_t rank) override {
    return cpu::top(shard(), team_, count, layout, rank);
  }
  void pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out) override {
    sum_groups(shard(), {}, groups, z_masks, out);
  }
  void pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                         std::uint32_t slot, std::span<Complex> out) override {
    sum_groups({shard().data + view.value, bits_ - count_bits(view.mask)}, {slot_data(view, slot), view.value}, groups,
               z_masks, out);
  }
  Complex inner_product(std::uint32_t snapshot) override {
    return cpu::inner_product<T>(shard(), readers(), snapshot_data(snapshot));
  }
  std::uint64_t checksum(ChunkView view) override { return cpu::checksum<T>(shard(), readers(), view); }
  void read_amplitudes(std::span<const Index> indices, std::span<Complex> out) override {
    std::transform(indices.begin(), indices.end(), out.begin(), [&](Index index) { return Complex(state_[index]); });
  }
  void copy_out(Index first, Index count, std::byte* host) override {
    std::memcpy(host, state_ + first, count * sizeof(Amplitude));
  }

  Shard<T> shard() const { return {state_, bits_}; }
  /// Who reads the shard once: waking the team takes longer than reading few amplitudes.
  ThreadTeam& readers() { return bits_ <= kAloneBits ? alone_ : team_; }

  /// Many strings at once where `part` has a block for them, else group by group.
  void sum_groups(const Shard<T>& part, PauliPartners<T> partners, std::span<const PauliGroup> groups,
                  std::span<const Index> z_masks, std::span<Complex> out) {
    if (part.bits >= static_cast<std::uint32_t>(kPauliBlockBits)) {
      return cpu::pauli_group_sums<T>(part, team_, instruction_set_, partners, groups, z_masks, out);
    }
    for (const PauliGroup& group : groups) {
      cpu::pauli_sums<T>(part, team_, partners, group.x_mask, z_masks.subspan(group.begin, group.count),
                         out.subspan(group.begin, group.count));
    }
  }

  Amplitude* snapshot_data(std::uint32_t snapshot) const {
    if (snapshot >= snapshot_count_) {
      throw Error("snapshot " + std::to_string(snapshot) + " of " + std::to_string(snapshot_count_) +
                  ": the pool's layout must reserve it");
    }
    return snapshots_ + (static_cast<Index>(snapshot) << bits_);
  }

  Amplitude* slot_data(ChunkView view, std::uint32_t slot) const {
    const std::uint64_t bytes = sizeof(Amplitude) << count_bits(low_mask(bits_) & ~view.mask);
    if (slot >= slots_.size() || bytes > slot_bytes_) {
      throw Error("a chunk of " + std::to_string(bytes) + " bytes does not fit slot " + std::to_string(slot) + " of " +
                  std::to_string(slots_.size()) + " with " + std::to_string(slot_bytes_) + " bytes each");
    }
    return reinterpret_cast<Amplitude*>(slots_[slot]);
  }

  void copy(Amplitude* to, const Amplitude* from) {
    in_pieces([&](Index first, Index count) { std::memcpy(to + first, from + first, count * sizeof(Amplitude)); });
  }
  /// work(first, count) on all parts of the shard.
  template <typename Work>
  void in_pieces(Work work) {
    const int piece_bits = std::min(static_cast<int>(bits_), 16);
    team_.run(Index{1} << (static_cast<int>(bits_) - piece_bits),
              [&](Index piece, int) { work(piece << piece_bits, Index{1} << piece_bits); });
  }

  template <bool kToState>
  void move_runs(ChunkView view, std::uint32_t slot) {
    const ViewRuns runs(view, bits_, 16);
    Amplitude* const packed = slot_data(view, slot);
    switch (runs.run_bits) {  // lengths that the compiler knows, where runs are too short to hide a call
      case 0:
        return move_runs_of<kToState, 1>(runs, packed);
      case 1:
        return move_runs_of<kToState, 2>(runs, packed);
      case 2:
        return move_runs_of<kToState, 4>(runs, packed);
      default:
        return move_runs_of<kToState, 0>(runs, packed);
    }
  }

  /// `kLength` 0: the runs' own.
  template <bool kToState, Index kLength>
  void move_runs_of(const ViewRuns& runs, Amplitude* packed) {
    const Index pieces = std::min<Index>(runs.runs, 256), each = runs.runs / pieces;
    const Index length = kLength != 0 ? kLength : runs.run_length();
    const Index free = runs.free & ~(runs.run_length() - 1);  // counts the runs
    team_.run(pieces, [&](Index piece, int) {
      Index place = runs.base(piece * each) & free;
      Amplitude* in_slot = packed + (piece * each << runs.run_bits);
      for (Index run = 0; run < each; ++run, in_slot += length) {
        Amplitude* const in_state = state_ + (place | runs.value);
        std::memcpy(kToState ? in_state : in_slot, kToState ? in_slot : in_state, length * sizeof(Amplitude));
        place = next_under_mask(place, free);
      }
    });
  }

  const InstructionSet instruction_set_;
  ThreadTeam team_, alone_{1};
  HostPoolMemory memory_;
  Pool pool_;
  // Popped from the back, as the pool wants it.
  struct Frames {
    std::vector<PoolFrame> frames;
    template <typename... Arguments>
    PoolFrame& emplace_back(Arguments&&... arguments) {
      return frames.emplace_back(std::forward<Arguments>(arguments)...);
    }
    void clear() {
      while (!frames.empty()) frames.pop_back();
    }
    ~Frames() { clear(); }
  } frames_;
  std::uint32_t bits_ = 0;
  Amplitude* state_ = nullptr;
  Amplitude* snapshots_ = nullptr;
  std::uint64_t snapshot_count_ = 0, slot_bytes_ = 0;
  std::vector<std::byte*> slots_;
  std::span<std::byte> spare_;
  std::unique_ptr<SweepEngine<T>> engine_;
  std::vector<Prepared> prepared_;
  CompensatedSum norm_;
};

}  // namespace
}  // namespace qsim::cpu

namespace qsim {

std::unique_ptr<Backend> make_cpu_backend(const BackendOptions& options) {
  switch (options.precision) {
    case Precision::kSingle:
      return std::make_unique<cpu::CpuBackend<float>>(options);
    case Precision::kDouble:
      return std::make_unique<cpu::CpuBackend<double>>(options);
  }
  throw UsageError("unknown precision");
}

}  // namespace qsim
