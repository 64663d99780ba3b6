// Compilers that sessions do not wait for, and kernels that are compiled for later ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cuda/run/jit.h"
#include "device/gpu_parts.h"
#include "qsim/error.h"

namespace qsim {
namespace {

using cuda::KernelCache;

constexpr int kArchitecture = 90;

std::string source(int number) {
  return "extern \"C\" __global__ void sweep(double* x) { *x = " + std::to_string(number) + "; }";
}

class CudaLateKernels : public testing::Test {
 protected:
  void SetUp() override {
    try {
      version_ = cuda::RuntimeCompiler::load().version();
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
    std::string name = (std::filesystem::temp_directory_path() / "qsim-late-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  bool is_kept(const std::string& text) const {
    return !KernelCache(folder_, kArchitecture, version_).read(text).empty();
  }
  std::string folder_;
  int version_ = 0;
};

TEST_F(CudaLateKernels, AreCompiledForLaterProcesses) {
  compile_kernels({kArchitecture, folder_, {source(1), source(2), "no C++"}});
  EXPECT_TRUE(is_kept(source(1)));
  EXPECT_TRUE(is_kept(source(2)));
  EXPECT_FALSE(is_kept("no C++"));
}

TEST_F(CudaLateKernels, AreLeftToTheProcessThatIsAtWork) {
  std::optional<KernelCache> other(std::in_place, folder_, kArchitecture, version_);
  ASSERT_TRUE(other->lock());
  compile_kernels({kArchitecture, folder_, {source(1)}});
  EXPECT_FALSE(is_kept(source(1)));
  other.reset();
  compile_kernels({kArchitecture, folder_, {source(1)}});
  EXPECT_TRUE(is_kept(source(1)));
}

TEST_F(CudaLateKernels, OutliveTheirSessionOnlyWhereThatIsWanted) {
  constexpr int kMany = 64;  // more than there are threads, or than are done in an instant
  const auto ask = [&](int first) {
    cuda::JitCompiler compiler(kArchitecture, folder_);
    for (int i = first; i < first + kMany; ++i) compiler.request(source(i), 0);
  };
  ask(0);
  EXPECT_TRUE(late_kernels().empty()) << "a session's end waits for its compiler";
  keep_compilers();
  ask(kMany);
  const std::vector<LateKernels> late = late_kernels();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].architecture, kArchitecture);
  EXPECT_EQ(late[0].folder, folder_);
  EXPECT_FALSE(late[0].sources.empty());
  for (const std::string& text : late[0].sources) EXPECT_NE(text, source(0));
  end_compilers();
  EXPECT_TRUE(late_kernels().empty());
  compile_kernels(late[0]);
  EXPECT_TRUE(std::ranges::all_of(late[0].sources, [&](const std::string& text) { return is_kept(text); }));
}

}  // namespace
}  // namespace qsim
