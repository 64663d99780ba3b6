// One failure for all ranks, and ranks that were told different things.
#include "base/ranks/agreement.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>

#include "base/ranks/communicator.h"
#include "circuit/generate/families.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "qsim/target.h"
#include "simulator/simulator.h"
#include "support/simulate.h"

namespace qsim {
namespace {

/// What four ranks throw; each says the same.
std::string said_by_all(const std::function<void(Communicator&)>& body) {
  std::mutex lock;
  std::multiset<std::string> said;
  run_thread_ranks(4, [&](Communicator& communicator) {
    std::string text;
    try {
      body(communicator);
    } catch (const CommunicatorError& error) {
      text = error.what();
    }
    const std::lock_guard guard(lock);
    said.insert(text);
  });
  EXPECT_EQ(said.count(*said.begin()), 4u) << *said.begin() << " / " << *said.rbegin();
  return *said.begin();
}

TEST(Agreement, OfEqualListsIsSilent) {
  EXPECT_EQ(said_by_all([](Communicator& communicator) {
              require_same(communicator, {});
              const std::vector<Fact> facts{{"shots", "10"}, {"seed", "7"}};
              require_same(communicator, facts);
            }),
            "");
}

TEST(Agreement, NamesTheFirstDifferenceAndTheLowestRank) {
  EXPECT_EQ(said_by_all([](Communicator& communicator) {
              std::vector<Fact> facts{{"shots", "10"}, {"seed", "7"}, {"verify", "norm"}};
              if (communicator.rank() == 3) facts[1].value = "9";
              if (communicator.rank() == 2) facts[2].value = "full";
              require_same(communicator, facts);
            }),
            "ranks were started differently: rank 0 has seed '7', rank 3 has seed '9'");
}

TEST(Agreement, SeesThatAListIsLonger) {
  EXPECT_EQ(said_by_all([](Communicator& communicator) {
              std::vector<Fact> facts{{"argument 1", "a\n"}};
              if (communicator.rank() == 1) facts.push_back({"argument 2", "--json"});
              require_same(communicator, facts);
            }),
            "ranks were started differently: rank 0 has no more, rank 1 has argument 2 '--json'");
}

TEST(Agreement, TakesTheWorstCodeThenTheLowestRank) {
  std::mutex lock;
  std::set<std::string> said;
  run_thread_ranks(4, [&](Communicator& communicator) {
    try {
      together(communicator, [&] {
        if (communicator.rank() == 0) throw UsageError("usage");
        if (communicator.rank() >= 2)
          throw UnsupportedError("line of " + std::to_string(communicator.rank()), {"f", 3, 4});
      });
    } catch (const UnsupportedError& error) {
      const std::lock_guard guard(lock);
      said.insert(error.what() + std::to_string(error.where().line));
    }
  });
  EXPECT_EQ(said, std::set<std::string>{"line of 23"});
}

struct Difference {
  std::string name;
  std::function<void(RunOptions&)> make;
};

/// Thrown on one rank, with its hint on all.
template <typename Kind>
void expect_hint_on_all(const Kind& thrown) {
  std::mutex lock;
  std::multiset<std::string> hints;
  run_thread_ranks(3, [&](Communicator& communicator) {
    try {
      together(communicator, [&] {
        if (communicator.rank() == 1) throw thrown;
      });
    } catch (const Kind& error) {
      const std::lock_guard guard(lock);
      hints.insert(error.hint());
    }
  });
  EXPECT_EQ(hints.count("a hint"), 3u) << thrown.what();
}

TEST(Agreement, KeepsTheKindOfAnErrorAndItsHint) {
  expect_hint_on_all(UsageError("usage", "a hint"));
  expect_hint_on_all(CircuitError("circuit", "a hint"));
  expect_hint_on_all(ParseError("parse", {"f", 3, 4}, "a hint"));
  expect_hint_on_all(UnsupportedError("unsupported", {"f", 3, 4}, "a hint"));
  expect_hint_on_all(CapacityError("capacity", 2, 1, "a hint"));
  expect_hint_on_all(DeviceError("device", "a hint"));
  expect_hint_on_all(CommunicatorError("communication", 1, "a hint"));
  expect_hint_on_all(VerificationError("verification", "a hint"));
  expect_hint_on_all(FileError("file", "a hint"));
}

TEST(Agreement, KeepsTheBytesOfAnErrorAndTheRankThatItIsAbout) {
  std::mutex lock;
  std::multiset<std::string> said;
  const auto tell = [&](const std::string& text) {
    const std::lock_guard guard(lock);
    said.insert(text);
  };
  run_thread_ranks(3, [&](Communicator& communicator) {
    const bool mine = communicator.rank() == 1;
    try {
      together(communicator, [&] {
        if (mine) throw CapacityError("memory", 20, 7);
      });
    } catch (const CapacityError& error) {
      tell(std::to_string(error.wanted_bytes()) + " of " + std::to_string(error.free_bytes()));
    }
    for (const int about : {2, -1}) {
      try {
        together(communicator, [&] {
          if (mine) throw CommunicatorError("lost", about);
        });
      } catch (const CommunicatorError& error) {
        tell("rank " + std::to_string(error.rank()) + " for " + std::to_string(about));
      }
    }
  });
  EXPECT_EQ(said.count("20 of 7"), 3u);
  EXPECT_EQ(said.count("rank 2 for 2"), 3u);
  EXPECT_EQ(said.count("rank 1 for -1"), 3u);  // who reports it
}

TEST(Agreement, KeepsThePlacesOfAnError) {
  std::mutex lock;
  int told = 0;
  run_thread_ranks(2, [&](Communicator& communicator) {
    try {
      together(communicator, [&] {
        if (communicator.rank() == 0) return;
        ParseError error("f:3:4: error", {"f", 3, 4});
        error.list({{"one", {"f", 3, 4}, "", ExitCode::kCircuit, "one"}, {"two", {"f", 5, 6}, "", {}, "two"}});
        throw error;
      });
    } catch (const ParseError& error) {
      const std::lock_guard guard(lock);
      EXPECT_EQ(error.where().line, 3u);
      ASSERT_EQ(error.diagnostics().size(), 2u);
      EXPECT_EQ(error.diagnostics()[1].where.column, 6u);
      ++told;
    }
  });
  EXPECT_EQ(told, 2);
}

TEST(Agreement, HandsOnEverythingThatIsWrongInAText) {
  std::mutex lock;
  int told = 0;
  run_thread_ranks(4, [&](Communicator& communicator) {
    Failure mine;
    mine.code = ExitCode::kOk;
    if (communicator.rank() == 2) {
      mine.code = ExitCode::kCircuit;
      mine.diagnostics.resize(2);
      Diagnostic& first = mine.diagnostics[0];
      first.text = "f:1:2: error: first";
      first.message = "first";
      first.hint = "try x";
      first.code = ExitCode::kUnsupported;
      first.where.file = "f";
      first.where.line = 1;
      mine.diagnostics[1].where.column = 4;
    }
    if (communicator.rank() == 3) mine.diagnostics.resize(5);
    const Failure worst = worst_failure(communicator, mine);
    const std::lock_guard guard(lock);
    ASSERT_EQ(worst.diagnostics.size(), 2u);
    EXPECT_EQ(worst.rank, 2);
    const Diagnostic& first = worst.diagnostics[0];
    EXPECT_EQ(first.text, "f:1:2: error: first");
    EXPECT_EQ(first.message, "first");
    EXPECT_EQ(first.hint, "try x");
    EXPECT_EQ(first.code, ExitCode::kUnsupported);
    EXPECT_EQ(first.where.file, "f");
    EXPECT_EQ(first.where.line, 1u);
    EXPECT_EQ(worst.diagnostics[1].where.column, 4u);
    ++told;
  });
  EXPECT_EQ(told, 4);
}

TEST(Simulate, RefusesRanksWithOtherOptions) {
  const std::vector<Difference> differences{
      {"shots", [](RunOptions& options) { options.shots = 3; }},
      {"seed", [](RunOptions& options) { options.seed = 3; }},
      {"start state", [](RunOptions& options) { options.start = Start::kRandom; }},
      {"precision", [](RunOptions& options) { options.precision = Precision::kSingle; }},
      {"verify", [](RunOptions& options) { options.verify = Verify::kFull; }},
      {"backend", [](RunOptions& options) { options.backend = BackendKind::kNull; }},
      {"tile", [](RunOptions& options) { options.tile_bits = 5; }},
      {"reproducible", [](RunOptions& options) { options.reproducible = true; }},
      {"marginals", [](RunOptions& options) { options.marginals = true; }},
      {"distribution", [](RunOptions& options) { options.distribution = true; }},
      {"probabilities",
       [](RunOptions& options) {
         options.probabilities = {{1, 0}};
       }},
      {"most probable amplitudes", [](RunOptions& options) { options.top = 4; }},
      {"amplitude indices", [](RunOptions& options) { options.amplitude_indices = {5}; }},
      {"expectation values", [](RunOptions& options) { options.expectation = {parse_pauli_sum("Z0", 6)}; }},
      {"state file", [](RunOptions& options) { options.statevector_path = "/nowhere/x.npy"; }},
      {"profile", [](RunOptions& options) { options.profile_path = "/nowhere/x.json"; }},
      {"repeats", [](RunOptions& options) { options.repeats = 2; }}};
  Circuit circuit = generate("ghz", {6, 0, 1});
  for (const Difference& difference : differences) {
    const std::string said = said_by_all([&](Communicator& communicator) {
      RunOptions options;
      if (communicator.rank() == 2) difference.make(options);
      simulate(circuit, options, communicator);
    });
    EXPECT_EQ(said.rfind("ranks were started differently: rank 0 has " + difference.name, 0), 0u)
        << difference.name << ": " << said;
  }
}

TEST(Simulate, RefusesRanksWithOtherCircuits) {
  const auto said_of = [](const std::function<void(Circuit&)>& change) {
    return said_by_all([&](Communicator& communicator) {
      Circuit circuit = generate("ghz", {6, 0, 1});
      if (communicator.rank() == 3) change(circuit);
      if (communicator.rank() != 3) circuit.cp(0.25, 0, 1);
      simulate(circuit, {}, communicator);
    });
  };
  EXPECT_EQ(said_of([](Circuit& circuit) { circuit.cp(0.25 + 1e-13, 0, 1); }), "") << "rounded otherwise";
  EXPECT_NE(
      said_of([](Circuit& circuit) { circuit.cp(0.26, 0, 1); }).find("is 0.250000 on rank 0, and 0.260000 on rank 3"),
      std::string::npos);
  EXPECT_NE(said_of([](Circuit& circuit) { circuit.cp(0.25, 1, 0); }).find("has operations"), std::string::npos);
  EXPECT_NE(said_of([](Circuit&) {}).find("number of operations '7', rank 3 has number of operations '6'"),
            std::string::npos)
      << said_of([](Circuit&) {});
  EXPECT_NE(said_of([](Circuit& circuit) {
              circuit = generate("ghz", {7, 0, 1});
            }).find("quantum registers"),
            std::string::npos);
}

}  // namespace
}  // namespace qsim
