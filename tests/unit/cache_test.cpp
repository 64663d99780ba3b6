// A cache believes only what its own user's processes have put there.
#include "base/file/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/hash.h"

namespace qsim {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "qsim-cache-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    top_ = name;
    folder_ = name + "/a/b";
  }
  void TearDown() override { fs::remove_all(top_); }
  fs::path only_file() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().filename() != "key") return entry.path();
    }
    return {};
  }
  static mode_t mode_of(const fs::path& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : 0;
  }
  std::string top_, folder_;
};

TEST_F(Cache, HasOneLockWhileItsHolderLives) {
  {
    const PrivateCache holder(folder_, 1 << 20), other(folder_, 1 << 20);
    EXPECT_TRUE(holder.lock());
    EXPECT_TRUE(holder.lock());
    EXPECT_FALSE(other.lock());
    other.write("label", "text");
    EXPECT_EQ(holder.read("label"), "text") << "a lock keeps nobody from the files";
  }
  EXPECT_TRUE(PrivateCache(folder_, 1 << 20).lock());
  EXPECT_FALSE(PrivateCache("", 1 << 20).lock());
}

TEST_F(Cache, KeepsContentsForLaterProcessesInAFolderOfItsOwn) {
  const mode_t before = ::umask(0);
  {
    const PrivateCache cache(folder_, 1 << 20);
    EXPECT_EQ(cache.trouble(), "");
    EXPECT_EQ(cache.read("label"), "");
    cache.write("label", std::string("a\0b", 3));
  }
  ::umask(before);
  const PrivateCache again(folder_, 1 << 20);
  EXPECT_EQ(again.read("label"), std::string("a\0b", 3));
  EXPECT_EQ(again.read("other"), "");
  EXPECT_EQ(again.size().files, 1u);
  EXPECT_EQ(mode_of(folder_), 0700u);
  EXPECT_EQ(mode_of(folder_ + "/key"), 0600u);
  EXPECT_EQ(mode_of(only_file()), 0600u);
}

TEST_F(Cache, BelievesNothingThatWasChangedMovedOrCopied) {
  const PrivateCache cache(folder_, 1 << 20);
  cache.write("label", "content");
  const fs::path file = only_file();
  std::string bytes;
  {
    std::ifstream stream(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(stream), {});
  }
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    std::string changed = bytes;
    if (at < bytes.size()) changed[at] = static_cast<char>(changed[at] ^ 1);
    if (at == bytes.size()) changed += 'x';
    std::ofstream(file, std::ios::binary) << changed;
    EXPECT_EQ(cache.read("label"), "") << at;
  }
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_EQ(cache.read("label"), "content");
  // The same file under another label, and in a folder with another key.
  cache.write("other", "something else");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path() != file && entry.path().filename() != "key") {
      std::ofstream(entry.path(), std::ios::binary) << bytes;
    }
  }
  EXPECT_EQ(cache.read("other"), "");
  const PrivateCache stranger(top_ + "/c", 1 << 20);
  stranger.write("label", "theirs");
  fs::copy_file(file, top_ + "/c/" + file.filename().string());
  EXPECT_EQ(stranger.read("label"), "theirs");
}

TEST_F(Cache, DoesNotFollowLinksOrWaitForPipes) {
  const PrivateCache cache(folder_, 1 << 20);
  cache.write("label", "content");
  const fs::path file = only_file();
  fs::rename(file, top_ + "/elsewhere");
  fs::create_symlink(top_ + "/elsewhere", file);
  EXPECT_EQ(cache.read("label"), "");
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(cache.read("label"), "");
  fs::remove(file);
  fs::rename(top_ + "/elsewhere", file);
  EXPECT_EQ(cache.read("label"), "content");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(cache.read("label"), "");
}

