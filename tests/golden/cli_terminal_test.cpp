// When a line that moves may be written: only to a terminal, and under mpirun to the terminal of mpirun.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/io/output.h"
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
