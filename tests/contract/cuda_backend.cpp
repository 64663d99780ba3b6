// The CUDA backend under the backends' contract (skipped where there is no device).
#include "backend_contract.h"

namespace qsim::test {
namespace {

std::vector<BackendCase> cuda_cases() {
  std::vector<BackendCase> cases;
  for (const Jit jit : {Jit::kOff, Jit::kOnly}) {
    BackendOptions options;
    options.jit = jit;
    for (BackendCase& one : both_precisions("CudaJit" + std::string(name_of(jit)), make_cuda_backend, options)) {
      cases.push_back(one);
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cuda, BackendContract, testing::ValuesIn(cuda_cases()), case_name);

}  // namespace
}  // namespace qsim::test
