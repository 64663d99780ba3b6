// The pool as a stack, the team of threads, and how probabilities compare.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/threads/thread_team.h"
#include "cpu/cpu_info.h"
#include "device/backend.h"
#include "device/numbers/compensated.h"
#include "device/numbers/probability.h"
#include "device/pool.h"
#include "qsim/error.h"

namespace qsim {
namespace {

TEST(Pool, FramesAreAlignedAndComeBackInReverse) {
  HostPoolMemory memory;
  Pool pool(memory);
  pool.reserve(10000);
  EXPECT_EQ(pool.capacity(), 10240u) << "rounded up to the alignment";
  PoolFrame first(pool, 100, "first");
  std::byte* place = nullptr;
  {
    PoolFrame second(pool, 300, "second");
    place = second.data();
    EXPECT_EQ(second.data() - first.data(), 256);
    EXPECT_EQ(pool.used(), 256u + 512u);
  }
  EXPECT_EQ(pool.used(), 256u);
  PoolFrame third(pool, 1, "third");
  EXPECT_EQ(third.data(), place) << "what a frame gave back is used again";
  EXPECT_EQ(pool.peak(), 768u) << "the peak outlives the frames";
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 256, 0u);
}

TEST(Pool, SaysWhatDoesNotFit) {
  HostPoolMemory memory;
  Pool pool(memory);
  pool.reserve(1024);
  PoolFrame held(pool, 512, "held");
  try {
    PoolFrame frame(pool, 600, "the chunk ring");
    FAIL() << "600 bytes do not fit 512";
  } catch (const CapacityError& error) {
    EXPECT_EQ(error.free_bytes(), 512u);
    EXPECT_NE(std::string(error.what()).find("the chunk ring"), std::string::npos);
  }
  EXPECT_THROW(pool.reserve(2048), Error) << "a frame is still alive";
}

TEST(Pool, MovedFramesAreGivenBackOnce) {
  HostPoolMemory memory;
  Pool pool(memory);
  pool.reserve(4096);
  {
    PoolFrame frame(pool, 1000, "one");
    PoolFrame other = std::move(frame);
    EXPECT_EQ(frame.data(), nullptr);
    EXPECT_EQ(pool.used(), 1024u);
    PoolFrame third;
    third = std::move(other);
  }
  EXPECT_EQ(pool.used(), 0u);
}

TEST(ThreadTeam, EveryTaskRunsOnceOnAKnownWorker) {
  for (const int size : {1, 2, 5}) {
    ThreadTeam team(size);
    EXPECT_EQ(team.size(), size);
    for (const std::uint64_t count : {0u, 1u, 3u, 1000u}) {
      std::vector<std::atomic<int>> runs(count);
      team.run(count, [&](std::uint64_t task, int worker) {
        EXPECT_GE(worker, 0);
        EXPECT_LT(worker, size);
        ++runs[task];
      });
      for (const auto& run : runs) EXPECT_EQ(run, 1);
    }
  }
}

// As where a core has other work to do.
TEST(ThreadTeam, TheCallerWorksAloneForAWhileAfterItHasWaited) {
  ThreadTeam team(2);
  std::atomic<bool> joined = false;
  team.run(2, [&](std::uint64_t, int worker) {
    if (worker == 0) {
      while (!joined) std::this_thread::yield();
    } else {
      joined = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  for (int run = 0; run < 20; ++run) {
    std::atomic<int> by_caller = 0;
    team.run(50, [&](std::uint64_t, int worker) { by_caller += worker == 0 ? 1 : 0; });
    EXPECT_EQ(by_caller, 50);
  }
  // Until it has worked for as long as it waited.
  std::atomic<int> by_others = 0;
  const auto slow = [&](std::uint64_t, int worker) {
    by_others += worker == 0 ? 0 : 1;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  for (int run = 0; run < 100 && by_others == 0; ++run) team.run(20, slow);
  EXPECT_GT(by_others, 0);
}

TEST(ThreadTeam, AnExceptionOfAnyThreadReachesTheCaller) {
  ThreadTeam team(3);
  EXPECT_THROW(team.run(100,
                        [](std::uint64_t task, int) {
                          if (task == 57) throw std::runtime_error("57");
                        }),
               std::runtime_error);
  int after = 0;
  team.run(1, [&](std::uint64_t, int) { ++after; });
  EXPECT_EQ(after, 1) << "the team works on";
}

TEST(ProbabilityKey, KeepsTheOrderOfEveryDigit) {
  const double p = 0.123456789;
  EXPECT_LT(probability_key(p), probability_key(std::nextafter(p, 1)));
  EXPECT_LT(probability_key(p), probability_key(p * (1 + 1e-8)));
  EXPECT_LT(probability_key(1), std::uint64_t{1} << 63);
  EXPECT_LT(probability_key(1e-300), probability_key(1e-299));
  EXPECT_LT(probability_key(0), probability_key(1e-300));
  EXPECT_EQ(probability_key(0.0), probability_key(-0.0));
}

TEST(ProbabilityUnits, AreRoundedAndExactAtOne) {
  EXPECT_EQ(probability_units(1.0), std::uint64_t{1} << 62);
  EXPECT_EQ(probability_units(0x1p-62), 1u);
  EXPECT_EQ(probability_units(0.4 * 0x1p-62), 0u);
}

TEST(CompensatedSum, KeepsWhatPlainSumsLose) {
  CompensatedSum sum;
  sum.add(1);
  for (int j = 0; j < 1000; ++j) sum.add(1e-17);
  EXPECT_DOUBLE_EQ(sum.value(), 1 + 1e-14);
  EXPECT_GT(sum.value(), 1.0);
}

TEST(InstructionSet, UnknownOnesAreNamedWithThoseThereAre) {
  EXPECT_EQ(cpu::choose_instruction_set(InstructionSet::kScalar), InstructionSet::kScalar);
  EXPECT_EQ(cpu::choose_instruction_set(InstructionSet::kAuto), cpu::instruction_sets().back());
  try {
    cpu::choose_instruction_set(static_cast<InstructionSet>(99));
    FAIL() << "there is no such set";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("scalar"), std::string::npos);
  }
}

}  // namespace
}  // namespace qsim
