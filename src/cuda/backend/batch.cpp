// Batches of small circuits on a GPU, cut into slices that fit its memory.
#include "kernels/cuda/batch.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "cuda/device_array.h"
#include "device/batch_program.h"
#include "device/gpu_parts.h"

namespace qsim {
namespace cuda {
namespace {

constexpr std::uint64_t kSliceBytes = std::uint64_t{1} << 30;

template <typename Real>
void run(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
         const BatchOutputs& outputs, const BatchWatch& watch) {
  const std::size_t qubits = program.qubits, parameters = program.parameters, shots = outputs.shots;
  const bool marginals = !outputs.marginals.empty(), outcomes = !outputs.outcomes.empty();
  const bool states = !outputs.states.empty();
  const std::uint64_t each = 8 * parameters + (marginals ? 8 * qubits : 0) + (outcomes ? 4 * shots : 0) +
                             (states ? sizeof(std::complex<Real>) << qubits : 0);
  const std::size_t slice =
      std::min<std::uint64_t>(evaluations, std::max<std::uint64_t>(1, kSliceBytes / std::max<std::uint64_t>(1, each)));
  const Stream stream;
  const DeviceArray<BatchOp> ops(program.ops.size());
  const DeviceArray<BatchAngle> angles(program.angles.size());
  const DeviceArray<double2> matrices(program.matrices.size());
  const DeviceArray<Amplitude<Real>> scratch(batch_scratch_amplitudes(program.qubits));
  const DeviceArray<double> device_values(slice * parameters), device_marginals(marginals ? slice * qubits : 0);
  const DeviceArray<std::uint32_t> device_outcomes(outcomes ? slice * shots : 0);
  const DeviceArray<Amplitude<Real>> device_states(states ? slice << qubits : 0);
  std::vector<std::complex<Real>> arrived(states && sizeof(Real) == 4 ? slice << qubits
                                                                      : 0);  // before they are widened
  ops.upload(program.ops.data(), program.ops.size() * sizeof(BatchOp), stream);
  angles.upload(program.angles.data(), program.angles.size() * sizeof(BatchAngle), stream);
  matrices.upload(program.matrices.data(), program.matrices.size() * sizeof(Complex), stream);
  BatchWork<Real> work;
  work.ops = ops.get();
  work.angles = angles.get();
  work.matrices = matrices.get();
  work.values = device_values.get();
  work.marginals = device_marginals.get();
  work.outcomes = device_outcomes.get();
  work.states = device_states.get();
  work.scratch = scratch.get();
  work.qubits = program.qubits;
  work.parameters = program.parameters;
  work.op_count = static_cast<std::uint32_t>(program.ops.size());
  work.shots = outputs.shots;
  work.seed = outputs.seed;
  for (std::size_t first = 0; first < evaluations; first += slice) {
    work.first = first;
    work.evaluations = std::min(slice, evaluations - first);
    const std::size_t count = work.evaluations;
    device_values.upload(values.data() + first * parameters, count * parameters * sizeof(double), stream);
    check(launch_batch(work, stream.get()), "launch of a batch");
    if (marginals) {
      device_marginals.download(outputs.marginals.data() + first * qubits, count * qubits * sizeof(double), stream);
    }
    if (outcomes) {
      device_outcomes.download(outputs.outcomes.data() + first * shots, count * shots * sizeof(std::uint32_t), stream);
    }
    const std::span<Complex> wanted =
        states ? outputs.states.subspan(first << qubits, count << qubits) : std::span<Complex>();
    if (arrived.empty()) {
      device_states.download(wanted.data(), wanted.size_bytes(), stream);
    } else {
      device_states.download(arrived.data(), wanted.size() * sizeof(std::complex<Real>), stream);
    }
    check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize after a batch");
    if (!arrived.empty()) std::copy_n(arrived.begin(), wanted.size(), wanted.begin());
    if (watch) watch(static_cast<double>(first + count) / static_cast<double>(evaluations));
  }
}

}  // namespace
}  // namespace cuda

void run_batch_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                      const BatchOutputs& outputs, const Target& target, const BatchWatch& watch) {
  cuda::use_device(batch_gpu(target));
  const auto run = target.precision == Precision::kDouble ? cuda::run<double> : cuda::run<float>;
  run(program, values, evaluations, outputs, watch);
}

}  // namespace qsim
