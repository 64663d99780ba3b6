#include "base/file/shared_library.h"

#include <dlfcn.h>

namespace qsim {
namespace {

constexpr int kMode = RTLD_NOW | RTLD_LOCAL;

void* open_in(const std::string& folder, const SharedLibrary& library) {
  for (const std::string& name : library.names) {
    if (void* const found = dlopen((folder + "/" + name).c_str(), kMode)) return found;
  }
  return nullptr;
}

}  // namespace

void* open_library(const SharedLibrary& library, const std::string& packages) {
  for (const std::string& name : library.names) {
    if (void* const found = dlopen(name.c_str(), kMode | RTLD_NOLOAD)) return found;
  }
  for (const std::string& wheel : library.wheels) {
    if (packages.empty()) break;
    if (void* const found = open_in(packages + "/" + wheel, library)) return found;
  }
  for (const std::string& name : library.names) {
    if (void* const found = dlopen(name.c_str(), kMode)) return found;
  }
  for (const std::string& folder : library.folders) {
    if (void* const found = open_in(folder, library)) return found;
  }
  return nullptr;
}

void* open_library(const SharedLibrary& library) { return open_library(library, own_packages()); }

std::string packages_of(std::string_view file) {
  const std::size_t name = file.rfind('/');
  if (name == std::string_view::npos) return {};
  const std::string_view folder = file.substr(0, name);
  const std::size_t last = folder.rfind('/');
  if (file.front() != '/' || last == 0 || last == std::string_view::npos || folder.substr(last + 1) != "qsim_hpc")
    return {};
  return std::string(folder.substr(0, last));
}

std::string file_of(const void* symbol) {
  Dl_info place{};
  if (dladdr(symbol, &place) == 0 || place.dli_fname == nullptr) return {};
  return place.dli_fname;
}

std::string own_packages() { return packages_of(file_of(reinterpret_cast<const void*>(&own_packages))); }

SharedLibrary cuda_library(const std::string& stem, const std::string& wheel_of_12) {
  const std::string name = "lib" + stem + ".so";
  return {{name + ".13", name + ".12", name},
          {"nvidia/cu13/lib", "nvidia/" + wheel_of_12 + "/lib"},
          {"/usr/local/cuda/lib64"}};
}

}  // namespace qsim
