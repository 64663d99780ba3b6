// Batches of small circuits on a GPU, cut into slices. Each of a few threads takes one after the other: it copies a
// slice's values to memory that the device reads by itself, lets the device work, and copies the answers to where they
// belong.
#include "kernels/cuda/batch.h"

#include <algorithm>
#include <atomic>
#include <complex>
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

// Of a slice's values and answers: some thousand circuits. Pinning memory takes 0.3 ms a MiB.
constexpr std::uint64_t kSliceBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostSliceBytes = std::uint64_t{256} << 20;  // where states do not fit shared memory
constexpr int kMostThreads = 8;                                      // more copy no faster
constexpr int kSlicesAThread = 8;  // or more, so that each earns what its memory takes to be pinned

/// An array of the host beside its array on the device, for a slice.
template <typename Value>
struct Both {
  explicit Both(std::size_t count) : pinned(count * sizeof(Value), check), device(count) {}
  Value* host() const { return static_cast<Value*>(pinned.data()); }
  PinnedBuffer pinned;
  DeviceArray<Value> device;
};

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
        scratch_(batch_scratch_amplitudes(program.qubits)) {
    const std::uint64_t each = 8 * parameters() + (marginals() ? 8 * qubits() : 0) + (outcomes() ? 4 * shots() : 0) +
                               (states() ? sizeof(std::complex<Real>) << qubits() : 0);
    const std::uint64_t bytes = scratch_.get() == nullptr ? kSliceBytes : kMostSliceBytes;
    const std::uint64_t fit = std::max<std::uint64_t>(1, bytes / std::max<std::uint64_t>(1, each));
    slice_ = std::max<std::size_t>(1, std::min<std::uint64_t>(evaluations, fit));
    count_ = (evaluations + slice_ - 1) / slice_;
  }

  void run(int device) {
    // Slices that share scratch memory follow each other.
    const std::size_t pays = std::clamp<std::size_t>(count_ / kSlicesAThread, 1, kMostThreads);
    const std::size_t at_a_time = scratch_.get() == nullptr ? pays : 1;
    ThreadTeam team(std::min(static_cast<int>(at_a_time), affinity_threads()));
    const std::thread::id caller = std::this_thread::get_id();
    team.run(at_a_time, [&](std::uint64_t, int) {
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
  struct Slice {
    explicit Slice(const BatchRun& of)
        : values(of.slice_ * of.parameters()),
          marginals(of.marginals() ? of.slice_ * of.qubits() : 0),
          outcomes(of.outcomes() ? of.slice_ * of.shots() : 0),
          states(of.states() ? of.slice_ << of.qubits() : 0) {}
    /// The device may still be at work where a run ends by an error.
    ~Slice() { cudaStreamSynchronize(stream.get()); }
    Stream stream;
    Both<double> values, marginals;
    Both<std::uint32_t> outcomes;
    Both<Amplitude<Real>> states;
  };

  std::size_t qubits() const { return program_.qubits; }
  std::size_t parameters() const { return program_.parameters; }
  std::size_t shots() const { return outputs_.shots; }
  bool marginals() const { return !outputs_.marginals.empty(); }
  bool outcomes() const { return !outputs_.outcomes.empty(); }
  bool states() const { return !outputs_.states.empty(); }

  /// `tells`: how far the batch is, which only the caller's thread may.
  void take_slices(bool tells) {
    if (next_ >= count_) return;
    Slice slice(*this);
    for (std::size_t number = next_++; number < count_; number = next_++) {
      const std::size_t first = number * slice_, count = std::min(slice_, evaluations_ - first);
      start(slice, first, count);
      check(cudaStreamSynchronize(slice.stream.get()), "cudaStreamSynchronize after a batch");
      hand_out(slice, first, count);
      done_ += count;
      if (tells && watch_) watch_(static_cast<double>(done_) / static_cast<double>(evaluations_));
    }
  }

  void start(Slice& slice, std::size_t first, std::size_t count) {
    require_finite_angles(program_, values_.subspan(first * parameters(), count * parameters()));
    std::copy_n(values_.data() + first * parameters(), count * parameters(), slice.values.host());
    slice.values.device.upload(slice.values.host(), count * parameters() * sizeof(double), slice.stream);
    BatchWork<Real> work;
    work.program = uploaded_.arrays();
    work.values = slice.values.device.get();
    work.marginals = slice.marginals.device.get();
    work.outcomes = slice.outcomes.device.get();
    work.states = slice.states.device.get();
    work.scratch = scratch_.get();
    work.shots = outputs_.shots;
    work.seed = outputs_.seed;
    work.first = first;
    work.evaluations = count;
    check(launch_batch(work, slice.stream.get()), "launch of a batch");
    const auto fetch = [&](const auto& both, std::size_t values, bool wanted) {
      if (wanted) both.device.download(both.host(), values * sizeof(*both.host()), slice.stream);
    };
    fetch(slice.marginals, count * qubits(), marginals());
    fetch(slice.outcomes, count * shots(), outcomes());
    fetch(slice.states, count << qubits(), states());
  }

  void hand_out(const Slice& slice, std::size_t first, std::size_t count) {
    if (marginals()) {
      std::copy_n(slice.marginals.host(), count * qubits(), outputs_.marginals.data() + first * qubits());
    }
    if (outcomes()) std::copy_n(slice.outcomes.host(), count * shots(), outputs_.outcomes.data() + first * shots());
    if (states()) {
      const auto* const found = reinterpret_cast<const std::complex<Real>*>(slice.states.host());
      std::copy_n(found, count << qubits(), outputs_.states.data() + (first << qubits()));
    }
  }

  const BatchProgram& program_;
  const std::span<const double> values_;
  const std::size_t evaluations_;
  const BatchOutputs& outputs_;
  const BatchWatch& watch_;
  const UploadedBatch uploaded_;
  const DeviceArray<Amplitude<Real>> scratch_;
  std::size_t slice_ = 0, count_ = 0;  // evaluations of a slice, slices
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
