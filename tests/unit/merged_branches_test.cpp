// Branches that meet are made one: only where nothing can tell them apart, and with the same answers as without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/layout.h"
#include "base/ranks/communicator.h"
#include "circuit/circuit_analysis.h"
#include "classical/flow.h"
#include "document/result.h"
#include "null/null_backend.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "qsim/session.h"
#include "runtime/branch/flow_facts.h"
#include "runtime/branch/front_walk.h"
#include "runtime/read_out/sampling.h"
#include "support/outcomes.h"
#include "support/run_parts.h"
#include "support/simulate.h"
#include "support/test_backend.h"

namespace qsim {
namespace {

constexpr std::uint64_t kRoom = std::uint64_t{1} << 24;

Circuit program(const std::string& text) {
  return parse_qasm("OPENQASM 3.0;\ninclude \"stdgates.inc\";\n" + text).circuit;
}

struct Both {
  Answers merged, one_by_one;
};

/// Both walks of a circuit with these read-outs.
Both walk(const Circuit& circuit, const ReadOuts& wanted, Precision precision = Precision::kDouble,
          std::uint64_t room = kRoom) {
  test::RunSetup setup;
  setup.walk_bytes = room;
  setup.precision = precision;
  setup.snapshots = 8;
  Both both;
  test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
    both.merged = parts.run->run(wanted);
    parts.run->one_by_one = true;
    both.one_by_one = parts.run->run(wanted);
  });
  return both;
}

ReadOuts exact() {
  ReadOuts wanted;
  wanted.marginals = wanted.distribution = true;
  return wanted;
}

ReadOuts drawn(std::uint64_t shots) {
  ReadOuts wanted;
  wanted.shots = shots;
  wanted.seed = 11;
  return wanted;
}

void expect_same(const Both& both, double allowed) {
  const auto same = [allowed](const auto& merged, const auto& other) {
    ASSERT_EQ(merged.has_value(), other.has_value());
    if (!other) return;
    ASSERT_EQ(merged->size(), other->size());
    for (const auto& [outcome, share] : *other) {
      EXPECT_NEAR(static_cast<double>(merged->at(outcome)), static_cast<double>(share), allowed);
    }
  };
  const auto texts = [](const auto& outcomes) {
    return outcomes ? std::optional(test::by_text(*outcomes)) : std::nullopt;
  };
  same(texts(both.merged.distribution), texts(both.one_by_one.distribution));
  same(texts(both.merged.counts), texts(both.one_by_one.counts));
  ASSERT_EQ(both.merged.variables.has_value(), both.one_by_one.variables.has_value());
  if (both.merged.variables) {
    same(both.merged.variables->distribution, both.one_by_one.variables->distribution);
    same(both.merged.variables->counts, both.one_by_one.variables->counts);
  }
  const std::vector<double> none, &marginals = both.one_by_one.marginals ? *both.one_by_one.marginals : none;
  ASSERT_EQ(both.merged.marginals.has_value(), both.one_by_one.marginals.has_value());
  for (std::size_t i = 0; i < marginals.size(); ++i) {
    EXPECT_NEAR(both.merged.marginals->at(i), marginals[i], allowed) << i;
  }
}

struct Case {
  const char* name;
  const char* text;
  std::size_t branches, merged;  // at the end, without and with merging
};

