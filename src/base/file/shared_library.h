// Libraries that are opened when they are first wanted, and may be absent.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qsim {

/// One library as it may be found. What is opened stays loaded for the life of the process.
struct SharedLibrary {
  std::vector<std::string> names;    // as the loader knows it, the best first: "libcublas.so.13"
  std::vector<std::string> wheels;   // folders below a folder of Python packages: "nvidia/cu13/lib"
  std::vector<std::string> folders;  // absolute, where the loader does not look: "/usr/local/cuda/lib64"
};

/// A handle for dlsym(), or null: what the process has loaded already, then the packages of Python beside this one,
/// then what the loader finds, then the folders. `packages` is the folder of Python packages; empty where there is
/// none.
void* open_library(const SharedLibrary& library, const std::string& packages);
void* open_library(const SharedLibrary& library);  // with own_packages()

/// The folder of Python packages that this code was installed in as qsim_hpc; empty for programs and other libraries,
/// which take nothing from the folders beside them.
std::string own_packages();
/// The same for code in `file`.
std::string packages_of(std::string_view file);

/// The file that `symbol`, an address from dlsym(), comes from; empty where that is unknown.
std::string file_of(const void* symbol);

/// CUDA's library `stem` (such as "cublas"), which NVIDIA's wheels for CUDA 13 have in one folder and those for CUDA 12
/// in one each.
SharedLibrary cuda_library(const std::string& stem, const std::string& wheel_of_12);

}  // namespace qsim
