// Where libraries that are opened on first use are looked for, and in which order.
#include "base/file/shared_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace qsim {
namespace {

namespace fs = std::filesystem;

/// A folder with copies of a library under names of their own, so that each can be opened once.
class SharedLibraries : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("qsim_libraries_" + std::to_string(getpid()));
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& folder, const std::string& name) {
    fs::create_directories(root_ / folder);
    fs::copy_file(QSIM_FAKE_LIBRARY, root_ / folder / name);
  }
  /// The folder below the root of what was opened; "" where nothing was.
  std::string opened(const SharedLibrary& library, const std::string& packages) {
    void* const handle = open_library(library, packages);
    if (handle == nullptr) return "";
    const fs::path file = file_of(dlsym(handle, "qsim_fake_number"));
    return fs::relative(file, root_).string();
  }
  std::string at(const std::string& folder) const { return (root_ / folder).string(); }

  fs::path root_;
};

TEST_F(SharedLibraries, PackagesOfPythonComeBeforeFoldersOfTheSystem) {
  put("packages/nvidia/cu13/lib", "first.so");
  put("toolkit", "first.so");
  EXPECT_EQ(opened({{"first.so"}, {"nvidia/cu13/lib"}, {at("toolkit")}}, at("packages")),
            "packages/nvidia/cu13/lib/first.so");
  put("toolkit", "second.so");
  EXPECT_EQ(opened({{"second.so"}, {"nvidia/cu13/lib"}, {at("toolkit")}}, at("packages")), "toolkit/second.so");
  put("packages/nvidia/cu13/lib", "third.so");
  EXPECT_EQ(opened({{"third.so"}, {"nvidia/cu13/lib"}, {}}, ""), "");
  EXPECT_EQ(opened({{"nowhere.so"}, {"nvidia/cu13/lib"}, {at("toolkit")}}, at("packages")), "");
}

TEST_F(SharedLibraries, TheFirstWheelAndInItTheFirstNameWin) {
  put("packages/nvidia/cu13/lib", "b.so.12");
  put("packages/nvidia/cu13/lib", "b.so.13");
  put("packages/nvidia/cublas/lib", "b.so.13");
  const std::vector<std::string> wheels{"nvidia/cu13/lib", "nvidia/cublas/lib"};
  EXPECT_EQ(opened({{"b.so.13", "b.so.12"}, wheels, {}}, at("packages")), "packages/nvidia/cu13/lib/b.so.13");
  put("packages/nvidia/cublas/lib", "c.so.12");
  EXPECT_EQ(opened({{"c.so.13", "c.so.12"}, wheels, {}}, at("packages")), "packages/nvidia/cublas/lib/c.so.12");
}

TEST_F(SharedLibraries, WhatIsLoadedAlreadyComesFirst) {
  // The C library is: no copy beside it is opened.
  put("packages/wheel", "libc.so.6");
  void* const handle = open_library({{"libc.so.6"}, {"wheel"}, {}}, at("packages"));
  ASSERT_NE(handle, nullptr);
  EXPECT_NE(dlsym(handle, "malloc"), nullptr);
  EXPECT_EQ(dlsym(handle, "qsim_fake_number"), nullptr);
}

TEST_F(SharedLibraries, OnlyAnInstalledModuleHasPackagesBesideIt) {
  EXPECT_EQ(packages_of("/usr/lib/python3/site-packages/qsim_hpc/_core.abi3.so"), "/usr/lib/python3/site-packages");
  for (const char* const other : {"/usr/bin/qsim", "/usr/lib/libqsim.so.0.1", "/qsim_hpc/_core.so", "qsim_hpc/_core.so",
                                  "./a/qsim_hpc/_core.so", "/a/my_qsim_hpc/_core.so", "_core.so", ""}) {
    EXPECT_EQ(packages_of(other), "") << other;
  }
  EXPECT_EQ(own_packages(), "");
}

TEST_F(SharedLibraries, CudasAreLookedForByEveryVersionThatServes) {
  const SharedLibrary found = cuda_library("nvrtc", "cuda_nvrtc");
  EXPECT_EQ(found.names, (std::vector<std::string>{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}));
  EXPECT_EQ(found.wheels, (std::vector<std::string>{"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}));
  for (const std::string& folder : found.folders) EXPECT_TRUE(folder.starts_with("/")) << folder;
}

}  // namespace
}  // namespace qsim