// Results hold the bits of global scope; those of a block are forgotten.
const Case kCases[] = {
    {"nothing remembers the outcome", "qubit q; bit r; { h q; bit m = measure q; reset q; }", 2, 1},
    {"the results hold the outcome", "qubit q; bit m; h q; m = measure q; reset q;", 2, 2},
    {"a global phase is no difference",
     "qubit[2] q; ry(0.4) q[1]; { h q[0]; bit m = measure q[0]; reset q[0];"
     "if (m) { rz(0.8) q[1]; rz(-0.8) q[1]; z q[0]; U(0, 0, 2 * pi) q[1]; x q[1]; y q[1]; z q[1]; } }",
     2, 1},
    {"a relative phase is one", "qubit[2] q; h q[1]; { h q[0]; bit m = measure q[0]; reset q[0]; if (m) { z q[1]; } }",
     2, 2},
    {"a quarter turn is one", "qubit[2] q; h q[1]; { h q[0]; bit m = measure q[0]; reset q[0]; if (m) { s q[1]; } }", 2,
     2},
    {"1e-9 is a difference",
     "qubit[2] q; ry(0.3) q[1]; { h q[0]; bit m = measure q[0]; reset q[0]; if (m) { ry(1e-9) q[1]; } }", 2, 2},
    {"1e-13 is a difference",
     "qubit[2] q; ry(0.3) q[1]; { h q[0]; bit m = measure q[0]; reset q[0]; if (m) { ry(1e-13) q[1]; } }", 2, 2},
    {"a value that is read later",
     "qubit[2] q; ry(0.3) q[1]; { h q[0]; bit m = measure q[0]; reset q[0]; bit k = measure q[1]; reset q[1];"
     "if (m) { x q[1]; } }",
     4, 2},
    {"a value that is written before it is read",
     "qubit[2] q; { h q[0]; bit m = measure q[0]; reset q[0]; m = measure q[0]; if (m) { x q[1]; } }", 2, 1},
    {"a counter that results hold",
     "qubit q; uint[4] n; for int i in [1:4] { h q; bit b = measure q; if (b) { n += 1; x q; } reset q; }", 16, 5},
    {"a counter that only the loop reads",
     "qubit q; bit r; { uint[4] n = 0; bit go = 1; while (go) { n += 1; h q; go = measure q; reset q;"
     "if (n == 6) { go = 0; } } }",
     7, 1},
    {"ways of different numbers of draws",
     "qubit[2] q; bit r; { h q[0]; bit m = measure q[0]; if (m) { reset q[0]; h q[1]; m = measure q[1];"
     "reset q[1]; } else { x q[0]; reset q[0]; } } h q[0]; r = measure q[0];",
     6, 2},
};

TEST(MergedBranches, AreThoseThatNothingCanTellApart) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    const Both both = walk(program(each.text), exact());
    EXPECT_EQ(both.one_by_one.branches, each.branches);
    EXPECT_EQ(both.merged.branches, each.merged);
    EXPECT_NEAR(both.merged.weight, 1, 1e-13);
    expect_same(both, 1e-13);
  }
}

TEST(MergedBranches, EveryShotFallsAsItDoesAlone) {
  for (const Case& each : kCases) {
    SCOPED_TRACE(each.name);
    expect_same(walk(program(each.text), drawn(500)), 0);
  }
}

std::string repetition_code(int rounds, const char* errors) {
  return "qubit[3] d; qubit[2] a; bit[3] found; for int k in [1:" + std::to_string(rounds) + "] { " + errors +
         " cx d[0],a[0]; cx d[1],a[0]; cx d[1],a[1]; cx d[2],a[1]; bit[2] syn = measure a; reset a;"
         "if (syn == 1) x d[0]; if (syn == 3) x d[1]; if (syn == 2) x d[2]; } found = measure d;";
}
const char* const kTurned = "rx(0.7) d[0]; rx(0.7) d[1]; rx(0.7) d[2];";
const char* const kMeasured = "for int i in [0:2] { ry(0.7) a[0]; bit e = measure a[0]; reset a[0]; if (e) x d[i]; }";

TEST(MergedBranches, CodesOfManyRoundsFallShotByShotAsTheyDoAlone) {
  for (const char* const errors : {kTurned, kMeasured}) {
    const Both both = walk(program(repetition_code(12, errors)), drawn(400));
    expect_same(both, 0);
    EXPECT_LT(both.merged.branches, 40u);
    EXPECT_GT(both.one_by_one.branches, 300u);
  }
}

TEST(MergedBranches, ExactAnswersOfManyRoundsNeedFewBranches) {
  // Each round flips the code's value with probability p: two or three of the three errors.
  const double one = std::pow(std::sin(0.35), 2), p = one * one * (3 - 2 * one);
  for (const int rounds : {1, 10, 100}) {
    const Circuit code = program(repetition_code(rounds, kMeasured));
    const Answers answers = [&] {
      test::RunSetup setup;
      setup.walk_bytes = kRoom;
      Answers found;
      test::with_run_parts(code, setup, [&](test::RunParts& parts) { found = parts.run->run(exact()); });
      return found;
    }();
    const double flipped = (1 - std::pow(1 - 2 * p, rounds)) / 2;
    double all = 0;
    for (const auto& [bits, probability] : test::by_text(*answers.distribution, code.cregs())) {
      all += probability;
      if (bits.find("111") == std::string::npos) continue;
      EXPECT_NEAR(probability, flipped, 1e-12) << rounds;
    }
    EXPECT_NEAR(all, 1, 1e-12);
    EXPECT_LE(answers.branches, 8u);
  }
}

