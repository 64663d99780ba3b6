// Batches of small circuits on a GPU, cut into slices. One thread copies from and to the caller's memory, values of one
// slice beside the work on another. Pinned memory takes 0.3 ms a MiB to be had, which large batches alone earn back:
// there each of a few threads copies slices through memory of its own that the device reads and writes by itself.
#include "kernels/cuda/batch.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>

#include "base/threads/thread_team.h"
#include "comm/gpu/pinned_buffer.h"
#include "cuda/backend/uploaded_batch.h"
#include "cuda/device_array.h"
#include "device/batch_program.h"
#include "device/gpu_parts.h"

namespace qsim {
namespace cuda {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
// Of a batch's values and answers, from which on pinned memory pays: 7 ms for what threads then save, 0.05 ms a MiB.
constexpr std::uint64_t kStagedBytes = 128 * kMiB;
constexpr int kMostThreads = 8;  // more copy no faster
// Of a slice's values and answers: some thousand circuits; where states do not fit shared memory, slices follow each
// other, and each should occupy the device.
constexpr std::uint64_t kStagedSliceBytes = kMiB, kSliceBytes = 4 * kMiB, kScratchSliceBytes = 256 * kMiB;
constexpr std::uint64_t kSliceAmplitudes = std::uint64_t{1} << 30;  // a second's work at the most: progress is told
constexpr std::size_t kAlignment = 256;

template <typename Real>
class BatchRun {
 public:
  BatchRun(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
           const BatchOutputs& outputs, const BatchWatch& watch)
      : program_(program),
        values_(values),
        evaluations_(evaluations),
        outputs_(outputs),
        watch_(watch),
        uploaded_(program, Stream()),
        scratch_(batch_scratch_amplitudes(program.qubits)),
        threads_(threads_for(evaluations * bytes_each())) {
    const std::uint64_t bytes = staged() ? kStagedSliceBytes : has_scratch() ? kScratchSliceBytes : kSliceBytes;
    const std::uint64_t fit = std::min(bytes / std::max<std::size_t>(1, bytes_each()), kSliceAmplitudes >> qubits());
    slice_ = std::clamp<std::uint64_t>(fit, 1, evaluations);
    count_ = (evaluations + slice_ - 1) / slice_;
    marginals_at_ = take_room(slice_ * parameters() * sizeof(double));
    outcomes_at_ = take_room(marginals() ? slice_ * qubits() * sizeof(double) : 0);
    states_at_ = take_room(outcomes() ? slice_ * shots() * sizeof(std::uint32_t) : 0);
    take_room(states() ? (slice_ << qubits()) * sizeof(Complex) : 0);
  }

  void run(int device) {
    ThreadTeam team(threads_);
    const std::thread::id caller = std::this_thread::get_id();
    team.run(static_cast<std::uint64_t>(threads_), [&](std::uint64_t, int) {
      try {
        check(cudaSetDevice(device), "cudaSetDevice");
        take_slices(std::this_thread::get_id() == caller);
      } catch (...) {
        next_ = count_;  // the others end with the slice that they have
        throw;
      }
    });
    if (watch_) watch_(1);
  }

 private:
  /// Memory and a queue for a slice: its values, then its answers.
  struct Slot {
    explicit Slot(const BatchRun& of) : device(of.room_), host(of.staged() ? of.room_ : 0, check) {}
    /// The device may still be at work where a run ends by an error.
    ~Slot() { cudaStreamSynchronize(stream.get()); }
    std::byte* at(std::size_t place) const { return static_cast<std::byte*>(host.data()) + place; }
    DeviceArray<std::byte> device;
    PinnedBuffer host;  // as the device's; none where the caller's memory is copied
    Stream stream;
    std::size_t first = 0, count = 0;  // the evaluations in it; 0: it is free
  };

  std::size_t qubits() const { return program_.qubits; }
  std::size_t parameters() const { return program_.parameters; }
  std::size_t shots() const { return outputs_.shots; }
  bool marginals() const { return !outputs_.marginals.empty(); }
  bool outcomes() const { return !outputs_.outcomes.empty(); }
  bool states() const { return !outputs_.states.empty(); }
  bool has_scratch() const { return scratch_.get() != nullptr; }
  bool staged() const { return threads_ > 1; }

