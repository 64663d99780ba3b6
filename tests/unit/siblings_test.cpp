// Ranks of one host see each other's processes end.
#include "comm/siblings.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace qsim {
namespace {

/// A process that waits until it is killed; collected at the end, so that it stays a zombie till then.
class Child {
 public:
  Child() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~Child() {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void kill() const {
    ::kill(pid_, SIGKILL);
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  RankProcess rank_process() const {
    RankProcess process = this_rank_process();
    process.pid = pid_;
    process.start_time = process_of(pid_).start_time;
    return process;
  }

 private:
  pid_t pid_;
};

TEST(Siblings, SeeTheOneThatIsKilledThoughNobodyCollectsIt) {
  const Child first, second;
  const Siblings siblings(std::vector{first.rank_process(), this_rank_process(), second.rank_process()}, 1);
  EXPECT_EQ(siblings.ended(), -1);
  EXPECT_FALSE(siblings.speaks());
  second.kill();
  EXPECT_EQ(siblings.ended(), 2);
  EXPECT_FALSE(siblings.speaks());
  first.kill();
  EXPECT_EQ(siblings.ended(), 0);
  EXPECT_TRUE(siblings.speaks());
}

TEST(Siblings, OfOtherHostsAreNotLookedFor) {
  const Child child;
  RankProcess far = child.rank_process();
  far.host[0] += 1;
  const Siblings siblings(std::vector{far, this_rank_process()}, 1);
  child.kill();
  EXPECT_EQ(siblings.ended(), -1);
}

TEST(Siblings, AreNotMistakenForProcessesThatHaveTheirNumberNow) {
  const Child child;
  RankProcess gone = child.rank_process();
  gone.start_time += 1;
  const Siblings siblings(std::vector{gone, this_rank_process()}, 1);
  EXPECT_EQ(siblings.ended(), 0);
}

}  // namespace
}  // namespace qsim