TEST(MergedBranches, WorkIsLinearInRounds) {
  const auto sweeps = [](int rounds) {
    std::uint64_t found = 0;
    test::RunSetup setup;
    setup.walk_bytes = kRoom;
    test::with_run_parts(program(repetition_code(rounds, kMeasured)), setup, [&](test::RunParts& parts) {
      parts.run->run(drawn(2000));
      found = parts.executor->counts().sweeps;
    });
    return found;
  };
  const std::uint64_t few = sweeps(20), many = sweeps(200);
  EXPECT_LT(many, 11 * few);
  EXPECT_LT(many, 200u * 200u);  // 2,000 shots one by one take 200 * 2,000 and more
}

TEST(MergedBranches, LittleRoomGivesTheSameAnswers) {
  const Circuit circuit = program(repetition_code(8, kTurned));
  const Both whole = walk(circuit, drawn(300));
  for (const std::uint64_t room : {std::uint64_t{1} << 15, std::uint64_t{1} << 16, std::uint64_t{1} << 18}) {
    const Both parts = walk(circuit, drawn(300), Precision::kDouble, room);
    EXPECT_EQ(parts.merged.counts, whole.merged.counts) << room;
  }
}

/// A walk of shots with this room; 0: one branch after the other.
struct Walked {
  Answers answers;
  std::vector<double> progress;
};

Walked walked(const Circuit& circuit, std::uint64_t shots, std::uint64_t seed, std::uint64_t room) {
  test::RunSetup setup;
  setup.walk_bytes = room;
  Walked found;
  test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
    ReadOuts wanted = drawn(shots);
    wanted.seed = seed;
    parts.run->on_progress = [&](double share) { found.progress.push_back(share); };
    found.answers = parts.run->run(wanted);
  });
  return found;
}

// Shots whose branches do not all find room go in parts, and where not even few do, one branch after the other: with
// rare branches that happens after some parts have been walked.
TEST(MergedBranches, EveryPartOfTheShotsIsDrawnOnce) {
  std::string text = "qubit[2] q; bit[8] c;";
  for (int i = 0; i < 8; ++i) {
    text += "ry(0.3) q[0]; c[" + std::to_string(i) + "] = measure q[0]; reset q[0]; ry(0.3) q[1];";
  }
  const Circuit circuit = program(text + "h q[1];");
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    for (const std::uint64_t shots : {1u, 63u, 64u, 65u, 1000u}) {
      const Walked alone = walked(circuit, shots, seed, 0);
      for (const std::uint64_t room : {4096u, 5000u, 8192u, 16384u}) {
        SCOPED_TRACE(testing::Message() << seed << " " << shots << " " << room);
        const Walked parts = walked(circuit, shots, seed, room);
        EXPECT_EQ(parts.answers.counts, alone.answers.counts);
        if (shots < 1000 || room > 5000) continue;
        EXPECT_GT(parts.answers.branches, alone.answers.branches);  // those of every part
        ASSERT_FALSE(parts.progress.empty());
        EXPECT_TRUE(std::is_sorted(parts.progress.begin(), parts.progress.end()));
        EXPECT_LE(parts.progress.back(), 1);
        EXPECT_LE(std::count(parts.progress.begin(), parts.progress.end(), parts.progress.back()), 2);
      }
    }
  }
}

// Exact answers go in no parts: where their branches find no room they are walked one after the other.
TEST(MergedBranches, ExactAnswersNeedRoomForAllOrNone) {
  const Circuit circuit = program("qubit[2] q; bit[7] c; for int i in [0:6] { ry(0.4) q[0]; c[i] = measure q[0]; }");
  const Both whole = walk(circuit, exact());
  EXPECT_EQ(whole.merged.branches, 64u);
  for (const std::uint64_t room : {4096u, 8192u, 16384u, 24000u}) {
    const Both tight = walk(circuit, exact(), Precision::kDouble, room);
    expect_same(tight, 1e-13);
    EXPECT_EQ(tight.merged.branches, 64u) << room;
  }
}

