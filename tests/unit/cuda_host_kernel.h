// Generated kernels, and the interpreter's, compiled for the host and run there, a coroutine for each of a block's
// threads: what their text does, barriers included, without a GPU.
#pragma once

#include <memory>
#include <vector>

#include "cuda/generate/generate.h"

namespace qsim::test {

/// Whether there is a C++ compiler to do it with.
bool host_compiler_exists();

/// Of which GPUs the instructions are used.
enum class HostGpu { kHopper, kOlder };

/// Runs the kernel of `program` on all its tiles of `state`; throws std::runtime_error where the text does not compile.
/// Of a program with arrivals all parts but the first lie elsewhere, and what is in their places has no meaning.
/// Returns the norm that the kernel adds up.
double run_generated(const cuda::TileProgram& program, std::vector<Complex>& state, HostGpu gpu = HostGpu::kHopper);
/// The same; of a program that sums bits, what a backend gives as bit_probabilities.
std::vector<double> run_summing(const cuda::TileProgram& program, std::vector<Complex>& state);

/// The kernel of a sweep that permutes all of 2^bits amplitudes.
void run_permutation(const Sweep& sweep, std::uint32_t bits, Precision precision, std::vector<Complex>& state);

/// The interpreter's kernel, compiled for the host once.
class HostInterpreter {
 public:
  explicit HostInterpreter(Precision precision);
  ~HostInterpreter();
  /// Runs `program`'s words on all its tiles of `state`; false where they are too many for constant memory.
  bool run(const cuda::TileProgram& program, std::vector<Complex>& state) const;

 private:
  class Kernel;
  template <class Real>
  bool run_as(const cuda::TileProgram& program, std::vector<Complex>& state) const;

  Precision precision_;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace qsim::test
