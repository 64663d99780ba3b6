// The self-test and the checks of trades against transports that fail in ways that only a crowd of chunks, one partner
// or two exchanged amplitudes show.
#include "runtime/exchange/transport_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <set>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "plan/cost/machine.h"
#include "qsim/error.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

/// Says whether the trade that has just been made goes wrong: trades since the last finish (1 = the first), partner.
using Fault = std::function<bool(int under_way, int peer)>;

/// Does to what arrived in a faulty trade what `damage` does: the amplitudes at two places of the view.
class FaultyTransport final : public Transport {
 public:
  using Damage = void (*)(Complex& first, Complex& second);
  FaultyTransport(Transport& inner, Backend& backend, Fault fault, Damage damage)
      : inner_(inner), backend_(backend), fault_(std::move(fault)), damage_(damage) {}
  std::string_view name() const override { return "faulty"; }
  std::uint64_t max_trade_bytes(std::uint64_t slot) const override { return inner_.max_trade_bytes(slot); }
  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    inner_.trade(mine, theirs, peer, slot, lane);
    if (!fault_(++under_way_, peer)) return;
    auto* const state = reinterpret_cast<Complex*>(backend_.state().data);
    const Index lowest_free = ~mine.mask & (mine.mask + 1);
    damage_(state[mine.value], state[mine.value | lowest_free]);
  }
  void finish() override {
    inner_.finish();
    under_way_ = 0;
  }

 private:
  Transport& inner_;
  Backend& backend_;
  Fault fault_;
  Damage damage_;
  int under_way_ = 0;
};

void flip_last_bit(Complex& first, Complex&) {
  auto* const word = reinterpret_cast<std::uint64_t*>(&first);
  *word ^= 1;
}
void change_places(Complex& first, Complex& second) {
  EXPECT_NE(first, second) << "no damage";
  std::swap(first, second);
}
void flip_sign_of_both(Complex& first, Complex& second) { first = -first, second = -second; }

/// Messages of all ranks' self-tests, where `rank` has the fault; none where all passed.
std::multiset<std::string> messages(int ranks, unsigned qubits, int rank, const Fault& fault,
                                    FaultyTransport::Damage damage = flip_last_bit) {
  test::RunSetup setup;
  setup.ranks = ranks;
  std::multiset<std::string> said;
  std::mutex lock;
  test::with_run_parts(generate("ghz", {qubits, 0, 1}), setup, [&](test::RunParts& parts) {
    const Fault here = parts.communicator.rank() == rank ? fault : [](int, int) { return false; };
    FaultyTransport faulty(*parts.transport, *parts.backend, here, damage);
    try {
      self_test(*parts.state, faulty, parts.pool);
    } catch (const TransportRefused& error) {
      const std::lock_guard guard(lock);
      said.insert(error.what());
    }
  });
  return said;
}

TEST(SelfTest, PassesSoundTransportsOnShardsOfEverySize) {
  for (const int ranks : {2, 4, 8}) {
    for (const unsigned qubits : {4u, 5u, 8u, 11u, 16u}) {
      EXPECT_TRUE(messages(ranks, qubits, 0, [](int, int) { return false; }).empty()) << ranks << ", " << qubits;
    }
  }
}

TEST(SelfTest, CatchesATransportThatFailsOnlyWithManyChunksUnderWay) {
  for (const int ranks : {2, 4, 8}) {
    const int slots = static_cast<int>(find_machine("cpu").chunk_slots);
    for (const int crowd : {2, 5, slots + 1}) {  // the last: when the ring goes round
      const auto said = messages(ranks, 14, 1, [crowd](int under_way, int) { return under_way == crowd; });
      ASSERT_EQ(said.size(), static_cast<std::size_t>(ranks)) << crowd;
      EXPECT_EQ(said.count(*said.begin()), said.size()) << "all ranks say the same";
      EXPECT_NE(said.begin()->find("to rank 1 than rank"), std::string::npos) << *said.begin();
    }
  }
}

TEST(SelfTest, CatchesAFaultBetweenOnePairOfRanks) {
  for (int peer = 0; peer < 8; ++peer) {
    if (peer == 5) continue;
    const auto said = messages(8, 12, 5, [peer](int, int with) { return with == peer; });
    ASSERT_EQ(said.size(), 8u) << peer;
    EXPECT_NE(said.begin()->find("to rank 5 than rank " + std::to_string(peer)), std::string::npos) << *said.begin();
  }
}

TEST(SelfTest, CatchesTwoAmplitudesThatChangedPlaces) {
  const auto said = messages(
      4, 12, 2, [](int under_way, int) { return under_way == 3; }, change_places);
  EXPECT_EQ(said.size(), 4u);
}

TEST(SelfTest, CatchesATransportThatMovesNothing) {
  test::RunSetup setup;
  setup.ranks = 4;
  test::with_run_parts(generate("ghz", {12, 0, 1}), setup, [&](test::RunParts& parts) {
    class Idle final : public Transport {
     public:
      std::string_view name() const override { return "idle"; }
      void trade(ChunkView, ChunkView, int, std::uint32_t, int) override {}
      void finish() override {}
    } idle;
    EXPECT_THROW(self_test(*parts.state, idle, parts.pool), TransportRefused);
  });
}

/// A run of a random circuit with every trade checked; the fault is rank 1's.
class CheckedRun : public testing::TestWithParam<FaultyTransport::Damage> {};

class CheckedFaulty final : public Transport {
 public:
  CheckedFaulty(Transport& inner, Backend& backend, Communicator& communicator, Fault fault,
                FaultyTransport::Damage damage)
      : faulty_(inner, backend, std::move(fault), damage), checked_(faulty_, backend, communicator) {}
  std::string_view name() const override { return checked_.name(); }
  std::uint64_t max_trade_bytes(std::uint64_t slot) const override { return checked_.max_trade_bytes(slot); }
  void trade(ChunkView mine, ChunkView theirs, int peer, std::uint32_t slot, int lane) override {
    checked_.trade(mine, theirs, peer, slot, lane);
  }
  void finish() override { checked_.finish(); }
  CheckedTransport& checked() { return checked_; }

 private:
  FaultyTransport faulty_;
  CheckedTransport checked_;
};

TEST_P(CheckedRun, IsRefusedOnEveryRankWhateverTheDamage) {
  for (const bool damaged : {true, false}) {
    test::RunSetup setup;
    setup.ranks = 4;
    setup.plan.start = Start::kRandom;  // no amplitude is like another
    setup.check_norm = false;
    setup.wrap = [&](Transport& inner, Backend& backend, Communicator& communicator) {
      const bool faulty = damaged && communicator.rank() == 1;
      const auto fault = [faulty, left = 1](int, int) mutable { return faulty && left-- == 1; };
      return std::make_unique<CheckedFaulty>(inner, backend, communicator, fault, GetParam());
    };
    test::with_run_parts(generate("random", {9, 12, 3}), setup, [&](test::RunParts& parts) {
      parts.run->run({});
      ASSERT_GT(parts.executor->counts().exchanges, 0u);
      auto& checked = static_cast<CheckedFaulty&>(*parts.wrapped).checked();
      if (damaged) {
        EXPECT_THROW(checked.require_intact(), VerificationError);
      } else {
        EXPECT_NO_THROW(checked.require_intact());
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Damage, CheckedRun, testing::Values(flip_last_bit, change_places, flip_sign_of_both));

}  // namespace
}  // namespace qsim
