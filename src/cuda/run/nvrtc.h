// The run-time compiler and the driver calls that its kernels need, loaded on first use: the program links neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/file/shared_library.h"

struct CUlaunchConfig_st;  // cuda.h

namespace qsim::cuda {

struct CompiledKernel {
  std::vector<char> cubin;  // empty: it failed
  std::string log;          // what the compiler said
};

/// NVRTC as a value; several threads may compile at once.
class RuntimeCompiler {
 public:
  /// DeviceError when no libnvrtc can be loaded.
  static RuntimeCompiler load();
  /// `architecture`: 90 for compute capability 9.0. `report` asks for registers and spills in the log.
  CompiledKernel compile(const std::string& source, int architecture, bool report = false) const;
  /// Major * 100 + minor.
  int version() const { return version_; }
  std::string file() const { return file_of(reinterpret_cast<const void*>(create_)); }

 private:
  using Program = void*;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*cubin_size_)(Program, std::size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int version_ = 0;
};

/// A loaded kernel of this thread's device.
class DriverKernel {
 public:
  /// Loads `cubin`'s function "sweep". DeviceError when the driver refuses it. `architecture`: as of compile().
  DriverKernel(const std::vector<char>& cubin, std::uint32_t shared_bytes, int architecture);
  ~DriverKernel();
  DriverKernel(const DriverKernel&) = delete;
  DriverKernel& operator=(const DriverKernel&) = delete;
  /// Enqueues on `stream` (a cudaStream_t). `grows`: it writes several times what it reads.
  void launch(std::uint32_t blocks, std::uint32_t threads, void* stream, void** arguments, bool grows = false) const;

 private:
  void* module_ = nullptr;
  void* function_ = nullptr;
  std::uint32_t shared_bytes_ = 0;
  bool in_pairs_ = false, grows_in_pairs_ = false;  // of blocks, which begin together
  int (*launch_)(const CUlaunchConfig_st*, void*, void**, void**) = nullptr;
  int (*unload_)(void*) = nullptr;
};

}  // namespace qsim::cuda