TEST(MergedBranches, FollowOneWayWhereNothingIsAsked) {
  const Both both = walk(program("qubit[2] q; bit m; ry(0.4) q[0]; m = measure q[0]; h q[0];"), {});
  EXPECT_EQ(both.merged.branches, 1u);
  EXPECT_EQ(both.one_by_one.branches, 1u);
}

TEST(MergedBranches, ValuesWithoutAMeasurementAreCertain) {
  const Both both = walk(program("qubit q; float f = 0.5; h q; reset q; h q;"), exact());
  for (const Answers* const answers : {&both.merged, &both.one_by_one}) {
    ASSERT_EQ(answers->variables->distribution->size(), 1u);
    EXPECT_EQ(answers->variables->distribution->begin()->second, 1);
  }
}

TEST(MergedBranches, CircuitsWithConditionsMeetToo) {
  Circuit circuit(2, 0);
  circuit.add_creg("m", 1);
  circuit.add_creg("r", 1);
  for (int round = 0; round < 6; ++round) {
    circuit.h(0);
    circuit.add_measure(0, 0);
    {
      const auto scope = circuit.when({0, 1, false});
      circuit.x(1);
    }
  }
  circuit.add_measure(1, 1);
  ReadOuts wanted = exact();
  wanted.shots = 300;
  wanted.seed = 3;
  const Both both = walk(circuit, wanted);
  expect_same(both, 1e-13);
  EXPECT_EQ(both.one_by_one.branches, 64u);
  EXPECT_EQ(both.merged.branches, 4u);  // the last m and the parity of all
}

TEST(MergedBranches, AMeasurementThatMayBeLeftOutKeepsWhatItsBitHeld) {
  Circuit circuit(4, 0);
  circuit.add_creg("a", 1);
  circuit.add_creg("b", 1);
  circuit.h(0);
  circuit.add_measure(0, 0);
  circuit.h(1);
  circuit.add_measure(1, 1);
  {
    const auto scope = circuit.when({1, 1, false});
    circuit.add_measure(2, 0);
  }
  {
    const auto scope = circuit.when({0, 1, false});
    circuit.x(3);
  }
  circuit.add_measure(3, 0);  // what is in `a` at the end
  const Both both = walk(circuit, exact());
  expect_same(both, 1e-13);
  EXPECT_NEAR(test::by_text(*both.merged.distribution).at("01"), 0.25, 1e-13);
}

TEST(MergedBranches, SinglePrecisionHasItsOwnBound) {
  const Both both = walk(program(kCases[0].text), exact(), Precision::kSingle);
  EXPECT_EQ(both.merged.branches, 1u);
  const Both apart =
      walk(program("qubit[2] q; output bit[1] o; h q[0]; bit m = measure q[0]; reset q[0]; if (m) { ry(1e-3) q[1]; }"),
           exact(), Precision::kSingle);
  EXPECT_EQ(apart.merged.branches, 2u);
}

TEST(MergedBranches, ThreadsDoNotShow) {
  RunOptions options = test::run_options();
  if (options.backend != BackendKind::kCpu) GTEST_SKIP() << "threads walk branches on the CPU alone";
  options.seed = 7;
  const Circuit one = program(repetition_code(10, kTurned) + "float f = 0.5;");
  const Circuit other = program(
      "qubit[4] q; bit[4] c; bit[6] n; for int i in [0:5] { for int j in [0:3] { ry(0.4 + i * j) q[j]; }"
      "cx q[0], q[1]; cx q[2], q[3]; n[i] = measure q[1]; if (n[i]) rz(0.3) q[2]; } c = measure q;");
  for (const Circuit* const circuit : {&one, &other}) {
    for (const bool is_exact : {false, true}) {
      options.shots = is_exact ? 0 : 700;
      options.distribution = options.marginals = is_exact;
      options.threads = 1;
      const Result alone = simulate(*circuit, options, 1);
      for (const int threads : {2, 3, 5}) {
        options.threads = threads;
        const Result shared = simulate(*circuit, options, 1);
        EXPECT_EQ(alone.results.counts, shared.results.counts) << threads;
        EXPECT_EQ(alone.results.distribution, shared.results.distribution) << threads;
        EXPECT_EQ(alone.results.marginals, shared.results.marginals) << threads;
        EXPECT_EQ(alone.verification.gates_applied, shared.verification.gates_applied) << threads;
      }
    }
  }
}

