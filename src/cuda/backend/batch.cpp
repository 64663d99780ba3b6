// Batches of small circuits on a GPU, cut into slices. Each of a few threads takes one after the other: it copies a
// slice's values to memory that the device reads by itself, lets the device work, and copies the answers to where they
// belong.
#include "kernels/cuda/batch.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads/thread_team.h"
#include "comm/gpu/pinned_buffer.h"
#include "cuda/backend/uploaded_batch.h"
#include "cuda/device_array.h"
#include "device/batch/batch_device.h"

namespace qsim {
namespace cuda {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::size_t kAlignment = 256;
// A slot holds the values and answers of some thousand circuits. Where those of one do not fit, and where states do not
// fit shared memory, one thread copies from and to the caller's memory, larger slices one behind the other.
constexpr std::uint64_t kSlotBytes = kMiB, kDirectBytes = 256 * kMiB;
constexpr std::uint64_t kSliceAmplitudes = std::uint64_t{1} << 30;  // a second's work at the most: progress is told
constexpr std::size_t kMostThreads = 8;                             // more copy no faster
constexpr std::size_t kSlicesAThread = 8;  // or more, so that each earns what its slot takes to be made

/// Memory and a queue for a slice: its values, then its answers.
struct Slot {
  Slot(int on, std::size_t bytes, bool staged) : gpu(on), device(bytes), host(staged ? bytes : 0, check) {}
  /// The device may still be at work where a run ends by an error.
  ~Slot() { cudaStreamSynchronize(stream.get()); }
  std::byte* at(std::size_t place) const { return static_cast<std::byte*>(host.data()) + place; }
  const int gpu;
  DeviceArray<std::byte> device;
  PinnedBuffer host;  // as the device's; none where the caller's memory is copied
  Stream stream;
};

/// Slots of kSlotBytes wait here for the next call: to pin a MiB takes 0.3 ms, as long as 10,000 circuits.
class IdleSlots {
 public:
  /// Of the process. Never destroyed: the driver ends before static objects do.
  static IdleSlots& instance() {
    static IdleSlots* const slots = new IdleSlots;
    return *slots;
  }
  std::size_t count(int gpu) {
    const std::lock_guard lock(mutex_);
    return count_of(gpu);
  }
  /// Null where there is none.
  std::unique_ptr<Slot> take(int gpu) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(slots_, gpu, [](const auto& slot) { return slot->gpu; });
    if (found == slots_.end()) return nullptr;
    std::unique_ptr<Slot> slot = std::move(*found);
    slots_.erase(found);
    return slot;
  }
  void put(std::unique_ptr<Slot> slot) {
    const std::lock_guard lock(mutex_);
    if (count_of(slot->gpu) < kMostThreads) slots_.push_back(std::move(slot));
  }

