// Error texts, and a driver entry point resolved at its first use.
#include "comm/gpu/driver.h"

#include <dlfcn.h>

#include <cstdint>
#include <thread>

#include "device/library_error.h"
#include "qsim/error.h"

namespace qsim {

void check_cuda(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw library_error("CUDA", static_cast<int>(status), call, cudaGetErrorString(status));
}

bool AskAgain::pause() {
  constexpr int kShortPauses = 64;
  if (++asked_ <= kShortPauses) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return Clock::now() - start_ <= patience_;
}

std::pair<std::byte*, std::size_t> device_allocation(const void* address) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw DeviceError("no CUDA driver: libcuda.so.1 cannot be loaded");
  using Function = int (*)(std::uintptr_t * base, std::size_t * bytes, std::uintptr_t address);
  const auto address_range = reinterpret_cast<Function>(dlsym(library, "cuMemGetAddressRange_v2"));
  if (address_range == nullptr) throw DeviceError("the CUDA driver has no cuMemGetAddressRange: update it");
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  const int status = address_range(&base, &bytes, reinterpret_cast<std::uintptr_t>(address));
  if (status != 0)
    throw library_error("CUDA driver", status, "cuMemGetAddressRange", "see the CUresult of that number");
  return {reinterpret_cast<std::byte*>(base), bytes};
}

}  // namespace qsim
