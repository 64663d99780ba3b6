// When a line that moves may be written: only to a terminal, and under mpirun to the terminal of mpirun.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/io/output.h"
#include "cli/io/terminal/progress.h"
#include "cli/io/terminal/terminal.h"
#include "golden/cli_program.h"

namespace qsim::test {
namespace {

/// A pseudo-terminal; the end that a program would have as its standard error.
class Terminal {
 public:
  Terminal() {
    if (::openpty(&controller_, &program_, nullptr, nullptr, nullptr) != 0) controller_ = program_ = -1;
  }
  ~Terminal() { ::close(controller_), ::close(program_); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  int program() const { return program_; }

 private:
  int controller_ = -1, program_ = -1;
};

/// Runs `body` in a child whose standard error is `standard_error`; its answer, -1 where the child failed.
template <typename Body>
int in_child(int standard_error, Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool ready = ::dup2(standard_error, 2) == 2;
    ::_exit(ready ? body() : 99);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1) return -1;
  return WEXITSTATUS(status);
}

/// What a rank says whose launcher has one standard error and itself another.
int seen_by_rank(int of_launcher, int of_rank) {
  return in_child(of_launcher, [of_rank] {
    const int answer = in_child(of_rank, [] { return cli::stderr_is_terminal(true) ? 1 : 0; });
    return answer < 0 ? 99 : answer;
  });
}

class StandardError : public testing::Test {
 protected:
  void SetUp() override {
    if (terminal_.program() < 0) GTEST_SKIP() << "no pseudo-terminals here";
    ASSERT_GE(nothing_, 0);
  }
  void TearDown() override { ::close(nothing_); }

  Terminal terminal_;
  int nothing_ = ::open("/dev/null", O_WRONLY);
};

TEST_F(StandardError, OfOneProcessIsATerminalWhenItIsOne) {
  EXPECT_EQ(in_child(terminal_.program(), [] { return cli::stderr_is_terminal(false) ? 1 : 0; }), 1);
  EXPECT_EQ(in_child(nothing_, [] { return cli::stderr_is_terminal(false) ? 1 : 0; }), 0);
}

TEST_F(StandardError, OfARankIsThatOfItsLauncher) {
  EXPECT_EQ(seen_by_rank(terminal_.program(), nothing_), 1) << "mpirun hands every rank a pipe";
  EXPECT_EQ(seen_by_rank(nothing_, terminal_.program()), 0) << "mpirun was redirected: no moving lines in the file";
}

struct Shown {
  std::string text;          // on the terminal, both streams
  int status = 0;            // as of wait()
  double first_second = -1;  // when `awaited` was there, from the start
};

/// Runs qsim with a terminal of `columns` as its streams and `settings` ("NAME=VALUE", or "NAME" to remove it) in its
/// environment. Where `awaited` is given: an interrupt is sent when it has appeared.
Shown on_terminal(int columns, const std::vector<std::string>& settings, const std::vector<std::string>& arguments,
                  const std::string& awaited = "") {
  Shown shown;
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  int controller = -1;
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = ::forkpty(&controller, nullptr, nullptr, &size);
  if (child == 0) {
    for (const char* name : {"NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"}) ::unsetenv(name);
    ::setenv("TERM", "xterm", 1);
    for (const std::string& setting : settings) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string::npos) {
        ::unsetenv(setting.c_str());
      } else {
        ::setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
      }
    }
    std::vector<std::string> words{QSIM_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(QSIM_PROGRAM, pointers.data());
    ::_exit(127);
  }
  std::array<char, 4096> part{};
  bool sent = awaited.empty();
  for (ssize_t length = 0; (length = ::read(controller, part.data(), part.size())) > 0;) {
    shown.text.append(part.data(), static_cast<std::size_t>(length));
    if (!sent && shown.text.find(awaited) != std::string::npos) {
      shown.first_second = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      ::kill(child, SIGINT);
      sent = true;
    }
  }
  ::close(controller);
  ::waitpid(child, &shown.status, 0);
  return shown;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    widest = std::max(widest, line.size());
  }
  return widest;
}

class AtTerminals : public testing::Test {
 protected:
  void SetUp() override {
    if (Terminal().program() < 0) GTEST_SKIP() << "no pseudo-terminals here";
  }
  const TemporaryFolder folder_;
  const std::string circuit_ = folder_.file("ghz.qasm", run_qsim({"gen", "ghz", "-n", "6"}).out);
  const std::vector<std::string> plain_{"NO_COLOR=1"};
};

TEST_F(AtTerminals, GetLinesThatFitThem) {
  const std::vector<std::vector<std::string>> commands{
      {"help"},         {"bench", "--help"}, {"run", "--help"},
      {circuit_, "-v"}, {"plan", circuit_},  {"bench", circuit_, "--repeats", "1"},
      {"info"}};
  for (const int columns : {72, 80}) {
    for (const std::vector<std::string>& words : commands) {
      const Shown shown = on_terminal(columns, plain_, words);
      EXPECT_EQ(shown.status, 0) << shown.text;
      EXPECT_LE(widest_line(shown.text), static_cast<std::size_t>(columns)) << shown.text;
    }
  }
  const Shown refused = on_terminal(50, plain_, {"plan", circuit_, "--ranks", "4", "--precision", "half"});
  EXPECT_LE(widest_line(refused.text), 50u) << refused.text;
  const Shown table = on_terminal(80, plain_, {"bench", circuit_, "--repeats", "1"});
  for (const char* column : {"circuit", "median", "of copy", "speed-up", "checked by"}) {
    EXPECT_NE(table.text.find(column), std::string::npos) << column << " in\n" << table.text;
  }
}

