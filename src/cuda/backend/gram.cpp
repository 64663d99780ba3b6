// Gram matrices of batches on a GPU: the states never leave it.
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "cuda/backend/uploaded_batch.h"
#include "cuda/device_array.h"
#include "cuda/read_out/cublas.h"
#include "device/batch/batch_device.h"
#include "kernels/cuda/batch.h"
#include "qsim/error.h"

namespace qsim {
namespace cuda {
namespace {

void require_room(std::uint64_t wanted, const BatchProgram& program, std::size_t evaluations, int device) {
  const std::uint64_t free = device_facts(device).free_bytes;
  if (wanted <= free / 100 * 95) return;
  throw CapacityError(std::to_string(evaluations) + " states of " + std::to_string(program.qubits) + " qubits need " +
                          format_bytes(wanted) + " on the GPU, which has " + format_bytes(free) + " free",
                      wanted, free);
}

/// Into `states`, one behind the other.
template <typename Real>
void make_states(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                 const DeviceArray<double2>& states, const Stream& stream) {
  require_finite_angles(program, values);
  const UploadedBatch uploaded(program, stream);
  const DeviceArray<double> device_values(values.size());
  const DeviceArray<Amplitude<Real>> scratch(batch_scratch_amplitudes(program.qubits));
  device_values.upload(values.data(), values.size_bytes(), stream);
  BatchWork<Real> work;
  work.program = uploaded.arrays();
  work.values = device_values.get();
  work.states = states.get();
  work.scratch = scratch.get();
  work.evaluations = evaluations;
  check(launch_batch(work, stream.get()), "launch of a batch");
  check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize after a batch");
}

}  // namespace
}  // namespace cuda

BatchGramTimes run_gram_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                               std::span<Complex> gram, const BackendOptions& options) {
  using namespace cuda;
  use_device(options.device_id);
  require_room((evaluations * sizeof(Complex) << program.qubits) + gram.size_bytes(), program, evaluations,
               options.device_id);
  BatchGramTimes times;
  Clock::time_point start = Clock::now();
  const Stream stream;
  const DeviceArray<double2> states(evaluations << program.qubits);
  const auto make = options.precision == Precision::kDouble ? make_states<double> : make_states<float>;
  make(program, values, evaluations, states, stream);
  times.prepare_seconds = seconds_since(start);
  start = Clock::now();
  const Cublas cublas;
  const DeviceArray<double2> products(gram.size());
  const auto columns = static_cast<std::int64_t>(evaluations);
  cublas.products_of_columns(states.get(), std::int64_t{1} << program.qubits, columns, products.get(), stream);
  // Column-major: column j of the result is row j of the caller's matrix until it is conjugated.
  products.download(gram.data(), gram.size_bytes(), stream);
  check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize after products");
  for (std::size_t j = 0; j < evaluations; ++j) {
    for (std::size_t i = 0; i <= j; ++i) {
      const Complex product = gram[j * evaluations + i];  // <i|j>
      gram[i * evaluations + j] = product;
      gram[j * evaluations + i] = std::conj(product);
    }
  }
  times.product_seconds = seconds_since(start);
  return times;
}

}  // namespace qsim
