// Resolution of driver entry points and error texts.
#include "comm/gpu/driver.h"

#include <dlfcn.h>

#include <string>

#include "qsim/error.h"

namespace qsim {
namespace {

constexpr unsigned kWaitGreaterOrEqual = 0x0;  // CU_STREAM_WAIT_VALUE_GEQ
constexpr unsigned kWriteDefault = 0x0;        // CU_STREAM_WRITE_VALUE_DEFAULT: fences earlier writes

template <class Function>
void load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw DeviceError(std::string("the CUDA driver has no ") + name + "; update it to 11.7 or newer");
  }
}

void check_driver(int status, const char* call) {
  if (status != 0) throw DeviceError("CUDA driver", status, call, "see the CUresult of that number");
}

}  // namespace

void check_cuda(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw DeviceError("CUDA", static_cast<int>(status), call, cudaGetErrorString(status));
}

StreamMemoryDriver StreamMemoryDriver::resolve() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw DeviceError("no CUDA driver: libcuda.so.1 cannot be loaded");
  StreamMemoryDriver driver;
  load(library, "cuStreamWriteValue32_v2", driver.write_value32);
  load(library, "cuStreamWaitValue32_v2", driver.wait_value32);
  load(library, "cuMemGetAddressRange_v2", driver.address_range);
  return driver;
}

void StreamMemoryDriver::write(cudaStream_t stream, std::uint32_t* address, std::uint32_t value) const {
  check_driver(write_value32(stream, reinterpret_cast<std::uintptr_t>(address), value, kWriteDefault),
               "cuStreamWriteValue32");
}

void StreamMemoryDriver::wait(cudaStream_t stream, std::uint32_t* address, std::uint32_t value) const {
  check_driver(wait_value32(stream, reinterpret_cast<std::uintptr_t>(address), value, kWaitGreaterOrEqual),
               "cuStreamWaitValue32");
}

std::pair<std::byte*, std::size_t> StreamMemoryDriver::allocation(const void* address) const {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  check_driver(address_range(&base, &bytes, reinterpret_cast<std::uintptr_t>(address)), "cuMemGetAddressRange");
  return {reinterpret_cast<std::byte*>(base), bytes};
}

}  // namespace qsim