// What was not asked for is not there, which is not the same as an empty table.
TEST(MergedBranches, VariablesHaveTheTablesThatWereAskedFor) {
  const Circuit circuit = program("qubit q; float f = 0.5; h q; bit m = measure q; if (m) { f = 1.5; } h q;");
  RunOptions options = test::run_options();
  for (const bool is_exact : {false, true}) {
    options.shots = is_exact ? 0 : 20;
    options.distribution = is_exact;
    const Result result = simulate(circuit, options, 1);
    ASSERT_TRUE(result.results.variables);
    EXPECT_EQ(result.results.variables->counts.has_value(), !is_exact);
    EXPECT_EQ(result.results.variables->distribution.has_value(), is_exact);
  }
}

TEST(MergedBranches, ABranchThatRunsTooLongSaysSo) {
  const Circuit circuit = program("qubit q; bit c; h q; c = measure q; while (c) { x q; x q; c = measure q; }");
  for (const bool one_by_one : {false, true}) {
    test::RunSetup setup;
    setup.walk_bytes = kRoom;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      parts.run->one_by_one = one_by_one;
      ReadOuts wanted = exact();
      wanted.max_iterations = 50;
      try {
        parts.run->run(wanted);
        ADD_FAILURE();
      } catch (const UnsupportedError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("more than 50 times in one branch"), std::string::npos) << text;
        EXPECT_NE(text.find("0.5 of the probability is left"), std::string::npos) << text;
      }
    });
  }
}

/// What is left of the probability, in the message of a walk that ran too long.
double left_of(const std::string& text, bool one_by_one, ReadOuts wanted) {
  double left = -1;
  test::RunSetup setup;
  setup.walk_bytes = kRoom;
  test::with_run_parts(program(text), setup, [&](test::RunParts& parts) {
    parts.run->one_by_one = one_by_one;
    wanted.max_iterations = 5;
    try {
      parts.run->run(wanted);
      ADD_FAILURE();
    } catch (const UnsupportedError& error) {
      const std::string words = error.what();
      const std::size_t end = words.find(" of the probability is left"), begin = words.rfind(' ', end - 1);
      left = std::stod(words.substr(begin, end - begin));
    }
  });
  return left;
}

// Of ways that have ended, that no shot takes, that wait behind the loop and in it.
TEST(MergedBranches, WhatIsLeftIsWhatHasNotEnded) {
  const std::string loop = "while (c) { x q[0]; x q[0]; c = measure q[0]; }";
  const std::string inside =
      "while (c) { ry(pi / 3) q[1]; bit d = measure q[1]; reset q[1]; if (d) { x q[0]; x q[0]; c = measure q[0]; } "
      "else { n = n + 0; } c = measure q[0]; }";
  const std::string begin = "qubit[3] q; bit c; uint[3] n = 0; ";
  for (const bool one_by_one : {false, true}) {
    EXPECT_NEAR(left_of(begin + "h q[0]; c = measure q[0]; " + loop, one_by_one, exact()), 0.5, 1e-6) << one_by_one;
    EXPECT_NEAR(left_of(begin + "ry(pi / 3) q[0]; c = measure q[0]; " + loop, one_by_one, exact()), 0.25, 1e-6);
    EXPECT_NEAR(left_of(begin + "ry(pi / 3) q[0]; c = measure q[0]; " + inside, one_by_one, exact()), 0.25, 1e-6);
    // Two ways into the loop that never meet; one after the other, one of them has not begun.
    EXPECT_NEAR(left_of(begin +
                            "output uint[3] m; m = 0; h q[2]; bit e = measure q[2]; if (e) { m = 1; } "
                            "ry(pi / 3) q[0]; c = measure q[0]; " +
                            inside,
                        one_by_one, exact()),
                one_by_one ? 0.625 : 0.25, 1e-6)
        << one_by_one;
  }
  EXPECT_NEAR(left_of(begin + "ry(2 * pi / 3) q[0]; c = measure q[0]; " + loop, true, drawn(1)), 0.75, 1e-6);
}

