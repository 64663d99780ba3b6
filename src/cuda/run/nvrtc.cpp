// dlopen of libnvrtc and libcuda.
#include "cuda/run/nvrtc.h"

#include <cuda.h>
#include <dlfcn.h>

#include "base/file/shared_library.h"
#include "cuda/generate/generate.h"
#include "device/library_error.h"
#include "qsim/error.h"

namespace qsim::cuda {
namespace {

template <class Function>
void resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw DeviceError(std::string("no ") + name + " in the CUDA library that was loaded");
}

void* open_nvrtc() {
  if (void* const library = open_library(cuda_library("nvrtc", "cuda_nvrtc"))) return library;
  throw DeviceError(
      "libnvrtc cannot be loaded: install the CUDA toolkit's NVRTC or the extra [cuda13] of the Python package, or run "
      "with `jit` off");
}

/// NVRTC opens its built-in headers by name alone, which fails where only the whole path of its own folder led to it.
void open_builtins(int (*version)(int*, int*), int major, int minor) {
  const std::string library = file_of(reinterpret_cast<const void*>(version));
  const std::string folder = library.substr(0, library.rfind('/') + 1);
  const std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
  dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);  // where this fails, NVRTC's own message says what is missing
}

// Blocks whose tiles are neighbours begin together as a cluster of two: what waits for instructions since it nearly
// fills their cache (128 KiB) reads them for both, and lines that are written beside each other meet on their way.
// Other kernels wait for two free places for nothing. Bytes of a whole file, 5 KiB of which are no instructions;
// measured: docs/log/gpu_sweeps.md#pairs-of-blocks.
constexpr std::size_t kLongKernel = 86 << 10, kShortKernel = 20 << 10;
constexpr int kHasClusters = 90;
constexpr std::uint32_t kManyBlocks = 1 << 12;

void check_driver(int status, const char* call) {
  if (status != 0) throw library_error("CUDA driver", status, call, "see the CUresult of that number");
}

}  // namespace

RuntimeCompiler RuntimeCompiler::load() {
  void* const library = open_nvrtc();
  RuntimeCompiler compiler;
  resolve(library, "nvrtcCreateProgram", compiler.create_);
  resolve(library, "nvrtcCompileProgram", compiler.compile_);
  resolve(library, "nvrtcGetProgramLogSize", compiler.log_size_);
  resolve(library, "nvrtcGetProgramLog", compiler.log_);
  resolve(library, "nvrtcGetCUBINSize", compiler.cubin_size_);
  resolve(library, "nvrtcGetCUBIN", compiler.cubin_);
  resolve(library, "nvrtcDestroyProgram", compiler.destroy_);
  int (*version)(int*, int*) = nullptr;
  resolve(library, "nvrtcVersion", version);
  int major = 0, minor = 0;
  if (version(&major, &minor) != 0) throw DeviceError("nvrtcVersion failed");
  compiler.version_ = major * 100 + minor;
  open_builtins(version, major, minor);
  return compiler;
}

CompiledKernel RuntimeCompiler::compile(const std::string& source, int architecture, bool report) const {
  CompiledKernel result;
  Program program = nullptr;
  if (create_(&program, source.c_str(), "sweep.cu", 0, nullptr, nullptr) != 0) {
    result.log = "nvrtcCreateProgram failed";
    return result;
  }
  const std::string target = "--gpu-architecture=sm_" + std::to_string(architecture);
  std::vector<const char*> options = {target.c_str(), "--std=c++17"};
  if (report) options.push_back("--ptxas-options=-v");
  if (source.starts_with(kAssembledSimply)) options.push_back("--ptxas-options=-O1");
  const int status = compile_(program, static_cast<int>(options.size()), options.data());
  std::size_t bytes = 0;
  if (log_size_(program, &bytes) == 0 && bytes > 1) {
    result.log.resize(bytes);
    (void)log_(program, result.log.data());
  }
  if (status == 0 && cubin_size_(program, &bytes) == 0) {
    result.cubin.resize(bytes);
    if (cubin_(program, result.cubin.data()) != 0) result.cubin.clear();
  }
  (void)destroy_(&program);
  return result;
}

DriverKernel::DriverKernel(const std::vector<char>& cubin, std::uint32_t shared_bytes, int architecture)
    : shared_bytes_(shared_bytes),
      in_pairs_(architecture >= kHasClusters && cubin.size() >= kLongKernel),
      grows_in_pairs_(architecture >= kHasClusters && cubin.size() <= kShortKernel) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw DeviceError("no CUDA driver: libcuda.so.1 cannot be loaded");
  int (*load)(void**, const void*) = nullptr;
  int (*get)(void**, void*, const char*) = nullptr;
  int (*set_attribute)(void*, int, int) = nullptr;
  resolve(library, "cuModuleLoadData", load);
  resolve(library, "cuModuleGetFunction", get);
  resolve(library, "cuFuncSetAttribute", set_attribute);
  resolve(library, "cuModuleUnload", unload_);
  resolve(library, "cuLaunchKernelEx", launch_);
  check_driver(load(&module_, cubin.data()), "cuModuleLoadData");
  try {
    check_driver(get(&function_, module_, "sweep"), "cuModuleGetFunction");
    constexpr int kMaxDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    check_driver(set_attribute(function_, kMaxDynamicSharedBytes, static_cast<int>(shared_bytes)),
                 "cuFuncSetAttribute");
  } catch (const Error&) {
    (void)unload_(module_);
    throw;
  }
}

DriverKernel::~DriverKernel() { (void)unload_(module_); }

void DriverKernel::launch(std::uint32_t blocks, std::uint32_t threads, void* stream, void** arguments,
                          bool grows) const {
  CUlaunchAttribute pairs{};
  pairs.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  pairs.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = blocks;
  config.blockDimX = threads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes_;
  config.hStream = static_cast<CUstream>(stream);
  config.attrs = &pairs;
  config.numAttrs = (in_pairs_ || (grows && grows_in_pairs_)) && blocks >= kManyBlocks && blocks % 2 == 0 ? 1 : 0;
  check_driver(launch_(&config, function_, arguments, nullptr), "cuLaunchKernelEx of a sweep");
}

}  // namespace qsim::cuda