 private:
  std::size_t count_of(int gpu) const {
    return static_cast<std::size_t>(std::ranges::count(slots_, gpu, [](const auto& slot) { return slot->gpu; }));
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

template <typename Real>
class BatchRun {
 public:
  BatchRun(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
           const BatchOutputs& outputs, const BatchWatch& watch, int gpu)
      : program_(program),
        values_(values),
        evaluations_(evaluations),
        outputs_(outputs),
        watch_(watch),
        gpu_(gpu),
        uploaded_(program, Stream()),
        scratch_(batch_scratch_amplitudes(program.qubits)) {
    constexpr std::uint64_t kSlotRoom = kSlotBytes - 4 * kAlignment;
    const std::uint64_t each = std::max<std::uint64_t>(1, bytes_each());
    staged_ = scratch_.get() == nullptr && each <= kSlotRoom;
    const std::uint64_t fit = std::min((staged_ ? kSlotRoom : kDirectBytes) / each, kSliceAmplitudes >> qubits());
    slice_ = std::clamp<std::uint64_t>(fit, 1, evaluations);
    count_ = (evaluations + slice_ - 1) / slice_;
    marginals_at_ = take_room(slice_ * parameters() * sizeof(double));
    outcomes_at_ = take_room(marginals() ? slice_ * qubits() * sizeof(double) : 0);
    states_at_ = take_room(outcomes() ? slice_ * shots() * sizeof(std::uint32_t) : 0);
    take_room(states() ? (slice_ << qubits()) * sizeof(Complex) : 0);
  }

  void run() {
    const std::size_t threads = count_threads();
    ThreadTeam team(static_cast<int>(threads));
    const std::thread::id caller = std::this_thread::get_id();
    team.run(threads, [&](std::uint64_t, int) {
      try {
        check(cudaSetDevice(gpu_), "cudaSetDevice");
        take_slices(std::this_thread::get_id() == caller);
      } catch (...) {
        next_ = count_;  // the others end with the slice that they have
        throw;
      }
    });
    if (watch_) watch_(1);
  }

 private:
  std::size_t qubits() const { return program_.qubits; }
  std::size_t parameters() const { return program_.parameters; }
  std::size_t shots() const { return outputs_.shots; }
  bool marginals() const { return !outputs_.marginals.empty(); }
  bool outcomes() const { return !outputs_.outcomes.empty(); }
  bool states() const { return !outputs_.states.empty(); }

  /// Values and answers of an evaluation.
  std::size_t bytes_each() const {
    return sizeof(double) * (parameters() + (marginals() ? qubits() : 0)) +
           (outcomes() ? sizeof(std::uint32_t) * shots() : 0) + (states() ? sizeof(Complex) << qubits() : 0);
  }
  /// Each call makes at most one slot more than it earns back, so that many small ones come to as many as help.
  std::size_t count_threads() const {
    if (!staged_) return 1;
    const std::size_t most = std::min({kMostThreads, static_cast<std::size_t>(affinity_threads()), count_});
    return std::clamp(std::max(IdleSlots::instance().count(gpu_) + 1, count_ / kSlicesAThread), std::size_t{1}, most);
  }
  /// Where what follows these bytes in a slot begins.
  std::size_t take_room(std::size_t bytes) {
    room_ = (room_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return room_;
  }

  /// `tells`: how far the batch is, which only the caller's thread may.
  void take_slices(bool tells) {
    if (next_ >= count_) return;
    std::unique_ptr<Slot> slot = staged_ ? IdleSlots::instance().take(gpu_) : nullptr;
    if (slot == nullptr) slot = std::make_unique<Slot>(gpu_, staged_ ? kSlotBytes : room_, staged_);
    for (std::size_t number = next_++; number < count_; number = next_++) {
      const std::size_t first = number * slice_, count = std::min(slice_, evaluations_ - first);
      start(*slot, first, count);
      finish(*slot, first, count);
      done_ += count;
      if (tells && watch_) watch_(static_cast<double>(done_) / static_cast<double>(evaluations_));
    }
    if (staged_) IdleSlots::instance().put(std::move(slot));
  }

  void start(const Slot& slot, std::size_t first, std::size_t count) {
    const auto values = values_.subspan(first * parameters(), count * parameters());
    require_finite_angles(program_, values);
    if (staged_) std::copy_n(std::as_bytes(values).data(), values.size_bytes(), slot.at(0));
    slot.device.upload(staged_ ? static_cast<const void*>(slot.at(0)) : values.data(), values.size_bytes(),
                       slot.stream);
    std::byte* const memory = slot.device.get();
    BatchWork<Real> work;
    work.program = uploaded_.arrays();
    work.values = reinterpret_cast<const double*>(memory);
    if (marginals()) work.marginals = reinterpret_cast<double*>(memory + marginals_at_);
    if (outcomes()) work.outcomes = reinterpret_cast<std::uint32_t*>(memory + outcomes_at_);
    if (states()) work.states = reinterpret_cast<double2*>(memory + states_at_);
    work.scratch = scratch_.get();
    work.shots = outputs_.shots;
    work.seed = outputs_.seed;
    work.first = first;
    work.evaluations = count;
    check(launch_batch(work, slot.stream.get()), "launch of a batch");
  }

  /// Brings a slice's answers to the caller's memory.
  void finish(const Slot& slot, std::size_t first, std::size_t count) {
    const auto each_answer = [&](const auto& take) {
      const auto part = [&](const auto& answers, std::size_t each, std::size_t place) {
        if (!answers.empty()) take(std::as_writable_bytes(answers.subspan(first * each, count * each)), place);
      };
      part(outputs_.marginals, qubits(), marginals_at_);
      part(outputs_.outcomes, shots(), outcomes_at_);
      part(outputs_.states, std::size_t{1} << qubits(), states_at_);
    };
    each_answer([&](std::span<std::byte> answers, std::size_t place) {
      slot.device.download(staged_ ? slot.at(place) : answers.data(), answers.size(), slot.stream, place);
    });
    check(cudaStreamSynchronize(slot.stream.get()), "cudaStreamSynchronize after a batch");
    if (!staged_) return;
    each_answer([&](std::span<std::byte> answers, std::size_t place) {
      std::copy_n(slot.at(place), answers.size(), answers.data());
    });
  }

  const BatchProgram& program_;
  const std::span<const double> values_;
  const std::size_t evaluations_;
  const BatchOutputs& outputs_;
  const BatchWatch& watch_;
  const int gpu_;
  const UploadedBatch uploaded_;
  const DeviceArray<Amplitude<Real>> scratch_;
  bool staged_ = false;                                                        // through slots' host memory
  std::size_t slice_ = 0, count_ = 0;                                          // evaluations of a slice, slices
  std::size_t room_ = 0, marginals_at_ = 0, outcomes_at_ = 0, states_at_ = 0;  // bytes of a slot and places in it
  std::atomic<std::size_t> next_{0}, done_{0};
};

}  // namespace
}  // namespace cuda

void run_batch_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const BackendOptions& options, const BatchWatch& watch) {
  cuda::use_device(options.device_id);
  if (options.precision == Precision::kDouble) {
    cuda::BatchRun<double>(program, values, evaluations, outputs, watch, options.device_id).run();
  } else {
    cuda::BatchRun<float>(program, values, evaluations, outputs, watch, options.device_id).run();
  }
}

}  // namespace qsim
