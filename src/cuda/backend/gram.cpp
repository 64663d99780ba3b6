// Gram matrices of batches on a GPU: the states never leave it.
#include <string>

#include "base/clock.h"
#include "base/text.h"
#include "cuda/backend/uploaded_batch.h"
#include "cuda/device_array.h"
#include "cuda/read_out/cublas.h"
#include "device/gpu_parts.h"
#include "kernels/cuda/batch.h"
#include "qsim/error.h"

namespace qsim {

BatchGramTimes run_gram_on_gpu(const BatchProgram& program, std::span<const double> values, std::size_t evaluations,
                               std::span<Complex> gram, const Target& target) {
  using namespace cuda;
  const int device = batch_gpu(target);
  use_device(device);
  const std::uint64_t wanted = (evaluations * sizeof(Complex) << program.qubits) + gram.size_bytes();
  const std::uint64_t free = device_facts(device).free_bytes;
  if (wanted > free / 100 * 95) {
    throw CapacityError(std::to_string(evaluations) + " states of " + std::to_string(program.qubits) + " qubits need " +
                            format_bytes(wanted) + " on the GPU, which has " + format_bytes(free) + " free",
                        wanted, free);
  }
  BatchGramTimes times;
  Clock::time_point start = Clock::now();
  const Stream stream;
  require_finite_angles(program, values);
  const UploadedBatch uploaded(program, stream);
  const DeviceArray<double> device_values(values.size());
  const DeviceArray<double2> scratch(batch_scratch_amplitudes(program.qubits)), states(evaluations << program.qubits);
  device_values.upload(values.data(), values.size_bytes(), stream);
  BatchWork<double> work;
  work.program = uploaded.arrays();
  work.values = device_values.get();
  work.states = states.get();
  work.scratch = scratch.get();
  work.evaluations = evaluations;
  check(launch_batch(work, stream.get()), "launch of a batch");
  check(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize after a batch");
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
