// What the table benchmarks on a GPU share: checked calls, timing, cuBLAS opened at run time, a JSON writer.
// Build: nvcc -O3 -std=c++17 -arch=sm_90 -cudart static benchmarks/NAME.cu -o NAME -ldl
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

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

/// Rows of a `qsim.table/1` document.
class Document {
 public:
  explicit Document(std::string kind) : kind_(std::move(kind)) {}
  void row(const std::vector<std::pair<std::string, std::string>>& values) {
    std::string line;
    for (const auto& [key, value] : values) line += (line.empty() ? "" : ", ") + ("\"" + key + "\": ") + value;
    rows_.push_back("    {" + line + "}");
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  void print() const {
    cudaDeviceProp device{};
    CHECK(cudaGetDeviceProperties(&device, 0));
    int driver = 0;
    CHECK(cudaDriverGetVersion(&driver));
    char date[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    std::printf(
        "{\n  \"schema\": \"qsim.table/1\",\n  \"kind\": \"%s\",\n  \"date\": \"%s\",\n  \"machine\": \"%s\",\n",
        kind_.c_str(), date, device.name);
    std::printf("  \"driver\": \"%d.%d\",\n  \"rows\": [\n", driver / 1000, driver % 1000 / 10);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::printf("%s%s\n", rows_[i].c_str(), i + 1 < rows_.size() ? "," : "");
    }
    std::printf("  ]\n}\n");
  }

 private:
  std::string kind_;
  std::vector<std::string> rows_;
};

inline std::string quoted(const std::string& text) { return "\"" + text + "\""; }
inline std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

}  // namespace table
