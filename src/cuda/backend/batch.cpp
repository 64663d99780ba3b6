// Batches of small circuits on a GPU, cut into slices: while the device works on one, threads of the host copy the next
// one's values to memory that the device reads by itself, and the answers of the one before to where they belong.
#include "kernels/cuda/batch.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "base/threads/thread_team.h"
#include "cuda/device_array.h"
#include "device/batch_program.h"
#include "device/gpu_parts.h"

namespace qsim {
namespace cuda {
namespace {

// Of a slice's values and answers. Pinning memory takes 0.3 ms a MiB, so that slices are as short as launches allow.
constexpr std::uint64_t kSliceBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMostSliceBytes = std::uint64_t{1} << 30;  // where states do not fit shared memory
constexpr std::size_t kSlices = 3;                                 // at a time: filled, computed, emptied
constexpr std::size_t kPieceBytes = std::size_t{128} << 10;        // that a thread copies at a time
constexpr int kMostThreads = 8;                                    // more copy no faster

/// Host memory that the device reads and writes by itself.
template <typename Value>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t count) {
    if (count > 0) check(cudaMallocHost(&data_, count * sizeof(Value)), "cudaMallocHost of a batch");
  }
  ~PinnedArray() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  Value* get() const { return static_cast<Value*>(data_); }

 private:
  void* data_ = nullptr;
};

/// An array of the host beside its array on the device, for a slice.
template <typename Value>
struct Both {
  explicit Both(std::size_t count) : host(count), device(count) {}
  PinnedArray<Value> host;
  DeviceArray<Value> device;
};

/// What does not change from slice to slice.
class Uploaded {
 public:
  Uploaded(const BatchProgram& program, const Stream& stream)
      : ops(program.ops.size()), angles(program.angles.size()), matrices(program.matrices.size()) {
    ops.upload(program.ops.data(), program.ops.size() * sizeof(BatchOp), stream);
    angles.upload(program.angles.data(), program.angles.size() * sizeof(BatchAngle), stream);
    matrices.upload(program.matrices.data(), program.matrices.size() * sizeof(Complex), stream);
    check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize before a batch");
  }
  DeviceArray<BatchOp> ops;
  DeviceArray<BatchAngle> angles;
  DeviceArray<double2> matrices;
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
        scratch_(batch_scratch_amplitudes(program.qubits)),
        team_(std::min(kMostThreads, affinity_threads())) {
    const std::uint64_t each = 8 * parameters() + (marginals() ? 8 * qubits() : 0) + (outcomes() ? 4 * shots() : 0) +
                               (states() ? sizeof(std::complex<Real>) << qubits() : 0);
    const std::uint64_t bytes = scratch_.get() == nullptr ? kSliceBytes : kMostSliceBytes;
    const std::uint64_t fit = std::max<std::uint64_t>(1, bytes / std::max<std::uint64_t>(1, each));
    slice_ = std::max<std::size_t>(1, std::min<std::uint64_t>(evaluations, fit));
    const std::size_t count = (evaluations + slice_ - 1) / slice_;
    // Slices that share scratch memory follow each other.
    const std::size_t at_a_time = scratch_.get() == nullptr ? std::min(kSlices, count) : 1;
    for (std::size_t i = 0; i < at_a_time; ++i) slices_.push_back(std::make_unique<Slice>(*this));
  }

  void run() {
    std::size_t number = 0;
    for (std::size_t first = 0; first < evaluations_; first += slice_, ++number) {
      Slice& slice = *slices_[number % slices_.size()];
      empty(slice);
      fill(slice, first);
    }
    for (std::size_t i = 0; i < slices_.size(); ++i) empty(*slices_[(number + i) % slices_.size()]);
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
    std::size_t first = 0, count = 0;  // the evaluations in it; 0: it is free
  };

