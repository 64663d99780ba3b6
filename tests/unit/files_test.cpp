// The file module: what it reads, how it writes, what it leaves behind.
#include "base/file/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/io/output.h"
#include "qsim/error.h"

namespace qsim {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "qsim-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string make(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }
  static std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.insert(entry.path().filename());
    return found;
  }
  std::string pipe() const {
    EXPECT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    return path("pipe");
  }
  fs::path folder_;
};

TEST_F(Files, ReadsWhatIsThereAndNoMoreThanTheLimit) {
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 300000u}) {
    const std::string text(size, 'x');
    EXPECT_EQ(read_file(make("text", text), 300000), text);
    if (size > 0) {
      EXPECT_THROW(read_file(path("text"), size - 1), FileError) << size;
    }
  }
  EXPECT_LT(read_file(make("small", "abc"), 1u << 30).capacity(), 1000u);  // a limit is not an allocation
}

TEST_F(Files, ReadsRegularFilesOnlyAndWaitsForNothing) {
  for (const std::string& name : {std::string("/dev/zero"), std::string("/dev/null"), pipe(), folder_.string(),
                                  path("absent"), std::string("")}) {
    EXPECT_THROW(read_file(name, 1000), FileError) << name;
  }
  fs::create_symlink(make("text", "abc"), path("link"));
  EXPECT_EQ(read_file(path("link"), 10), "abc");
  EXPECT_THROW(read_file(path("link"), 10, Links::kRefuse), FileError);
}