TEST(MergedBranches, TooManyBranchesAtOnceAreRefusedForExactAnswers) {
  const Circuit circuit = program("qubit q; bit[14] c; for int i in [0:13] { h q; c[i] = measure q; } h q;");
  EXPECT_THROW(walk(circuit, exact()), UnsupportedError);
  const Both both = walk(program("qubit q; bit c; for int i in [0:99] { h q; c = measure q; } h q;"), drawn(50));
  expect_same(both, 0);
}

/// Each turn around the loop runs a matrix that lacks this much of being unitary.
TEST(MergedBranches, RoundingIsCountedAsOftenAsABlockRuns) {
  Flow flow;
  const double off = 3e-13;
  flow.circuit.add_qreg("q", 1);
  flow.circuit.add_unitary(std::vector<Complex>{1 + off, 0, 0, 1 + off}, {}, std::vector<Qubit>{0}, false);
  flow.variables = {{ScalarKind::kInt, 64}};
  flow.constants = {make_word({ScalarKind::kInt, 64}, 1), make_word({ScalarKind::kInt, 64}, 400)};
  using Kind = FlowExpression::Kind;
  const ScalarType number{ScalarKind::kInt, 64};
  flow.expressions = {{Kind::kConstant, Operator::kAdd, number, 0, 0, 0},
                      {Kind::kConstant, Operator::kAdd, number, 1, 0, 0},
                      {Kind::kVariable, Operator::kAdd, number, 0, 0, 0},
                      {Kind::kOperation, Operator::kAdd, number, 2, 0, 0},
                      {Kind::kOperation, Operator::kLess, {ScalarKind::kBool, 1}, 2, 1, 0}};
  flow.steps = {{FlowStep::Kind::kBranch, 4, 4, 1},
                {FlowStep::Kind::kRun, 0, 1, 1},
                {FlowStep::Kind::kAssign, 0, 3, 1},
                {FlowStep::Kind::kJump, 0, 0, 1}};
  const Circuit circuit = controlled_circuit(std::move(flow));
  ASSERT_GT(unitarity_defect(circuit), 1e-13);
  ReadOuts wanted;
  wanted.marginals = true;
  test::with_run_parts(circuit, {}, [&](test::RunParts& parts) { EXPECT_NO_THROW(parts.run->run(wanted)); });
}

/// A device whose state is where it says.
class SomewhereElse final : public NullBackend {
 public:
  explicit SomewhereElse(MemoryRegion where) : NullBackend({}), where_(where) {}
  MemoryRegion state() override { return where_; }

 private:
  MemoryRegion where_;
};

// Branches are walked side by side where they can be copied from, and where 64 states find room.
TEST(FrontWalk, FitsSmallStatesOfOneRankOnTheHost) {
  std::byte memory[1] = {};
  const auto fits = [&](MemoryRegion where, std::uint64_t bytes) {
    SomewhereElse backend(where);
    const auto communicator = make_self_communicator();
    const DistributedState state{backend, *communicator, 4, 0, Precision::kDouble, Layout::identity(4)};
    return FrontWalk::fits(state, WalkRoom{bytes, {}, {}});
  };
  const std::uint64_t enough = 64 * 256;
  EXPECT_TRUE(fits({memory, 256, false}, enough));
  EXPECT_FALSE(fits({memory, 256, false}, enough - 1));
  EXPECT_FALSE(fits({nullptr, 256, false}, enough));
  EXPECT_FALSE(fits({memory, 256, true}, enough));
}

