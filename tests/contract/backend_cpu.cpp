// The CPU backend with each instruction set and one to three threads under the backends' contract.
#include "backend_contract.h"

namespace qsim::test {
namespace {

std::vector<BackendCase> cpu_cases() {
  std::vector<BackendCase> cases;
  const struct {
    const char* name;
    InstructionSet instruction_set;
    int threads;
  } kinds[] = {{"ScalarTwoThreads", InstructionSet::kScalar, 2},
               {"Avx2OneThread", InstructionSet::kAvx2, 1},
               {"Avx2ThreeThreads", InstructionSet::kAvx2, 3},
               {"Avx512OneThread", InstructionSet::kAvx512, 1},
               {"Avx512TwoThreads", InstructionSet::kAvx512, 2}};
  for (const auto& kind : kinds) {
    BackendOptions options;
    options.instruction_set = kind.instruction_set;
    options.threads = kind.threads;
    for (BackendCase& one : both_precisions(kind.name, make_cpu_backend, options)) cases.push_back(one);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Cpu, BackendContract, testing::ValuesIn(cpu_cases()), case_name);

}  // namespace
}  // namespace qsim::test