TEST_F(Files, NamesInAFolderAreSortedAndNoneIsNotEmpty) {
  EXPECT_EQ(system_folder(path("absent")), std::nullopt);
  EXPECT_EQ(system_folder(folder_.string()), std::vector<std::string>());
  make("b", "");
  make("a", "");
  fs::create_directory(folder_ / "c");
  EXPECT_EQ(system_folder(folder_.string()), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(Files, ValuesOfSystemFilesStandBehindKeysThatBeginALine) {
  const std::string facts = make("facts",
                                 "model\t: 97\nmodel name\t: AMD EPYC \nflags\t\t: fpu vme\nMemTotal:    2048 kB\n"
                                 "Not MemFree: 1 kB\nempty:\nno colon\n");
  EXPECT_EQ(system_value(facts, "model name"), "AMD EPYC");
  EXPECT_EQ(system_value(facts, "model"), "97");
  EXPECT_EQ(system_value(facts, "flags"), "fpu vme");
  EXPECT_EQ(system_bytes(facts, "MemTotal"), 2048u * 1024);
  for (const char* const none : {"MemFree", "empty", "no", "no colon", "absent"}) {
    EXPECT_EQ(system_value(facts, none), "") << none;
    EXPECT_EQ(system_bytes(facts, none), 0u) << none;
  }
  EXPECT_EQ(system_value(path("absent"), "model"), "");
}

TEST_F(Files, KnowsOneFileByManyNames) {
  const std::string text = make("text", "abc");
  fs::create_symlink(text, path("link"));
  fs::create_hard_link(text, path("hard"));
  for (const char* name : {"text", "link", "hard", "./text", "../text"}) {
    const std::string other =
        name[0] == '.' && name[1] == '.' ? path("../" + folder_.filename().string() + "/text") : path(name);
    EXPECT_TRUE(is_same_file(text, other)) << other;
  }
  EXPECT_TRUE(is_same_file(path("new"), path("./new")));
  EXPECT_FALSE(is_same_file(path("new"), path("newer")));
  EXPECT_FALSE(is_same_file(text, path("new")));
  EXPECT_FALSE(is_same_file("-", "-"));
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/null"));
}

class NewFiles : public Files, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Temporary, NewFiles, testing::Values(false, true),
                         [](const auto& one) { return one.param ? "Named" : "Unnamed"; });

TEST_P(NewFiles, AppearWhenTheyAreCompleteAndReplaceTheirPredecessor) {
  for (int times = 0; times < 2; ++times) {
    NewFile file(path("out"), OutputKind::kFile, GetParam());
    file.write("hello", 5);
    file.write_at("J", 1, 0);
    EXPECT_EQ(fs::exists(path("out")), times == 1);
    file.commit();
    EXPECT_EQ(content(path("out")), "Jello");
  }
  EXPECT_EQ(names(), std::set<std::string>{"out"});
}

TEST_P(NewFiles, LeaveNothingWhenTheyAreGivenUp) {
  make("out", "old");
  { NewFile(path("out"), OutputKind::kFile, GetParam()).write("new", 3); }
  EXPECT_EQ(names(), std::set<std::string>{"out"});
  EXPECT_EQ(content(path("out")), "old");
}

TEST_P(NewFiles, AreWrittenByOthersAsWell) {
  NewFile file(path("out"), OutputKind::kFile, GetParam());
  file.reserve(10);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      SharedFile shared(path("out"), file.place());
      shared.write_at("world", 5, 5);
      shared.close();
    } catch (const Error&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  file.write_at("hello", 5, 0);
  file.commit();
  EXPECT_EQ(content(path("out")), "helloworld");
  EXPECT_EQ(names(), std::set<std::string>{"out"});
}

TEST_P(NewFiles, OfAnotherPlaceAreNotTakenForTheSame) {
  NewFile file(path("out"), OutputKind::kFile, GetParam());
  NewFile::Place place = file.place();
  place.inode += 1;
  EXPECT_THROW(SharedFile(path("out"), place), FileError);
  place = file.place();
  place.path = make("other", "mine");
  EXPECT_THROW(SharedFile(path("out"), place), FileError);
  place = file.place();
  place.host = "another";
  if (!GetParam()) {
    EXPECT_THROW(SharedFile(path("out"), place), FileError);
  }
}

TEST_F(Files, OfOnesOwnBesideTheOutputAreNotTouched) {
  const std::string victim = make("victim", "precious");
  fs::create_symlink(victim, path("out.part"));
  fs::create_symlink(victim, path("out.tmp" + std::to_string(::getpid())));
  write_file(path("out"), "text");
  EXPECT_EQ(content(victim), "precious");
  EXPECT_EQ(names().size(), 4u);
}

TEST_F(Files, AreNotWrittenThroughLinksOrOverWhatIsNoFile) {
  const std::string victim = make("victim", "precious");
  fs::create_symlink(victim, path("link"));
  fs::create_symlink("/nowhere/file", path("dangling"));
  for (const std::string& name : {path("link"), path("dangling"), folder_.string(), std::string("/dev/stdout.x/y"),
                                  path("absent/file"), path("absent/"), std::string("")}) {
    EXPECT_THROW(write_file(name, "text"), FileError) << name;
    EXPECT_THROW(require_writable(name, OutputKind::kFileOrStream), FileError) << name;
  }
  EXPECT_EQ(content(victim), "precious");
  EXPECT_THROW(write_file(pipe(), "text"), FileError);  // nobody reads it
  EXPECT_THROW(NewFile("/dev/null", OutputKind::kFile), FileError);
  EXPECT_NO_THROW(write_file("/dev/null", "text"));
  EXPECT_THROW(write_file("/dev/full", "text"), FileError);
}

TEST_F(Files, AreRemovedOnEverySignalThatCanBeCaught) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGSEGV, SIGBUS,
                           SIGFPE, SIGILL, SIGABRT}) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(number, SIG_DFL);  // shells ignore some of them for what runs behind; sanitizers handle others
      cli::remove_files_on_signals();
      NewFile file(path("out"), OutputKind::kFile, true);
      file.reserve(1000);
      ::raise(number);
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << number << " " << status;
    EXPECT_TRUE(names().empty()) << number;
  }
}

TEST_F(Files, WithoutANameLeaveNothingEvenWhenTheirProcessIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    NewFile file(path("out"), OutputKind::kFile);
    file.reserve(1000);
    ::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (const int probe = ::open(folder_.c_str(), O_TMPFILE | O_RDWR, 0600); probe >= 0) {
    ::close(probe);
    EXPECT_TRUE(names().empty());
  } else {
    GTEST_SKIP() << "this file system has no unnamed files";
  }
}

}  // namespace
}  // namespace qsim