  std::size_t qubits() const { return program_.qubits; }
  std::size_t parameters() const { return program_.parameters; }
  std::size_t shots() const { return outputs_.shots; }
  bool marginals() const { return !outputs_.marginals.empty(); }
  bool outcomes() const { return !outputs_.outcomes.empty(); }
  bool states() const { return !outputs_.states.empty(); }

  /// `to` [i] = `from` [i], by all threads.
  template <typename From, typename To>
  void copy(const From* from, std::size_t count, To* to) {
    const std::size_t each = kPieceBytes / sizeof(To);
    team_.run((count + each - 1) / each, [&](std::uint64_t piece, int) {
      const std::size_t begin = piece * each;
      std::copy_n(from + begin, std::min(each, count - begin), to + begin);
    });
  }

  void fill(Slice& slice, std::size_t first) {
    slice.first = first;
    slice.count = std::min(slice_, evaluations_ - first);
    const std::size_t count = slice.count;
    copy(values_.data() + first * parameters(), count * parameters(), slice.values.host.get());
    slice.values.device.upload(slice.values.host.get(), count * parameters() * sizeof(double), slice.stream);
    BatchWork<Real> work;
    work.ops = uploaded_.ops.get();
    work.angles = uploaded_.angles.get();
    work.matrices = uploaded_.matrices.get();
    work.values = slice.values.device.get();
    work.marginals = slice.marginals.device.get();
    work.outcomes = slice.outcomes.device.get();
    work.states = slice.states.device.get();
    work.scratch = scratch_.get();
    work.qubits = program_.qubits;
    work.parameters = program_.parameters;
    work.op_count = static_cast<std::uint32_t>(program_.ops.size());
    work.shots = outputs_.shots;
    work.seed = outputs_.seed;
    work.first = first;
    work.evaluations = count;
    check(launch_batch(work, slice.stream.get()), "launch of a batch");
    const auto fetch = [&](const auto& both, std::size_t values, bool wanted) {
      if (wanted) both.device.download(both.host.get(), values * sizeof(*both.host.get()), slice.stream);
    };
    fetch(slice.marginals, count * qubits(), marginals());
    fetch(slice.outcomes, count * shots(), outcomes());
    fetch(slice.states, count << qubits(), states());
  }

  /// Waits for the slice, and brings its answers to the caller's memory.
  void empty(Slice& slice) {
    const std::size_t first = slice.first, count = std::exchange(slice.count, 0);
    if (count == 0) return;
    check(cudaStreamSynchronize(slice.stream.get()), "cudaStreamSynchronize after a batch");
    if (marginals()) {
      copy(slice.marginals.host.get(), count * qubits(), outputs_.marginals.data() + first * qubits());
    }
    if (outcomes()) copy(slice.outcomes.host.get(), count * shots(), outputs_.outcomes.data() + first * shots());
    if (states()) {
      const auto* const found = reinterpret_cast<const std::complex<Real>*>(slice.states.host.get());
      copy(found, count << qubits(), outputs_.states.data() + (first << qubits()));
    }
    if (watch_) watch_(static_cast<double>(first + count) / static_cast<double>(evaluations_));
  }

  const BatchProgram& program_;
  const std::span<const double> values_;
  const std::size_t evaluations_;
  const BatchOutputs& outputs_;
  const BatchWatch& watch_;
  const Uploaded uploaded_;
  const DeviceArray<Amplitude<Real>> scratch_;
  ThreadTeam team_;
  std::size_t slice_ = 0;
  std::vector<std::unique_ptr<Slice>> slices_;
};

}  // namespace
}  // namespace cuda

void run_batch_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const Target& target, const BatchWatch& watch) {
  cuda::use_device(batch_gpu(target));
  if (target.precision == Precision::kDouble) {
    cuda::BatchRun<double>(program, values, evaluations, outputs, watch).run();
  } else {
    cuda::BatchRun<float>(program, values, evaluations, outputs, watch).run();
  }
}

}  // namespace qsim