// Threads that help once are told what is asked the next time.
TEST(MergedBranches, ThreadsDoNotShowInLaterRuns) {
  const Circuit circuit = program(
      "qubit[4] q; bit[4] c; bit[6] n; for int i in [0:5] { for int j in [0:3] { ry(0.4 + i * j) q[j]; }"
      "cx q[0], q[1]; n[i] = measure q[1]; if (n[i]) rz(0.3) q[2]; } c = measure q;");
  std::vector<ProgramAnswers> alone;
  for (const int threads : {1, 3}) {
    Target target;
    target.backend = BackendKind::kCpu;
    target.threads = threads;
    Session session(target);
    const Program compiled = session.compile(circuit);
    std::size_t number = 0;
    for (const std::uint64_t shots : {700u, 300u, 0u, 500u}) {
      Questions questions;
      questions.shots = shots;
      questions.seed = shots + 1;
      questions.distribution = shots == 0;
      const ProgramAnswers answers = session.answer(compiled, questions);
      if (threads == 1) {
        alone.push_back(answers);
      } else {
        EXPECT_EQ(answers.counts, alone[number].counts) << shots;
        EXPECT_EQ(answers.distribution, alone[number].distribution) << shots;
      }
      ++number;
    }
  }
}

// A shot's draws have the numbers of its own history, which measurements of what is known count in.
TEST(MergedBranches, DrawsOfKnownQubitsCountInTheHistory) {
  struct Row {
    const char* text;
    std::uint32_t draw;  // of the last measurement
  };
  for (const Row& row : {Row{"a = measure q[0]; ", 1},
                         {"a = measure q[0]; a = measure q[0]; ", 2},
                         {"x q[0]; a = measure q[0]; a = measure q[0]; ", 2},
                         {"x q[0]; a = measure q[0]; a = measure q[0]; reset q[0]; a = measure q[0]; ", 4},
                         {"reset q[0]; a = measure q[0]; reset q[0]; ", 3}}) {
    const Circuit circuit = program(std::string("qubit[2] q; bit a; bit c; bit d; ") + row.text +
                                    "h q[1]; c = measure q[1]; d = c; while (d) { reset q[1]; d = measure q[1]; }");
    const Both both = walk(circuit, drawn(200));
    expect_same(both, 0);
    std::uint64_t ones = 0, expected = 0;
    for (const auto& [bits, times] : *both.merged.counts) ones += (bits[0] >> 1 & 1) * times;
    for (std::uint64_t shot = 0; shot < 200; ++shot) expected += shot_word(11, shot, row.draw) >> 63;
    EXPECT_EQ(ones, expected) << row.text;
  }
}

// A step that jumps to itself is a loop as well.
TEST(MergedBranches, AStepThatJumpsToItselfRunsTooLong) {
  Flow flow;
  flow.circuit.add_qreg("q", 1);
  flow.circuit.h(0);
  flow.steps = {{FlowStep::Kind::kRun, 0, 1, 1}, {FlowStep::Kind::kJump, 0, 1, 2}};
  const Circuit circuit = controlled_circuit(std::move(flow));
  for (const std::uint64_t room : {std::uint64_t{0}, kRoom}) {
    test::RunSetup setup;
    setup.walk_bytes = room;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      ReadOuts wanted = exact();
      wanted.max_iterations = 50;
      try {
        parts.run->run(wanted);
        ADD_FAILURE();
      } catch (const UnsupportedError& error) {
        EXPECT_NE(std::string(error.what()).find("more than 50 times in one branch"), std::string::npos)
            << error.what();
      }
      const FlowFacts facts = find_facts(parts.program, circuit);
      std::size_t loops = 0;
      for (std::size_t place = 0; place <= parts.program.steps.size(); ++place) loops += facts.loops[place] ? 1 : 0;
      EXPECT_EQ(loops, 1u);
    });
  }
}

// Barriers are in no plan, and a block of nothing else is no step.
TEST(ControlledBlocks, HoldNoBarriers) {
  const auto planned = [](const std::string& first, const std::string& second) {
    const Circuit circuit = program("qubit[2] q; bit m; h q[0]; m = measure q[0]; if (m) { " + first + " } else { " +
                                    second + " } h q[1]; m = measure q[1];");
    std::pair<std::size_t, std::size_t> found;
    test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
      found.first = parts.program.plans.size();
      for (const Step& step : parts.program.steps) found.second += step.kind == Step::Kind::kPlan ? 1 : 0;
    });
    return found;
  };
  EXPECT_EQ(planned("barrier q; x q[0]; barrier q;", "barrier q; y q[1];"), planned("x q[0];", "y q[1];"));
  EXPECT_EQ(planned("barrier q; x q[0];", "x q[0]; barrier q;"), planned("x q[0];", "x q[0];"));
  EXPECT_EQ(planned("barrier q;", "x q[0];"), planned("", "x q[0];"));
}