TEST_F(Cache, IsNotUsedWhereOthersMayComeIn) {
  for (const mode_t mode : {0755u, 0770u, 0701u}) {
    fs::create_directories(folder_);
    ASSERT_EQ(::chmod(folder_.c_str(), mode), 0);
    const PrivateCache cache(folder_, 1 << 20);
    EXPECT_NE(cache.trouble(), "");
    cache.write("label", "content");
    EXPECT_TRUE(fs::is_empty(folder_));
  }
  const PrivateCache mine(top_ + "/mine", 1 << 20);
  fs::create_directory_symlink(top_ + "/mine", top_ + "/link");
  EXPECT_NE(PrivateCache(top_ + "/link", 1 << 20).trouble(), "");
  ASSERT_EQ(::chmod((top_ + "/mine/key").c_str(), 0640), 0);
  EXPECT_NE(PrivateCache(top_ + "/mine", 1 << 20).trouble(), "");
  EXPECT_NE(PrivateCache("", 1 << 20).trouble(), "");
  EXPECT_NE(PrivateCache("/proc/none", 1 << 20).trouble(), "");
}

TEST_F(Cache, LetsTheOldestGoWhenItIsFull) {
  const PrivateCache cache(folder_, 10'000);
  for (int i = 0; i < 20; ++i) {
    cache.write("label" + std::to_string(i), std::string(1000, 'x'));
    EXPECT_NE(cache.read("label0"), "") << i;  // used, so it stays
    ::usleep(12'000);                          // beyond the clock's step
  }
  EXPECT_LE(cache.size().bytes, 10'000u);
  EXPECT_GE(cache.size().files, 5u);
  EXPECT_NE(cache.read("label19"), "");
  EXPECT_EQ(cache.read("label1"), "");
}

TEST_F(Cache, RemovesNothingThatItHasNotMade) {
  const std::string own = folder_ + "/thesis.tex", hidden = folder_ + "/.qsim-notes";
  PrivateCache(folder_, 10'000).write("first", "x");
  for (const std::string& path : {own, hidden}) std::ofstream(path) << std::string(20'000, 'x');
  for (const std::string& path : {own, hidden}) {
    const timespec old[2]{{1, 0}, {1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
  }
  const PrivateCache cache(folder_, 10'000);
  for (int i = 0; i < 20; ++i) cache.write("label" + std::to_string(i), std::string(1000, 'x'));
  EXPECT_EQ(::access(own.c_str(), F_OK), 0);
  EXPECT_EQ(::access(hidden.c_str(), F_OK), 0);
  EXPECT_LE(cache.size().bytes, 10'000u);
}

TEST(CacheFolder, IsNeverRelative) {
  for (const char* name : {"QSIM_CACHE_DIR", "XDG_CACHE_HOME", "HOME"}) ::setenv(name, "relative", 1);
  EXPECT_EQ(user_cache_folder("kernels"), "");
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(user_cache_folder("kernels"), "/home/somebody/.cache/qsim/kernels");
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(user_cache_folder("kernels"), "/cache/qsim/kernels");
  ::setenv("QSIM_CACHE_DIR", "/own", 1);
  EXPECT_EQ(user_cache_folder("kernels"), "/own/kernels");
}

/// The vectors of the authors' reference implementation: key 00 01 .. 0f, text 00 01 .. of each length.
TEST(KeyedDigest, IsSipHash) {
  std::array<std::uint64_t, 2> key{};
  unsigned char bytes[16];
  for (unsigned i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(i);
  std::memcpy(key.data(), bytes, 16);
  const auto hex = [&](std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += static_cast<char>(i);
    const std::array<std::uint64_t, 2> digest = keyed_digest(key, text);
    std::string out;
    for (std::size_t i = 0; i < 16; ++i) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(digest[i / 8] >> (8 * (i % 8)) & 255));
      out += two;
    }
    return out;
  };
  EXPECT_EQ(hex(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(hex(1), "da87c1d86b99af44347659119b22fc45");
}

}  // namespace
}  // namespace qsim
