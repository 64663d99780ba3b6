// Who is lost, who is only busy, and who says so.
#include "comm/liveness.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace qsim {
namespace {

constexpr int kLimit = 8;

/// Ranks in step: each ticks, then hands its table to its neighbours over links that are up.
class World {
 public:
  explicit World(int ranks) : pulses_(static_cast<std::size_t>(ranks)), stopped_(static_cast<std::size_t>(ranks)) {
    for (int rank = 0; rank < ranks; ++rank) views_.emplace_back(rank, ranks, kLimit);
  }
  void run(int ticks) {
    for (int tick = 0; tick < ticks; ++tick) {
      for (std::size_t rank = 0; rank < views_.size(); ++rank) {
        if (!stopped_[rank]) views_[rank].tick(pulses_[rank]);
      }
      for (int rank = 0; rank < size(); ++rank) {
        for (const int peer : Liveness::neighbours(rank, size())) {
          const bool cut = (rank < cut_) != (peer < cut_);
          if (!stopped_[at(rank)] && !stopped_[at(peer)] && !cut) views_[at(peer)].merge(views_[at(rank)].table());
        }
      }
    }
  }
  int size() const { return static_cast<int>(views_.size()); }
  Liveness& view(int rank) { return views_[at(rank)]; }
  Pulse& pulse(int rank) { return pulses_[at(rank)]; }
  void stop(int rank) { stopped_[at(rank)] = true; }
  void go_on(int rank) { stopped_[at(rank)] = false; }
  void cut_below(int rank) { cut_ = rank; }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  std::vector<Liveness> views_;
  std::vector<Pulse> pulses_;
  std::vector<bool> stopped_;
  int cut_ = 0;
};

class LivenessOf : public testing::TestWithParam<int> {};

TEST_P(LivenessOf, RanksThatBeatLosesNobodyHoweverFarTheyAre) {
  World world(GetParam());
  for (int rank = 0; rank < world.size(); rank += 2) world.pulse(rank).waits = 1;
  world.run(200);
  for (int rank = 0; rank < world.size(); ++rank) {
    EXPECT_TRUE(world.view(rank).lost().empty());
    EXPECT_FALSE(world.view(rank).stuck());
  }
}

TEST_P(LivenessOf, EveryRankSeesTheOneThatStops) {
  World world(GetParam());
  const int victim = world.size() - 1;
  world.run(20);
  world.stop(victim);
  world.run(kLimit + 2 * world.size());
  int speakers = 0;
  for (int rank = 0; rank < victim; ++rank) {
    EXPECT_EQ(world.view(rank).lost(), std::vector<int>{victim});
    speakers += world.view(rank).speaks() ? 1 : 0;
  }
  EXPECT_EQ(speakers, 1);
  EXPECT_TRUE(world.view(0).speaks());
}

INSTANTIATE_TEST_SUITE_P(Sizes, LivenessOf, testing::Values(2, 3, 4, 6, 8, 64));

TEST(Liveness, OfBothSidesOfACutLosesTheOtherAndHasAVoiceOnEach) {
  World world(4);
  world.run(20);
  world.cut_below(2);
  world.run(kLimit + 4);
  EXPECT_EQ(world.view(1).lost(), (std::vector<int>{2, 3}));
  EXPECT_EQ(world.view(2).lost(), (std::vector<int>{0, 1}));
  EXPECT_TRUE(world.view(0).speaks());
  EXPECT_FALSE(world.view(1).speaks());
  EXPECT_TRUE(world.view(2).speaks());
  EXPECT_NE(world.view(0).words(7.5).find("nothing was heard from ranks 2, 3 for 7.5 s"), std::string::npos)
      << world.view(0).words(7.5);
}

TEST(Liveness, OfARankThatWasStoppedWithAllOthersLosesNobody) {
  World world(4);
  world.run(20);
  for (int rank = 0; rank < 4; ++rank) world.stop(rank);
  world.run(100);  // hours, for those outside
  for (int rank = 0; rank < 4; ++rank) world.go_on(rank);
  world.run(5);
  for (int rank = 0; rank < 4; ++rank) EXPECT_TRUE(world.view(rank).lost().empty());
}

TEST(Liveness, CountsATickThatCameLateForAFewAndNeverForMany) {
  Liveness busy(0, 2, 10), idle(0, 2, 10);
  for (int i = 0; i < 2; ++i) busy.tick({}, 100), idle.tick({});
  EXPECT_TRUE(busy.lost().empty());
  busy.tick({}, 100), idle.tick({});
  EXPECT_EQ(busy.lost(), std::vector<int>{1});
  EXPECT_TRUE(idle.lost().empty());
}

TEST(Liveness, OfRanksThatAllWaitIsStuckOnceNoneMoves) {
  World world(4);
  for (int rank = 0; rank < 4; ++rank) {
    world.pulse(rank).waits = 1;
    std::strcpy(world.pulse(rank).call.data(), rank == 0 ? "MPI_Bcast" : "MPI_Barrier");
  }
  for (int step = 0; step < 50; ++step) {  // slow, but they move
    world.run(kLimit / 2);
    ++world.pulse(step % 4).moves;
  }
  EXPECT_FALSE(world.view(2).stuck());
  world.run(kLimit + 4);
  EXPECT_TRUE(world.view(2).stuck());
  EXPECT_NE(world.view(2).words(7.5).find("rank 0 in MPI_Bcast for the other ranks, rank 1 in MPI_Barrier"),
            std::string::npos)
      << world.view(2).words(7.5);
  world.pulse(1).waits = 0;
  world.run(3);
  EXPECT_FALSE(world.view(2).stuck()) << "a rank that computes may come";
}

}  // namespace
}  // namespace qsim
