// Every reason why a GPU cannot be used has its own words, the remedy and exit code 6 (or 5 where memory is too small).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "cuda/device.h"
#include "cuda/read_out/cublas.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

bool has(const Error& error, const std::string& words) {
  return std::string(error.what()).find(words) != std::string::npos;
}

TEST(CudaDevice, EveryReasonHasItsOwnWords) {
  const DeviceError driver = cuda::no_device_error(cudaErrorInsufficientDriver, 0, 13000, true);
  EXPECT_TRUE(has(driver, "no CUDA driver is installed"));
  const DeviceError no_gpu = cuda::no_device_error(cudaErrorInsufficientDriver, 0, 13000, false);
  EXPECT_TRUE(has(no_gpu, "this machine has no NVIDIA GPU"));
  EXPECT_FALSE(has(no_gpu, "install")) << "a driver would be of no use";
  const DeviceError old = cuda::no_device_error(cudaErrorInsufficientDriver, 11080, 13000, true);
  EXPECT_TRUE(has(old, "too old: it serves CUDA 11.8, this build needs 13.0"));
  const DeviceError none = cuda::no_device_error(cudaErrorNoDevice, 13000, 13000, true);
  EXPECT_TRUE(has(none, "CUDA_VISIBLE_DEVICES"));
  const DeviceError lost = cuda::no_device_error(cudaErrorDevicesUnavailable, 13000, 13000, true);
  EXPECT_TRUE(has(lost, "cudaGetDeviceCount"));
  cuda::DeviceFacts facts;
  facts.name = "Some GPU";
  facts.major = 7;
  facts.minor = 5;
  const DeviceError architecture = cuda::no_code_error(2, facts);
  EXPECT_TRUE(has(architecture, "device 2 (Some GPU, compute capability 7.5)"));
  EXPECT_TRUE(has(architecture, "CMAKE_CUDA_ARCHITECTURES=75"));
  for (const DeviceError* error : {&driver, &no_gpu, &old, &none, &lost, &architecture}) {
    EXPECT_EQ(error->code(), ExitCode::kDevice);
    EXPECT_TRUE(error == &lost || has(*error, "`backend` cpu"));
  }
}

TEST(CudaDevice, QueuesAreManyUnlessTheProcessCannotExchange) {
  constexpr int kFew = 4, kMany = 32;
  EXPECT_EQ(cuda::hardware_queues(1, 1, 8), kFew) << "one rank was asked for";
  EXPECT_EQ(cuda::hardware_queues(0, 1, 1), kFew) << "there is one GPU";
  EXPECT_EQ(cuda::hardware_queues(0, 1, 0), kFew);
  EXPECT_EQ(cuda::hardware_queues(0, 1, std::nullopt), kMany) << "nobody knows how many there are";
  EXPECT_EQ(cuda::hardware_queues(0, 1, 2), kMany);
  EXPECT_EQ(cuda::hardware_queues(2, 1, 8), kMany);
  EXPECT_EQ(cuda::hardware_queues(1, 2, 1), kMany) << "the launcher started others";
}

TEST(CudaDevice, TheEnvironmentHidesGpus) {
  EXPECT_EQ(cuda::visible_gpus(8, nullptr), 8u);
  EXPECT_EQ(cuda::visible_gpus(std::nullopt, nullptr), std::nullopt);
  EXPECT_EQ(cuda::visible_gpus(8, "3"), 1u);
  EXPECT_EQ(cuda::visible_gpus(8, "GPU-8932f937,GPU-8932f938"), 2u);
  EXPECT_EQ(cuda::visible_gpus(std::nullopt, "0"), 1u);
  EXPECT_EQ(cuda::visible_gpus(1, "0,1,2"), 1u) << "what is not there ends the list";
  EXPECT_EQ(cuda::visible_gpus(8, ""), 0u);
}

TEST(CudaDevice, FailedCallsAreNamedWithTheirCode) {
  EXPECT_NO_THROW(cuda::check(cudaSuccess, "cudaMalloc"));
  for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress, cudaErrorDevicesUnavailable}) {
    try {
      cuda::check(status, "cudaMemcpyAsync of amplitudes");
      ADD_FAILURE() << "not thrown";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.code(), ExitCode::kDevice);
      EXPECT_TRUE(has(error, "cudaMemcpyAsync of amplitudes"));
      EXPECT_TRUE(has(error, std::to_string(static_cast<int>(status))));
    }
  }
}

TEST(CudaDevice, PoolsAreRefusedWithTheArithmeticBeforeAnyAllocation) {
  constexpr std::uint64_t kFree = 1000;
  EXPECT_EQ(cuda::pool_bytes(700, kFree, 0, 0), 700u);
  EXPECT_EQ(cuda::pool_bytes(980, kFree, 0, 0), 980u);
  EXPECT_EQ(cuda::pool_bytes(700, kFree, 0.925, 0), 925u);
  EXPECT_EQ(cuda::pool_bytes(950, kFree, 0.925, 0), 950u);
  EXPECT_EQ(cuda::pool_bytes(700, kFree, 1, 0), 980u);
  try {
    (void)cuda::pool_bytes(981, kFree, 0, 3);
    ADD_FAILURE() << "not thrown";
  } catch (const CapacityError& error) {
    EXPECT_EQ(error.code(), ExitCode::kCapacity);
    for (const char* const words : {"GPU 3", "980 usable", "98 % of 1000", "needs 981", "fewer qubits"}) {
      EXPECT_TRUE(has(error, words)) << words;
    }
  }
}

TEST(CudaDevice, LibrariesThatAreLoadedOnFirstUseAreInTheFactsWithOrWithoutADevice) {
  std::map<std::string, std::string> facts;
  for (const auto& [name, value] : gpu_facts()) facts[name] = value;
  ASSERT_TRUE(facts.contains("cuBLAS") && facts.contains("NCCL"));
  const std::string version = cuda::cublas_version();
  EXPECT_EQ(facts["cuBLAS"], version.empty() ? "none: gram matrices need it" : version);
  if (version.empty()) GTEST_SKIP() << "cuBLAS is not in the library path";
  EXPECT_GE(std::stoi(version), 12) << version;
  const std::string number = version.substr(0, version.find(" ("));
  EXPECT_EQ(std::count(number.begin(), number.end(), '.'), 2) << version;
  EXPECT_NE(version.find("libcublas.so"), std::string::npos) << version;
}

}  // namespace
}  // namespace qsim