TEST_F(AtTerminals, GetProgramsAndDocumentsAsTheyAre) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"version", "--json"}, {"gen", "qft", "-n", "4"}}) {
    std::string text = on_terminal(30, {}, words).text;
    std::erase(text, '\r');
    EXPECT_EQ(text, run_qsim(words).out);
  }
}

TEST_F(AtTerminals, AreColouredAsTheEnvironmentSays) {
  const auto colours = [&](const std::vector<std::string>& settings) {
    return on_terminal(80, settings, {circuit_}).text.find("\x1b[") != std::string::npos;
  };
  EXPECT_TRUE(colours({}));
  EXPECT_TRUE(colours({"NO_COLOR="})) << "an empty value says nothing";
  EXPECT_FALSE(colours({"NO_COLOR=1"}));
  EXPECT_FALSE(colours({"CLICOLOR=0"}));
  EXPECT_TRUE(colours({"CLICOLOR=1"}));
  EXPECT_FALSE(colours({"TERM=dumb"}));
  EXPECT_FALSE(colours({"TERM"}));
  EXPECT_TRUE(colours({"TERM=dumb", "CLICOLOR_FORCE=1"}));
  EXPECT_FALSE(colours({"NO_COLOR=1", "CLICOLOR_FORCE=1"}));
  EXPECT_NE(on_terminal(80, {}, {"nothing.qasm"}).text.find("\x1b[1;31mqsim: error:\x1b[0m"), std::string::npos);
}

TEST_F(AtTerminals, SeeABarSoonAndWhatWasLeftWhenTheyInterrupt) {
  // Layers over many qubits: minutes on any machine.
  const std::string slow = folder_.file("slow.qasm", run_qsim({"gen", "random", "-n", "23", "--depth", "2000"}).out);
  const Shown shown = on_terminal(80, plain_, {slow, "--threads", "1"}, " left");
  EXPECT_TRUE(WIFSIGNALED(shown.status) && WTERMSIG(shown.status) == SIGINT) << shown.text;
  EXPECT_NE(shown.text.find("[-"), std::string::npos) << shown.text;
  EXPECT_NE(shown.text.find("qsim: interrupted at "), std::string::npos) << shown.text;
  EXPECT_NE(shown.text.find(" left; no result was written"), std::string::npos) << shown.text;
  EXPECT_LT(widest_line(shown.text.substr(shown.text.rfind("\x1b[K"))), 80u);
  EXPECT_EQ(on_terminal(80, plain_, {circuit_, "-q"}).text.find("\x1b"), std::string::npos);
}

TEST(Lines, AreBrokenAtSpacesAndHangUnderTheirSecondColumn) {
  EXPECT_EQ(cli::fit_line("short", 40), "short");
  EXPECT_EQ(cli::fit_line("  time       1 s (start 1 us, parse 2 us)", 30),
            "  time       1 s (start 1 us,\n             parse 2 us)");
  EXPECT_EQ(cli::fit_line("  no columns here but a long text", 22), "  no columns here but\n    a long text");
  EXPECT_EQ(cli::fit_line("  qsim bench ghz --ranks 1,2 --svg x.svg", 30),
            "  qsim bench ghz --ranks 1,2 \\\n    --svg x.svg");
  EXPECT_EQ(cli::fit_line(std::string(50, '0'), 30), std::string(50, '0')) << "no word is broken";
  EXPECT_EQ(
      cli::fit_line("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 12345678", 20),
      "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4 12345678")
      << "letters are counted, not bytes";
}

TEST(ProgressText, FitsAndSaysWhatIsKnown) {
  EXPECT_EQ(cli::progress_text(0.5, 12.7, 3, 80), "[###############---------------]   50 %  about 12 s left");
  EXPECT_LT(cli::progress_text(0.25, 600, 3, 40).size(), 40u);
  EXPECT_LT(cli::progress_text(0.25, 600, 3, 20).size(), 20u);
  EXPECT_EQ(cli::progress_text(0, -1, 7.9, 80), "running  7 s so far");
  EXPECT_NE(cli::progress_text(0.99, 0, 7, 80).find("a moment left"), std::string::npos);
}

TEST(Speech, IsRankZerosAlone) {
  if (!mpi_is_here()) GTEST_SKIP() << "built without MPI";
  const ProgramRun circuit = run_qsim({"gen", "ghz", "-n", "6"});
  const ProgramRun text = run_mpi(4, {"-", "--marginals"}, circuit.out);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.err, "");
  const std::size_t first = text.out.find("ran on");
  ASSERT_NE(first, std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("ran on", first + 1), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find('\033'), std::string::npos) << "no colours in what is not a terminal";
  const ProgramRun document = run_mpi(4, {"-", "--json"}, circuit.out);
  EXPECT_TRUE(nlohmann::json::accept(document.out)) << document.out;
}

}  // namespace
}  // namespace qsim::test