  /// Values and answers of an evaluation.
  std::size_t bytes_each() const {
    return sizeof(double) * (parameters() + (marginals() ? qubits() : 0)) +
           (outcomes() ? sizeof(std::uint32_t) * shots() : 0) + (states() ? sizeof(Complex) << qubits() : 0);
  }
  /// Several where slices are staged.
  int threads_for(std::uint64_t bytes) const {
    return has_scratch() || bytes <= kStagedBytes ? 1 : std::min(kMostThreads, affinity_threads());
  }
  /// Where what follows these bytes in a slot begins.
  std::size_t take_room(std::size_t bytes) {
    room_ = (room_ + bytes + kAlignment - 1) / kAlignment * kAlignment;
    return room_;
  }

  /// `tells`: how far the batch is, which only the caller's thread may.
  void take_slices(bool tells) {
    std::deque<Slot> slots;
    // A thread of several has the others' work beside its copies; slices that share scratch memory follow each other.
    const std::size_t beside = staged() || has_scratch() ? 1 : 2;
    for (std::size_t turn = 0;; ++turn) {
      if (turn >= beside) finish(slots[turn % beside], tells);
      const std::size_t number = next_++;
      if (number >= count_) break;
      if (turn < beside) slots.emplace_back(*this);
      start(slots[turn % beside], number);
    }
    for (Slot& slot : slots) finish(slot, tells);
  }

  void start(Slot& slot, std::size_t number) {
    slot.first = number * slice_;
    slot.count = std::min(slice_, evaluations_ - slot.first);
    const auto values = values_.subspan(slot.first * parameters(), slot.count * parameters());
    require_finite_angles(program_, values);
    if (staged()) std::copy_n(std::as_bytes(values).data(), values.size_bytes(), slot.at(0));
    slot.device.upload(staged() ? static_cast<const void*>(slot.at(0)) : values.data(), values.size_bytes(),
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
    work.first = slot.first;
    work.evaluations = slot.count;
    check(launch_batch(work, slot.stream.get()), "launch of a batch");
  }

  /// Brings a slice's answers to the caller's memory.
  void finish(Slot& slot, bool tells) {
    if (slot.count == 0) return;
    const auto each_answer = [&](const auto& take) {
      const auto part = [&](const auto& answers, std::size_t each, std::size_t place) {
        if (!answers.empty())
          take(std::as_writable_bytes(answers.subspan(slot.first * each, slot.count * each)), place);
      };
      part(outputs_.marginals, qubits(), marginals_at_);
      part(outputs_.outcomes, shots(), outcomes_at_);
      part(outputs_.states, std::size_t{1} << qubits(), states_at_);
    };
    each_answer([&](std::span<std::byte> answers, std::size_t place) {
      slot.device.download(staged() ? slot.at(place) : answers.data(), answers.size(), slot.stream, place);
    });
    check(cudaStreamSynchronize(slot.stream.get()), "cudaStreamSynchronize after a batch");
    if (staged()) {
      each_answer([&](std::span<std::byte> answers, std::size_t place) {
        std::copy_n(slot.at(place), answers.size(), answers.data());
      });
    }
    done_ += std::exchange(slot.count, 0);
    if (tells && watch_) watch_(static_cast<double>(done_) / static_cast<double>(evaluations_));
  }

  const BatchProgram& program_;
  const std::span<const double> values_;
  const std::size_t evaluations_;
  const BatchOutputs& outputs_;
  const BatchWatch& watch_;
  const UploadedBatch uploaded_;
  const DeviceArray<Amplitude<Real>> scratch_;
  const int threads_;
  std::size_t slice_ = 0, count_ = 0;                                          // evaluations of a slice, slices
  std::size_t room_ = 0, marginals_at_ = 0, outcomes_at_ = 0, states_at_ = 0;  // bytes of a slot and places in it
  std::atomic<std::size_t> next_{0}, done_{0};
};

}  // namespace
}  // namespace cuda

void run_batch_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const Target& target, const BatchWatch& watch) {
  const int device = batch_gpu(target);
  cuda::use_device(device);
  if (target.precision == Precision::kDouble) {
    cuda::BatchRun<double>(program, values, evaluations, outputs, watch).run(device);
  } else {
    cuda::BatchRun<float>(program, values, evaluations, outputs, watch).run(device);
  }
}

}  // namespace qsim
