// Thread ranks: the contract, and what happens to the others when one rank fails or leaves.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <vector>

#include "base/ranks/communicator.h"
#include "qsim/error.h"
#include "support/communicator_contract.h"

namespace qsim {
namespace {

class ThreadRanks : public testing::TestWithParam<int> {};

TEST_P(ThreadRanks, KeepTheContract) {
  std::atomic<int> ran = 0;
  run_thread_ranks(GetParam(), [&](Communicator& communicator) {
    EXPECT_EQ(communicator.size(), GetParam());
    test::check_communicator(communicator);
    ++ran;
  });
  EXPECT_EQ(ran, GetParam());
}

TEST_P(ThreadRanks, ReportTheCauseWhenARankFailsAtARandomMoment) {
  const int ranks = GetParam();
  std::mt19937 random(static_cast<unsigned>(ranks));
  for (int trial = 0; trial < 50; ++trial) {
    const int victim = static_cast<int>(random() % static_cast<unsigned>(ranks));
    const int moment = static_cast<int>(random() % 40);
    const auto body = [&](Communicator& communicator) {
      std::vector<double> values(100, 1.0), copy(100);
      for (int step = 0; step < 40; ++step) {
        if (communicator.rank() == victim && step == moment) throw DeviceError("device lost");
        if (step % 3 == 0) communicator.sum(values);
        if (step % 3 == 1) communicator.barrier();
        if (step % 3 == 2) {
          communicator.exchange(communicator.rank() ^ 1 % communicator.size(), std::as_bytes(std::span(values)),
                                std::as_writable_bytes(std::span(copy)));
        }
      }
    };
    EXPECT_THROW(run_thread_ranks(ranks, body), DeviceError) << "rank " << victim << ", step " << moment;
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, ThreadRanks, testing::Values(1, 2, 4, 8));

TEST(ThreadGroup, RethrowTheLowestRanksOwnError) {
  try {
    run_thread_ranks(4, [](Communicator& communicator) {
      communicator.barrier();
      if (communicator.rank() == 1) throw FileError("from rank 1");
      if (communicator.rank() == 3) throw FileError("from rank 3");
      communicator.barrier();
    });
    FAIL() << "no error";
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "from rank 1");
  }
}

TEST(ThreadGroup, DoNotHangWhenOneLeavesEarly) {
  EXPECT_THROW(run_thread_ranks(4,
                                [](Communicator& communicator) {
                                  if (communicator.rank() != 2) communicator.barrier();
                                }),
               CommunicatorError);
}

TEST(ThreadGroup, MayLeaveWhileOthersStillTrade) {
  run_thread_ranks(4, [](Communicator& communicator) {
    if (communicator.rank() < 2) return;
    std::byte mine{static_cast<unsigned char>(communicator.rank())}, theirs{};
    communicator.exchange(communicator.rank() ^ 1, {&mine, 1}, {&theirs, 1});
    EXPECT_EQ(std::to_integer<int>(theirs), communicator.rank() ^ 1);
  });
}

TEST(ThreadGroup, AreReleasedByAbort) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(run_thread_ranks(4,
                                [](Communicator& communicator) {
                                  if (communicator.rank() == 3) communicator.abort(6, "gave up");
                                  communicator.barrier();
                                }),
               CommunicatorError);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(ThreadGroup, NoticeThatSizesDiffer) {
  EXPECT_THROW(run_thread_ranks(2,
                                [](Communicator& communicator) {
                                  std::vector<double> values(communicator.rank() == 0 ? 3 : 4);
                                  communicator.sum(values);
                                }),
               CommunicatorError);
}

TEST(ThreadGroup, MustBeAtLeastOneAndNotTooMany) {
  for (const int ranks : {0, -1, kMostThreadRanks + 1, 65536, 2'000'000'000}) {
    EXPECT_THROW(run_thread_ranks(ranks, [](Communicator&) {}), UsageError) << ranks;
  }
}

}  // namespace
}  // namespace qsim
