// Limits of control groups in made-up folders: own group and parents, both versions, inside and outside of containers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cpu/cpu_info.h"

namespace qsim::cpu {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "qsim-group-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text << "\n";
  }
  std::string root_;
};

constexpr const char* kMounts =
    "24 30 0:22 / /proc rw - proc proc rw\n"
    "35 30 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";

TEST_F(ControlGroups, OfVersionTwoLimitThroughEveryParent) {
  put("/proc/self/mountinfo", kMounts);
  put("/proc/self/cgroup", "0::/a.slice/job/step");
  put("/sys/fs/cgroup/a.slice/memory.max", "400000000");
  put("/sys/fs/cgroup/a.slice/cpu.max", "max 100000");
  put("/sys/fs/cgroup/a.slice/job/memory.max", "209715200");
  put("/sys/fs/cgroup/a.slice/job/cpu.max", "150000 100000");
  put("/sys/fs/cgroup/a.slice/job/step/memory.max", "max");
  put("/sys/fs/cgroup/a.slice/job/step/cpu.max", "400000 100000");
  const ControlGroup limits = control_group(root_);
  EXPECT_EQ(limits.memory_bytes, 209715200u);
  EXPECT_DOUBLE_EQ(limits.cores, 1.5);
  EXPECT_NE(limits.memory_file.find("/a.slice/job/memory.max"), std::string::npos);
  EXPECT_NE(limits.cores_file.find("/a.slice/job/cpu.max"), std::string::npos);
}

TEST_F(ControlGroups, OfAContainerAreAtTheTopOfItsMount) {
  put("/proc/self/mountinfo", kMounts);
  put("/proc/self/cgroup", "0::/");
  put("/sys/fs/cgroup/memory.max", "1000000");
  put("/sys/fs/cgroup/cpu.max", "50000 100000");
  EXPECT_EQ(control_group(root_).memory_bytes, 1000000u);
  EXPECT_DOUBLE_EQ(control_group(root_).cores, 0.5);
}

TEST_F(ControlGroups, OfVersionOneAreReadFromTheirOwnHierarchies) {
  put("/proc/self/mountinfo",
      "40 30 0:33 /docker/c1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 30 0:34 /docker/c1 /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "42 30 0:35 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids");
  put("/proc/self/cgroup", "9:pids:/docker/c1\n5:cpu,cpuacct:/docker/c1\n3:memory:/docker/c1/inner");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "300000000");
  put("/sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "9223372036854771712");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
  EXPECT_EQ(control_group(root_).memory_bytes, 300000000u);
  EXPECT_DOUBLE_EQ(control_group(root_).cores, 2.5);
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(control_group(root_).cores, 0);
}

TEST_F(ControlGroups, ThatAreNotThereLimitNothing) {
  EXPECT_EQ(control_group(root_).memory_bytes, 0u);
  put("/proc/self/mountinfo", "garbage\n- - -\n35 30 0:30 / /sys/fs/cgroup rw - cgroup2");
  put("/proc/self/cgroup", "no colons\n0::\n::::");
  EXPECT_EQ(control_group(root_).memory_bytes, 0u);
  EXPECT_EQ(control_group(root_).cores, 0);
}

}  // namespace
}  // namespace qsim::cpu
