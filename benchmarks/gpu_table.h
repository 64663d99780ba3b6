// What the table benchmarks on a GPU share: checked calls, timing, cuBLAS opened at run time, the document's head.
// Build without the library: nvcc -O3 -std=c++17 -arch=sm_90 -cudart static -I. benchmarks/NAME.cu -o NAME -ldl
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/table_rows.h"

namespace table {

inline void check(cudaError_t code, const char* call, int line) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "line %d: %s: %s\n", line, call, cudaGetErrorString(code));
  std::exit(6);
}
#define CHECK(call) table::check((call), #call, __LINE__)

/// Milliseconds of `work`: the median of `repeats` after one warm-up.
inline double median_ms(const std::function<void()>& work, int repeats = 5) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i <= repeats; ++i) {
    CHECK(cudaEventRecord(begin));
    work();
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i > 0) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// cuBLAS of whatever version is there; null where none is.
class Blas {
 public:
  Blas() {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      if (library_ == nullptr) library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    }
    if (library_ == nullptr) return;
    using Create = int (*)(void**);
    if (const auto create = function<Create>("cublasCreate_v2")) create(&handle_);
  }
  bool here() const { return handle_ != nullptr; }
  void* handle() const { return handle_; }
  template <class Function>
  Function function(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library_, name));
  }

 private:
  void* library_ = nullptr;
  void* handle_ = nullptr;
};

class Document : public Rows {
 public:
  using Rows::Rows;
  void print() const {
    cudaDeviceProp device{};
    CHECK(cudaGetDeviceProperties(&device, 0));
    int driver = 0;
    CHECK(cudaDriverGetVersion(&driver));
    Rows::print({{"machine", quoted(device.name)},
                 {"driver", quoted(std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10))}});
  }
};

}  // namespace table
