// Stands in for src/cuda in a build without CUDA.
#include "qsim/backend.h"
#include "qsim/error.h"

namespace qsim {

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions&) {
  throw DeviceError("this qsim was built without CUDA: build with -DQSIM_CUDA=ON, or use --backend cpu");
}

}  // namespace qsim
