// The CUDA backend: one device, one allocation, 16 streams; sweeps are SweepRunner's, read-outs are ReadOuts'.
#include "device/backend.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/bits.h"
#include "cuda/device.h"
#include "cuda/lane_clock.h"
#include "cuda/read_out/cublas.h"
#include "cuda/read_out/readouts.h"
#include "cuda/run/sweep_runner.h"
#include "kernels/cuda/state.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

constexpr int kLanes = 16;

class CudaBackend final : public Backend,
                          private ShardReader,
                          private DeviceQueues,
                          private ArrivalSweeps,
                          private BitSums,
                          private Drawer,
                          private VendorLibrary,
                          private SweepRenewal {
 public:
  explicit CudaBackend(const BackendOptions& options) : options_(options), pool_(memory_) {
    use_device(options.device_id);
    for (int lane = 0; lane < kLanes; ++lane) {
      streams_.emplace_back();
      events_.emplace_back();
    }
    runner_ = make_sweep_runner(options);
  }
  ~CudaBackend() override { (void)cudaSetDevice(options_.device_id); }

  BackendInfo info() const override {
    const DeviceFacts facts = device_facts(options_.device_id);
    BackendInfo info;
    info.name = "cuda";
    info.device = facts.name;
    info.free_bytes = static_cast<std::uint64_t>(kUsableShare * static_cast<double>(facts.free_bytes));
    info.device_id = options_.device_id;
    return info;
  }

  void reserve(const PoolLayout& layout, std::uint32_t local_bits) override {
    set_device();
    synchronize();
    const std::uint64_t state_bytes = amplitude_bytes() << local_bits;
    if (layout.state_bytes < state_bytes) {
      throw CapacityError("the pool's layout gives the state " + std::to_string(layout.state_bytes) + " bytes; 2^" +
                              std::to_string(local_bits) + " amplitudes need " + std::to_string(state_bytes),
                          state_bytes, layout.state_bytes);
    }
    readouts_.reset();
    runner_->clear();
    slots_.clear();
    while (!frames_.empty()) frames_.pop_back();
    reserve_pool(layout.total_bytes());
    bits_ = local_bits;
    const auto push = [&](std::uint64_t bytes, const char* what) {
      return frames_.emplace_back(pool_, bytes, what).data();
    };
    state_ = push(layout.state_bytes, "the state");
    snapshots_ = push(layout.snapshot_bytes, "snapshots");
    snapshot_count_ = layout.snapshot_bytes / state_bytes;
    slot_bytes_ = layout.chunk_bytes;
    for (std::uint32_t slot = 0; slot < layout.chunk_slots; ++slot) slots_.push_back(push(slot_bytes_, "a chunk slot"));
    std::byte* const tables = push(layout.table_bytes, "sweep programs");
    std::byte* const scratch = push(layout.scratch_bytes, "scratch");
    std::byte* const spare = push(layout.spare_bytes, "memory of sweeps that permute");
    std::byte* const steps = push(layout.step_bytes, "steps of permutations");
    constexpr std::uint64_t kNormBytes = kNormCells * sizeof(NormCell);
    if (layout.scratch_bytes < kNormBytes) {
      throw CapacityError("a CUDA pool needs " + std::to_string(kNormBytes) + " bytes of scratch, its layout has " +
                              std::to_string(layout.scratch_bytes),
                          kNormBytes, layout.scratch_bytes);
    }
    scratch_ = scratch + kNormBytes;
    scratch_bytes_ = layout.scratch_bytes - kNormBytes;
    norm_ = reinterpret_cast<NormCell*>(scratch);
    check(cudaMemsetAsync(norm_, 0, kNormBytes, lane(0)), "cudaMemsetAsync of the norm");
    runner_->set_memory({state_,
                         tables,
                         layout.table_bytes,
                         {spare, layout.spare_bytes},
                         {steps, layout.step_bytes},
                         norm_,
                         bits_,
                         streams_,
                         ReadOuts::bit_sum_memory(scratch_, scratch_bytes_)});
    synchronize();
  }

  std::uint64_t peak_bytes() const override { return pool_.peak(); }
  MemoryRegion state() override { return {state_, amplitude_bytes() << bits_, true}; }
  MemoryRegion slot(std::uint32_t slot) override { return {slots_.at(slot), slot_bytes_, true}; }
  void save_state(std::uint32_t snapshot) override { copy_state(snapshot_data(snapshot), state_); }
  void restore_state(std::uint32_t snapshot) override { copy_state(state_, snapshot_data(snapshot)); }
  void exchange_state(std::uint32_t snapshot) override {
    join();
    std::byte* const other = snapshot_data(snapshot);
    const std::uint64_t bytes = amplitude_bytes() << bits_;
    const auto copy = [&](std::byte* to, const std::byte* from, std::uint64_t count) {
      check(cudaMemcpyAsync(to, from, count, cudaMemcpyDeviceToDevice, lane(0)), "cudaMemcpyAsync of two states");
    };
    for (std::uint64_t at = 0; at < bytes; at += scratch_bytes_) {  // the read-outs' memory, between two of them
      const std::uint64_t count = std::min<std::uint64_t>(scratch_bytes_, bytes - at);
      copy(scratch_, state_ + at, count);
      copy(state_ + at, other + at, count);
      copy(other + at, scratch_, count);
    }
  }
  void copy_in(Index first, Index count, const std::byte* host) override {
    join();
    check(cudaMemcpyAsync(state_ + first * amplitude_bytes(), host, count * amplitude_bytes(), cudaMemcpyHostToDevice,
                          lane(0)),
          "cudaMemcpyAsync of given amplitudes");
    check(cudaStreamSynchronize(lane(0)), "cudaStreamSynchronize after given amplitudes");
  }

  ShardReader& reader() override { return *this; }
  Abilities abilities() override { return {this, this, this, this, this, this}; }

  std::uint32_t prepare(std::span<const Sweep> sweeps, Summing summing) override {
    set_device();
    return runner_->prepare(sweeps, summing, lane(0));
  }
  void expect_chunks(std::uint32_t handle, Index mask, Index arrivals) override {
    set_device();
    runner_->expect_chunks(handle, mask, arrivals, lane(0));
  }
  void finish_preparing() override {
    set_device();
    runner_->finish_preparing();
  }
  void clear_sweeps() override {
    synchronize();
    runner_->clear();
  }
  void sweep(std::uint32_t handle, ChunkView chunk, int lane_number, bool accumulate_norm) override {
    set_device();
    runner_->run(handle, chunk, use_lane(lane_number), accumulate_norm);
    if (runner_->state() == state_) return;
    state_ = runner_->state();
    if (readouts_) readouts_->look_at(state_);
  }
  double take_norm() override {
    join();
    NormCell cells[kNormCells];
    check(cudaMemcpyAsync(cells, norm_, sizeof cells, cudaMemcpyDeviceToHost, lane(0)), "cudaMemcpyAsync of the norm");
    check(cudaMemsetAsync(norm_, 0, sizeof cells, lane(0)), "cudaMemsetAsync of the norm");
    check(cudaStreamSynchronize(lane(0)), "cudaStreamSynchronize for the norm");
    return norm_of(cells);
  }
  int lanes() const override { return kLanes; }
  void fork() override {
    set_device();
    runner_->hold_loading(true);
    check(cudaEventRecord(events_[0].get(), lane(0)), "cudaEventRecord");
    for (int other = 1; other < kLanes; ++other) {
      check(cudaStreamWaitEvent(lane(other), events_[0].get()), "cudaStreamWaitEvent");
    }
  }
  void join() override {
    set_device();
    runner_->hold_loading(false);
    for (int other = 1; other < kLanes; ++other) {
      if (!lane_used_[static_cast<std::size_t>(other)]) continue;
      lane_used_[static_cast<std::size_t>(other)] = false;
      const cudaEvent_t event = events_[static_cast<std::size_t>(other)].get();
      check(cudaEventRecord(event, lane(other)), "cudaEventRecord");
      check(cudaStreamWaitEvent(lane(0), event), "cudaStreamWaitEvent");
    }
  }
  void synchronize() override {
    set_device();
    for (int each = 0; each < kLanes; ++each) check(cudaStreamSynchronize(lane(each)), "cudaStreamSynchronize");
  }

  void pack(ChunkView view, std::uint32_t slot, int lane_number) override { move(view, slot, lane_number, false); }
  void unpack(ChunkView view, std::uint32_t slot, int lane_number) override { move(view, slot, lane_number, true); }

  void fill_random(const Layout& layout, std::uint32_t rank, std::uint64_t seed, double scale) override {
    set_device();
    LogicalMap map;
    map.bits = bits_;
    const std::vector<Qubit> qubit_at = layout.qubit_at();
    for (std::size_t bit = 0; bit < qubit_at.size(); ++bit) {
      if (bit < bits_)
        map.logical_of[bit] = static_cast<std::uint8_t>(qubit_at[bit]);
      else if (test_bit(rank, static_cast<unsigned>(bit - bits_)))
        map.rank_part |= bit_mask(qubit_at[bit]);
    }
    if (options_.precision == Precision::kDouble) {
      check(launch_fill_random<double>(reinterpret_cast<double2*>(state_), map, seed, scale, lane(0)),
            "launch of fill_random");
    } else {
      check(launch_fill_random<float>(reinterpret_cast<float2*>(state_), map, seed, scale, lane(0)),
            "launch of fill_random");
    }
  }

 private:
  void* native_lane(int lane_number) override { return use_lane(lane_number); }
  LaneClock* lane_clock() override {
    set_device();
    if (!clock_) clock_.emplace(options_.device_id, streams_);
    return &*clock_;
  }

  void renew(std::uint32_t handle, std::span<const Sweep> sweeps) override {
    set_device();
    runner_->renew(handle, sweeps, lane(0));
  }

  bool loads_arrived(std::uint32_t handle, Index mask, Index arrivals) override {
    set_device();
    return runner_->loads_arrived(handle, mask, arrivals);
  }
  void sweep_arrived(std::uint32_t handle, ChunkView chunk, int lane_number, bool accumulate_norm, Index arrivals,
                     std::span<const Trade> arrived) override {
    set_device();
    arrivals_.clear();
    for (const Trade& one : arrived) arrivals_.push_back({one.mine.value, slots_.at(one.slot)});
    runner_->run_arrived(handle, chunk, arrivals, arrivals_, use_lane(lane_number), accumulate_norm);
  }

  double norm() override { return readouts().norm(); }
  void bit_probabilities(std::span<double> out) override { readouts().bit_probabilities(out); }
  bool take_bit_probabilities(std::span<double> out) override {
    const SweptBits* const swept = runner_->swept_bits();
    if (swept == nullptr) return false;
    readouts().swept_bit_probabilities(*swept, out);
    return true;
  }
  void histogram(std::span<const Bit> bits, std::span<double> out) override { readouts().histogram(bits, out); }
  void unit_histogram(ChunkView view, std::span<const Bit> bits, std::span<std::uint64_t> out) override {
    readouts().unit_histogram(view, bits, out);
  }
  void locate(std::span<const Bit> block_bits, std::span<const Bit> order, std::span<const UnitDraw> draws,
              std::span<Index> out) override {
    readouts().locate(block_bits, order, draws, out);
  }
  bool begin_blocks(std::span<const Bit> block_bits, std::span<const Bit> order) override {
    return readouts().begin_blocks(block_bits, order);
  }
  bool blocks_ready() override { return readouts().blocks_ready(); }
  void take_blocks(std::span<std::uint64_t> out) override { readouts().take_blocks(out); }
  bool draw(const DrawBlocks& blocks, const ShotNumbers& shots, std::uint64_t seed, std::uint64_t stream,
            const DrawTaker& take) override {
    return readouts().draw(blocks, shots, seed, stream, take);
  }
  std::vector<IndexProbability> top(std::size_t count, const Layout& layout, std::uint32_t rank) override {
    return readouts().top(count, layout, rank);
  }
  void pauli_sums(std::span<const PauliGroup> groups, std::span<const Index> z_masks, std::span<Complex> out) override {
    readouts().pauli_sums(groups, z_masks, out);
  }
  void pauli_sums_remote(std::span<const PauliGroup> groups, std::span<const Index> z_masks, ChunkView view,
                         std::uint32_t slot, std::span<Complex> out) override {
    readouts().pauli_sums_remote(groups, z_masks, view, slots_.at(slot), out);
  }
  Complex inner_product(std::uint32_t snapshot) override { return readouts().inner_product(snapshot_data(snapshot)); }
  SecondOpinion second_opinion(std::optional<std::uint32_t> snapshot) override {
    join();
    return options_.precision == Precision::kDouble ? opinion<double2>(snapshot) : opinion<float2>(snapshot);
  }
  std::uint64_t checksum(ChunkView view) override {
    const Index count = bit_mask(count_bits(low_mask(bits_) & ~view.mask));
    return readouts().checksum(view_map(bits_, view.mask, view.value), count);
  }
  void read_amplitudes(std::span<const Index> indices, std::span<Complex> out) override {
    readouts().read_amplitudes(indices, out);
  }
  void copy_out(Index first, Index count, std::byte* host) override {
    join();
    check(cudaMemcpyAsync(host, state_ + first * amplitude_bytes(), count * amplitude_bytes(), cudaMemcpyDeviceToHost,
                          lane(0)),
          "cudaMemcpyAsync of amplitudes");
    check(cudaStreamSynchronize(lane(0)), "cudaStreamSynchronize after amplitudes");
  }

  std::uint64_t amplitude_bytes() const { return qsim::amplitude_bytes(options_.precision); }
  void set_device() const { check(cudaSetDevice(options_.device_id), "cudaSetDevice"); }
  cudaStream_t lane(int number) const { return streams_.at(static_cast<std::size_t>(number)).get(); }
  cudaStream_t use_lane(int number) {
    lane_used_.at(static_cast<std::size_t>(number)) = true;
    return lane(number);
  }
  ReadOuts& readouts() {
    join();
    if (state_ == nullptr) throw Error("a CUDA backend was read before its pool was reserved");
    if (!readouts_) {
      readouts_.emplace(Shard{state_, bits_, options_.precision == Precision::kDouble}, scratch_, scratch_bytes_,
                        lane(0), lane(1));
    }
    return *readouts_;
  }

  void reserve_pool(std::uint64_t needed) {
    if (pool_.capacity() >= needed && options_.pool_share > 0) return;
    pool_.release();
    const std::uint64_t free_bytes = device_facts(options_.device_id).free_bytes;
    pool_.reserve(pool_bytes(needed, free_bytes, options_.pool_share, options_.device_id));
  }

  std::byte* snapshot_data(std::uint32_t snapshot) const {
    if (snapshot >= snapshot_count_) throw Error("snapshot " + std::to_string(snapshot) + " is not in the pool");
    return snapshots_ + snapshot * (amplitude_bytes() << bits_);
  }
  template <typename Pair>
  SecondOpinion opinion(std::optional<std::uint32_t> snapshot) const {
    const Cublas cublas;
    const auto* const state = reinterpret_cast<const Pair*>(state_);
    const std::int64_t count = std::int64_t{1} << bits_;
    SecondOpinion result{"cuBLAS", cublas.norm(state, count, lane(0)), {}};
    if (snapshot) {
      const auto* const other = reinterpret_cast<const Pair*>(snapshot_data(*snapshot));
      result.inner_product = cublas.inner_product(other, state, count, lane(0));
    }
    return result;
  }
  void copy_state(std::byte* to, const std::byte* from) {
    join();
    check(cudaMemcpyAsync(to, from, amplitude_bytes() << bits_, cudaMemcpyDeviceToDevice, lane(0)),
          "cudaMemcpyAsync of a snapshot");
  }

  void move(ChunkView view, std::uint32_t slot, int lane_number, bool unpack) {
    set_device();
    const Index count = bit_mask(count_bits(low_mask(bits_) & ~view.mask));
    if (count * amplitude_bytes() > slot_bytes_) {
      throw Error("a view of " + std::to_string(count) + " amplitudes does not fit a slot of " +
                  std::to_string(slot_bytes_) + " bytes");
    }
    const ViewMap map = view_map(bits_, view.mask, view.value);
    const cudaStream_t stream = use_lane(lane_number);
    std::byte* const packed = slots_.at(slot);
    if (options_.precision == Precision::kDouble) {
      check(launch_pack<double>(reinterpret_cast<double2*>(state_), reinterpret_cast<double2*>(packed), map, count,
                                unpack, stream),
            "launch of pack");
    } else {
      check(launch_pack<float>(reinterpret_cast<float2*>(state_), reinterpret_cast<float2*>(packed), map, count, unpack,
                               stream),
            "launch of pack");
    }
  }

  BackendOptions options_;
  DevicePoolMemory memory_;
  Pool pool_;
  std::deque<PoolFrame> frames_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  std::optional<StreamClock> clock_;
  std::array<bool, kLanes> lane_used_{};
  std::unique_ptr<SweepRunner> runner_;
  std::optional<ReadOuts> readouts_;
  std::vector<Arrival> arrivals_;
  std::uint32_t bits_ = 0;
  std::byte* state_ = nullptr;
  std::byte* snapshots_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::uint64_t snapshot_count_ = 0, slot_bytes_ = 0, scratch_bytes_ = 0;
  std::vector<std::byte*> slots_;
  NormCell* norm_ = nullptr;
};

}  // namespace
}  // namespace qsim::cuda

namespace qsim {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
  return std::make_unique<cuda::CudaBackend>(options);
}

}  // namespace qsim
