// Stands in for src/cuda in a build without CUDA.
#include "device/backend.h"
#include "device/batch/batch_device.h"
#include "device/gpu_parts.h"
#include "qsim/error.h"

namespace qsim {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions&) {
  throw DeviceError("this qsim was built without CUDA: build with -DQSIM_CUDA=ON, or use `backend` cpu");
}

void run_batch_on_gpu(const BatchProgram&, std::span<const double>, std::size_t, const BatchOutputs&,
                      const BackendOptions&, const BatchWatch&) {
  throw DeviceError("this qsim was built without CUDA: build with -DQSIM_CUDA=ON, or use the CPU");
}

BatchGramTimes run_gram_on_gpu(const BatchProgram&, std::span<const double>, std::size_t, std::span<Complex>,
                               const BackendOptions&) {
  throw DeviceError("this qsim was built without CUDA: build with -DQSIM_CUDA=ON, or use the CPU");
}

std::vector<TransportFactory> gpu_transports() { return {}; }

GpuSurvey survey_gpus(int) { return {{}, "this qsim was built without CUDA"}; }

std::vector<std::string> listed_gpu_models() { return {}; }

void keep_compilers() {}

std::vector<LateKernels> late_kernels() { return {}; }

void end_compilers() {}

void compile_kernels(const LateKernels&) {}

std::string cuda_build_version() { return {}; }

std::vector<std::pair<std::string, std::string>> gpu_facts() { return {}; }

}  // namespace qsim
