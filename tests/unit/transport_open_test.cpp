// Ways to trade that cannot be opened or fail their self-test, on one rank or all: all ranks go on to the next one, say
// why, and fail alike where none is left.
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "circuit/generate/families.h"
#include "device/library_error.h"
#include "qsim/error.h"
#include "session/choose/registry.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

using Opened = std::unique_ptr<Transport>;

Opened open_sound(Backend& backend, Communicator& communicator, std::uint32_t local_bits, Precision) {
  return make_host_transport(backend, communicator, local_bits);
}
Opened missing_everywhere(Backend&, Communicator&, std::uint32_t, Precision) {
  throw CommunicatorError("the library is not here");
}
Opened missing_on_rank_two(Backend& backend, Communicator& communicator, std::uint32_t local_bits, Precision) {
  if (communicator.rank() == 2) throw CommunicatorError("rank 2 sees no peer");
  return make_host_transport(backend, communicator, local_bits);
}
Opened device_fails_on_rank_one(Backend& backend, Communicator& communicator, std::uint32_t local_bits, Precision) {
  if (communicator.rank() == 1) throw library_error("CUDA", 2, "cudaHostAlloc", "out of memory");
  return make_host_transport(backend, communicator, local_bits);
}

/// Opens, and then moves nothing.
class Idle final : public Transport {
 public:
  std::string_view name() const override { return "idle"; }
  void trade(ChunkView, ChunkView, int, std::uint32_t, int) override {}
  void finish() override {}
};
Opened open_idle(Backend&, Communicator&, std::uint32_t, Precision) { return std::make_unique<Idle>(); }

struct Outcome {
  std::multiset<std::string> names, reasons, errors;  // one a rank
};

Outcome open_on_four_ranks(const std::vector<TransportFactory>& factories, ExchangeKind wanted = ExchangeKind::kAuto) {
  test::RunSetup setup;
  setup.ranks = 4;
  Outcome outcome;
  std::mutex lock;
  test::with_run_parts(generate("ghz", {10, 0, 1}), setup, [&](test::RunParts& parts) {
    try {
      const OpenedTransport opened = open_one_of(factories, BackendKind::kCuda, wanted, *parts.state, parts.pool);
      const std::lock_guard guard(lock);
      EXPECT_NE(opened.transport, nullptr);
      outcome.names.insert(opened.name);
      outcome.reasons.insert(opened.reason);
    } catch (const CommunicatorError& error) {
      const std::lock_guard guard(lock);
      EXPECT_EQ(error.code(), ExitCode::kCommunication);
      outcome.errors.insert(error.what());
    }
  });
  return outcome;
}

bool has(const std::multiset<std::string>& said, const std::string& words) {
  return !said.empty() && said.begin()->find(words) != std::string::npos;
}

TEST(OpenTransport, TakesTheFirstThatOpensAndPasses) {
  const Outcome outcome = open_on_four_ranks({{"p2p", ExchangeKind::kP2p, open_sound}});
  EXPECT_EQ(outcome.names.count("p2p"), 4u);
  EXPECT_EQ(outcome.reasons.count("first choice"), 4u);
}

TEST(OpenTransport, GoesOnAfterAFailureOnAnyRankAndSaysWhy) {
  struct Case {
    TransportFactory broken;
    const char* words;
  };
  const Case cases[] = {{{"p2p", ExchangeKind::kP2p, missing_everywhere}, "p2p: the library is not here"},
                        {{"nccl", ExchangeKind::kNccl, missing_on_rank_two}, "nccl: rank 2 sees no peer"},
                        {{"mpi", ExchangeKind::kMpi, device_fails_on_rank_one}, "cudaHostAlloc"},
                        {{"staged", ExchangeKind::kStaged, open_idle}, "staged: "}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.words);
    const Outcome next = open_on_four_ranks({one.broken, {"sound", ExchangeKind::kAuto, open_sound}});
    EXPECT_EQ(next.names.count("sound"), 4u);
    EXPECT_EQ(next.reasons.count(next.reasons.empty() ? "" : *next.reasons.begin()), 4u) << "all ranks say the same";
    EXPECT_TRUE(has(next.reasons, one.words)) << *next.reasons.begin();

    const Outcome forced =
        open_on_four_ranks({one.broken, {"sound", ExchangeKind::kAuto, open_sound}}, one.broken.kind);
    ASSERT_EQ(forced.errors.size(), 4u) << "what was asked for is not replaced in silence";
    EXPECT_TRUE(has(forced.errors, "`exchange` " + one.broken.name + " is not there for backend cuda over threads"));
    EXPECT_TRUE(has(forced.errors, one.words)) << *forced.errors.begin();
  }
}

TEST(OpenTransport, WithNothingLeftFailsOnEveryRankWithAllReasons) {
  const Outcome outcome = open_on_four_ranks({{"p2p", ExchangeKind::kP2p, missing_everywhere},
                                              {"nccl", ExchangeKind::kNccl, missing_on_rank_two},
                                              {"staged", ExchangeKind::kStaged, open_idle}});
  ASSERT_EQ(outcome.errors.size(), 4u);
  EXPECT_EQ(outcome.errors.count(*outcome.errors.begin()), 4u) << "all ranks say the same";
  for (const char* words : {"no way to move the state", "p2p: the library", "nccl: rank 2", "staged: "}) {
    EXPECT_TRUE(has(outcome.errors, words)) << *outcome.errors.begin();
  }
}

}  // namespace
}  // namespace qsim