TEST(FlowFacts, SayWhatIsDeadAndWhereBranchesMeet) {
  const Circuit circuit =
      program("qubit q; bit r; { h q; bit m = measure q; if (m) { x q; } r = measure q; bit u = measure q; }");
  test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
    const FlowFacts facts = find_facts(parts.program, circuit);
    std::vector<std::uint32_t> measured;  // variables, in the order of the program
    const std::vector<Step>& steps = parts.program.steps;
    for (const Step& step : steps) {
      if (parts.program.records(step)) measured.push_back(step.clbit);
    }
    ASSERT_EQ(measured.size(), 3u);
    const auto dead_at = [&](std::uint32_t variable) {
      std::vector<std::size_t> places;
      for (std::size_t place = 0; place <= steps.size(); ++place) {
        for (const std::uint32_t dead : facts.dead(place)) {
          if (dead == variable) places.push_back(place);
        }
      }
      return places;
    };
    // m dies on both ways behind the test, k never (it is the result), u at once.
    std::size_t test = 0, last = 0;
    for (std::size_t place = 0; place < steps.size(); ++place) {
      if (steps[place].kind == Step::Kind::kClassical && steps[place].flow.kind == FlowStep::Kind::kBranch)
        test = place;
      if (parts.program.records(steps[place])) last = place;
    }
    EXPECT_EQ(dead_at(measured[0]), (std::vector<std::size_t>{test + 1, steps[test].flow.b}));
    EXPECT_TRUE(dead_at(measured[1]).empty());
    EXPECT_EQ(dead_at(measured[2]), std::vector<std::size_t>{last + 1});
    EXPECT_GT(facts.meeting[steps[test].flow.b], 0u);
    EXPECT_GT(facts.meeting[steps.size()], 0u);
  });
}

// What results hold is dead all the same until it is written for the last time.
TEST(FlowFacts, AResultIsDeadBeforeItIsWrittenAgain) {
  Circuit circuit(1, 0);
  circuit.add_creg("r", 1);
  for (int time = 0; time < 2; ++time) {
    circuit.h(0);
    circuit.add_measure(0, 0);
  }
  circuit.h(0);
  test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
    const FlowFacts facts = find_facts(parts.program, circuit);
    std::vector<std::size_t> measures;
    for (std::size_t place = 0; place < parts.program.steps.size(); ++place) {
      if (parts.program.records(parts.program.steps[place])) measures.push_back(place);
    }
    ASSERT_EQ(measures.size(), 2u);
    const std::uint32_t bit = parts.program.steps[measures[0]].clbit;
    for (std::size_t place = 0; place <= parts.program.steps.size(); ++place) {
      const auto dead = facts.dead(place);
      const bool noted = std::find(dead.begin(), dead.end(), bit) != dead.end();
      EXPECT_EQ(noted, place == measures[0] + 1) << place;  // from there on
    }
  });
}

// The way that ends in front of the other does not lead into it.
TEST(FlowFacts, WhatOneWayReadsIsDeadOnTheOther) {
  const Circuit circuit = program(
      "qubit q; bit r; { h q; bit v = measure q; h q; bit m = measure q;"
      "if (m) { x q; reset q; } else { if (v) { y q; } } r = measure q; }");
  test::with_run_parts(circuit, {}, [&](test::RunParts& parts) {
    const FlowFacts facts = find_facts(parts.program, circuit);
    const std::vector<Step>& steps = parts.program.steps;
    std::size_t measured = steps.size(), test = steps.size();  // v, and the first test, of m
    for (std::size_t place = steps.size(); place-- > 0;) {
      if (parts.program.records(steps[place])) measured = place;
      if (steps[place].kind == Step::Kind::kClassical && steps[place].flow.kind == FlowStep::Kind::kBranch)
        test = place;
    }
    ASSERT_LT(test, steps.size());
    const auto is_dead = [&](std::size_t place) {
      const auto dead = facts.dead(place);
      return std::find(dead.begin(), dead.end(), steps[measured].clbit) != dead.end();
    };
    EXPECT_TRUE(is_dead(test + 1));
    EXPECT_FALSE(is_dead(steps[test].flow.b));
  });
}

}  // namespace
}  // namespace qsim
