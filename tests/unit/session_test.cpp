// Sessions: what they refuse, and that they can be used after it.
#include "qsim/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <limits>
#include <numbers>
#include <utility>

#include "base/ranks/agreement.h"
#include "base/ranks/communicator.h"
#include "circuit/generate/families.h"
#include "comm/rank_threads.h"
#include "qsim/error.h"
#include "qsim/qasm.h"
#include "session/rank/rank_session.h"
#include "session/rank/settle.h"
#include "support/simulate.h"

namespace qsim {
namespace {

Target on_cpu(int ranks = 1) {
  Target target;
  target.backend = BackendKind::kCpu;
  target.ranks = ranks;
  return target;
}

Circuit bell() { return std::move(Circuit(2).h(0).cx(0, 1)); }

void expect_bell(State& state) {
  const std::vector<double> marginals = state.marginals();
  EXPECT_NEAR(marginals[0], 0.5, 1e-12);
  EXPECT_NEAR(std::abs(state.amplitudes(3, 1)[0]), std::numbers::sqrt2 / 2, 1e-12);
}

TEST(Session, SaysWhereItRuns) {
  const Session session(on_cpu(2));
  EXPECT_EQ(session.target().backend, BackendKind::kCpu);
  EXPECT_EQ(session.reason(), "as asked for");
  EXPECT_EQ(session.ranks(), 2);
  EXPECT_EQ(session.rank(), 0);
  EXPECT_GT(session.memory_bytes(), 0u);
}

TEST(Session, TargetsWithoutSenseAreRefused) {
  Target three = on_cpu(3), none = on_cpu(0), jit = on_cpu(), gpu = on_cpu();
  jit.jit = Jit::kOff;
  gpu.gpu_ids = {0};
  Target threads = on_cpu(), states = on_cpu(), share = on_cpu(), instructions = on_cpu();
  threads.threads = -1;
  states.states = 0;
  share.pool_share = std::numeric_limits<double>::quiet_NaN();
  instructions.instruction_set = static_cast<InstructionSet>(99);
  for (const Target& target : {three, none, jit, gpu, threads, states, share, instructions}) {
    EXPECT_THROW(Session{target}, UsageError);
  }
}

TEST(Session, OnTheBackendThatCountsHasStatesWithoutANorm) {
  Target target;
  target.backend = BackendKind::kNull;
  Session session(target);
  EXPECT_NO_THROW(session.run(generate("random", {12, 5, 1})));
}

TEST(Session, ProgramsKnowThatTheyWereMovedFrom) {
  Session session(on_cpu());
  Program program = session.compile(bell());
  const Program taken = std::move(program);
  State state = session.run(taken);
  expect_bell(state);
  EXPECT_THROW(session.run(program), UsageError);
  EXPECT_THROW(session.answer(program, {}), UsageError);
  EXPECT_THROW(state.run(program), UsageError);
  EXPECT_THROW(static_cast<void>(program.circuit()), UsageError);
  EXPECT_THROW(static_cast<void>(program.dynamic()), UsageError);
  EXPECT_THROW(static_cast<void>(program.work()), UsageError);
  EXPECT_THROW(static_cast<void>(program.timetable()), UsageError);
}

TEST(Session, LoopsEndAtTheIterationsThatAreAskedFor) {
  const Circuit circuit = parse_qasm(R"(OPENQASM 3; include "stdgates.inc"; qubit q; bit c; h q; c = measure q;
while (!c) { reset q; h q; c = measure q; })")
                              .circuit;
  Session session(on_cpu());
  const Program program = session.compile(circuit);
  EXPECT_EQ(session.answer(program, {.shots = 100, .seed = 1}).counts.size(), 1u);
  try {
    session.answer(program, {.shots = 100, .seed = 1, .max_iterations = 1});
    FAIL() << "100 shots in one iteration";
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("`max_iterations`"), std::string::npos) << error.what();
  }
}

TEST(Session, StatesOfFewQubitsAreHeldByEveryRank) {
  Session session(on_cpu(4));
  State state = session.run(bell());
  expect_bell(state);
  State one = session.state(1);
  EXPECT_EQ(one.amplitudes(0, 2), (std::vector<Complex>{1, 0}));
  State large = session.run(generate("ghz", {12, 0, 1}));
  EXPECT_NEAR(large.marginals()[11], 0.5, 1e-12);
  expect_bell(state);
}

TEST(Session, StatesThatDoNotFitAreRefusedAndOthersStay) {
  Target target = on_cpu();
  target.max_memory = 64 << 20;
  Session session(target);
  State state = session.run(bell());
  EXPECT_THROW(session.state(30), CapacityError);
  expect_bell(state);
  EXPECT_THROW(session.state(0), UsageError);
  EXPECT_THROW(session.state(63), UsageError);
}

TEST(Session, ProgramsOfOtherTargetsAreRefused) {
  Session session(on_cpu());
  Target single = on_cpu();
  single.precision = Precision::kSingle;
  EXPECT_THROW(session.run(compile(bell(), single)), UsageError);
  EXPECT_THROW(session.run(compile(bell(), on_cpu(2))), UsageError);
  State state = session.run(compile(bell(), on_cpu()));
  EXPECT_THROW(state.run(session.compile(Circuit(3))), UsageError);
  expect_bell(state);
  Circuit dynamic(2, 1);
  dynamic.h(0).add_measure(0, 0).x(0);
  const Program program = session.compile(dynamic);
  EXPECT_TRUE(program.dynamic());
  EXPECT_THROW(session.run(program), UnsupportedError);
  EXPECT_THROW(session.compile(Circuit()), UsageError);
}

TEST(Session, OpenCircuitsNeedTheirValues) {
  Session session(on_cpu());
  Circuit open(1);
  open.ry(2 * Parameter{"a"} + Parameter{"b"}, 0);
  const Program program = session.compile(open);
  EXPECT_THROW(session.run(program), UsageError);
  EXPECT_THROW(session.run(program, {1.0}), UsageError);
  EXPECT_THROW(session.run(program, {1.0, std::numeric_limits<double>::quiet_NaN()}), UsageError);
  EXPECT_THROW(session.run(program, {1.0, HUGE_VAL}), UsageError);
  for (const double a : {0.1, 0.4}) {
    State state = session.run(program, {a, 0.3});
    EXPECT_NEAR(state.amplitudes(1, 1)[0].real(), std::sin(a + 0.15), 1e-14);
  }
  EXPECT_EQ(program.work({{0.1, 0.2}}).sweeps, 1u);
}

TEST(Session, StatesKnowWhenTheyCannotBeUsed) {
  auto session = std::make_unique<Session>(on_cpu());
  State state = session->run(bell());
  State moved = std::move(state);
  EXPECT_THROW(state.norm(), UsageError);  // NOLINT(bugprone-use-after-move)
  expect_bell(moved);
  Session other(on_cpu());
  State elsewhere = other.run(bell());
  EXPECT_THROW(moved.inner_product(elsewhere), UsageError);
  State wide = session->state(3);
  EXPECT_THROW(moved.inner_product(wide), UsageError);
  session.reset();
  EXPECT_THROW(moved.norm(), UsageError);
  EXPECT_THROW(moved.set(1), UsageError);
  EXPECT_THROW(moved.copy(), UsageError);
  EXPECT_THROW(moved.inner_product(wide), UsageError);
  Session taken = std::move(other);
  EXPECT_THROW(other.state(2), UsageError);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(other.target(), UsageError);
  EXPECT_THROW(other.run(bell()), UsageError);
  expect_bell(elsewhere);
}

TEST(Session, QuestionsWithoutSenseAreRefused) {
  Session session(on_cpu());
  State state = session.run(bell());
  const std::vector<Qubit> twice{0, 0}, beyond{2}, none;
  for (const std::vector<Qubit>& list : {twice, beyond, none}) EXPECT_THROW(state.probabilities(list), UsageError);
  EXPECT_THROW(state.amplitudes(3, 2), UsageError);
  EXPECT_THROW(state.amplitudes(5, 0), UsageError);
  EXPECT_THROW(state.amplitudes(std::vector<Index>{4}), UsageError);
  EXPECT_THROW(state.expectations(std::vector<PauliString>{{4, 0}}), UsageError);
  EXPECT_THROW(state.set(4), UsageError);
  EXPECT_THROW(state.set(std::vector<Complex>{1, 0}), UsageError);
  EXPECT_THROW(state.set(std::vector<Complex>{1, 1, 0, 0}), UsageError);
  EXPECT_THROW(state.set(std::vector<Complex>{std::nan(""), 0, 0, 1}), UsageError);
  EXPECT_THROW(state.set_product(std::vector<std::array<Complex, 2>>{{Complex(1), Complex(0)}}), UsageError);
  EXPECT_THROW(state.set_product(std::vector<std::array<Complex, 2>>(2, {Complex(1), Complex(1)})), UsageError);
  EXPECT_TRUE(state.sample(0, 1).empty());
  expect_bell(state);
}

TEST(Session, FilesThatHoldNoStateAreRefused) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "qsim_session_files";
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "state.npy").string();
  for (const int ranks : {1, 2}) {
    Session session(on_cpu(ranks));
    State state = session.run(generate("ghz", {9, 0, 1}));
    state.save(file);
    State smaller = session.state(8);
    EXPECT_THROW(smaller.load(file), FileError);
    EXPECT_THROW(smaller.norm(), UsageError) << "it has no value now";
    smaller.set();
    EXPECT_NEAR(smaller.norm(), 1, 1e-15);
    State other = session.state(9);
    for (const char* text : {"", "no array", "\x93NUMPY\x01"}) {
      std::ofstream(folder / "bad.npy") << text;
      EXPECT_THROW(other.load((folder / "bad.npy").string()), FileError) << text;
    }
    EXPECT_THROW(other.load((folder / "missing.npy").string()), FileError);
    EXPECT_THROW(other.load(folder.string()), FileError);
    std::string bytes(std::filesystem::file_size(file), 0);
    std::ifstream(file, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.replace(bytes.size() - 16, 16, std::string(16, 0));  // the second of the two amplitudes
    std::ofstream(folder / "short_norm.npy", std::ios::binary) << bytes;
    EXPECT_THROW(other.load((folder / "short_norm.npy").string()), FileError);
    EXPECT_THROW(state.save((folder / "missing" / "x.npy").string()), FileError);
    EXPECT_NEAR(state.norm(), 1, 1e-12);
    other.load(file);
    EXPECT_NEAR(std::abs(other.inner_product(state)), 1, 1e-12);
  }
  std::filesystem::remove_all(folder);
}

TEST(Session, ACallersProgressFunctionMayEndARun) {
  for (const int ranks : {1, 4}) {
    bool ends = true;
    SessionOptions options;
    options.progress = [&](const Progress& progress) {
      EXPECT_GT(progress.fraction, 0);
      if (ends) throw std::domain_error("enough");
    };
    Session session(on_cpu(ranks), options);
    State other = session.run(bell());
    // Long enough to be told of.
    const Program program = session.compile(generate("random", {18, 40, 1}), {Strategy::kNaive, {}, false});
    EXPECT_THROW(session.run(program), std::domain_error) << ranks;
    expect_bell(other);
    EXPECT_THROW(session.answer(program, {.marginals = true}), std::domain_error) << ranks;
    ends = false;
    EXPECT_NEAR(session.run(program).norm(), 1, 1e-10);
    expect_bell(other);
  }
}

TEST(Session, OneThreadAtATime) {
  std::promise<void> inside, go_on;
  SessionOptions options;
  bool told = false;
  options.progress = [&](const Progress&) {
    if (std::exchange(told, true)) return;
    inside.set_value();
    go_on.get_future().wait();
  };
  Session session(on_cpu(), options);
  const Program program = session.compile(generate("random", {18, 40, 1}), {Strategy::kNaive, {}, false});
  auto running = std::async(std::launch::async, [&] { return session.run(program).norm(); });
  inside.get_future().wait();
  EXPECT_THROW(session.state(2), UsageError);
  go_on.set_value();
  EXPECT_NEAR(running.get(), 1, 1e-10);
  EXPECT_NEAR(session.state(2).norm(), 1, 1e-15);
}

TEST(Session, AProgressFunctionThatAsksItsSessionIsRefused) {
  Session* asked = nullptr;
  int refused = 0;
  SessionOptions options;
  options.progress = [&](const Progress&) {
    EXPECT_THROW(asked->state(2), UsageError);
    ++refused;
  };
  Session session(on_cpu(), options);
  asked = &session;
  const Program program = session.compile(generate("random", {18, 40, 1}), {Strategy::kNaive, {}, false});
  EXPECT_NEAR(session.run(program).norm(), 1, 1e-10);
  EXPECT_GT(refused, 0);
}

/// What `call` throws on this rank; the ranks' must be equal, text by text.
template <class Expected>
void expect_on_all(Communicator& ranks, const std::string& words, const std::function<void()>& call) {
  std::string said;
  try {
    call();
  } catch (const Expected& error) {
    said = error.what();
  } catch (const std::exception& error) {
    said = std::string("another error: ") + error.what();
  }
  EXPECT_NE(said.find(words), std::string::npos) << "rank " << ranks.rank() << " said: " << said;
  const Fact fact{"said", said};
  EXPECT_NO_THROW(require_same(ranks, {&fact, 1}));
}

/// On every rank of a session whose ranks are callers by themselves, as MPI processes are.
void use_wrongly(Communicator& ranks, std::uint32_t qubits) {
  Target target = on_cpu();
  target.communicator = test::borrowed(ranks);
  auto opened = std::make_unique<Session>(target);
  Session& session = *opened;
  Circuit open(qubits);
  open.ry(Parameter{"a"}, 0).cx(0, 1);
  const Program program = session.compile(open), narrow = session.compile(Circuit(2).h(0));
  const bool last = ranks.rank() + 1 == ranks.size();
  const double bad = std::numeric_limits<double>::quiet_NaN();
  State state = session.run(program, {0.4});
  const auto run = [&](std::vector<double> values) { return [&, values] { state.run(program, values); }; };
  expect_on_all<UsageError>(ranks, "the value of parameter", run({bad}));
  expect_on_all<UsageError>(ranks, "2 values for a circuit of 1", run({0.1, 0.2}));
  expect_on_all<CommunicatorError>(ranks, "arguments", run({last ? bad : 0.5}));
  expect_on_all<CommunicatorError>(ranks, "arguments", run({last ? 0.5 : 0.25}));
  expect_on_all<CommunicatorError>(ranks, "arguments", run(std::vector<double>(last ? 2 : 1, 0.5)));
  if (qubits != 2) expect_on_all<UsageError>(ranks, "2 qubits for a state", [&] { state.run(narrow); });
  expect_on_all<UsageError>(ranks, "basis state", [&] { state.set(Index{1} << qubits); });
  expect_on_all<CommunicatorError>(ranks, "arguments", [&] { state.set(last ? 1 : Index{1} << qubits); });
  expect_on_all<CommunicatorError>(ranks, "arguments",
                                   [&] { state.sample(10, last ? std::optional<std::uint64_t>() : 7); });
  expect_on_all<CommunicatorError>(ranks, "arguments", [&] { state.top(last ? 1 : 2); });
  expect_on_all<UsageError>(ranks, "qubit", [&] { state.probabilities(std::vector<Qubit>{qubits}); });
  expect_on_all<CommunicatorError>(ranks, "the call", [&] { last ? (void)state.norm() : (void)state.marginals(); });
  expect_on_all<CommunicatorError>(ranks, "arguments", [&] { session.state(last ? 0 : 3); });
  expect_on_all<UsageError>(ranks, "a state of 0 qubits", [&] { session.state(0); });
  const PauliSum sum{"", {{bad, {0, 1}}}};
  expect_on_all<UsageError>(ranks, "not a finite number", [&] { state.expectation(sum); });
  Questions questions;
  questions.expectations = {sum};
  expect_on_all<UsageError>(ranks, "not a finite number",
                            [&] { session.answer(program, questions, std::vector<double>{0.4}); });
  questions = {};
  questions.probabilities = {{last ? 0u : 1u}};
  expect_on_all<CommunicatorError>(ranks, "arguments",
                                   [&] { session.answer(program, questions, std::vector<double>{0.4}); });
  if (qubits > 2) {  // shared: one plan but for a number
    Circuit own(qubits);
    own.ry(last ? 0.3 : 0.4, 0).cx(0, 1);
    const Program other = session.compile(own);
    expect_on_all<CommunicatorError>(ranks, "the plan's angles and matrices", [&] { session.run(other); });
  }
  // One that was moved from on one of them alone.
  State other = state.copy(), third = state.copy();
  const State taken = last ? std::move(other) : std::move(third);
  expect_on_all<CommunicatorError>(ranks, "moved from", [&] { other.norm(); });
  expect_on_all<CommunicatorError>(ranks, "moved from", [&] { other.set(0); });
  expect_on_all<CommunicatorError>(ranks, "moved from", [&] { state.inner_product(other); });
  State gone = std::move(state);
  expect_on_all<UsageError>(ranks, "moved from", [&] { state.set_random(3); });
  state = std::move(gone);
  // It is as it was, and the session can be used.
  EXPECT_NEAR(state.marginals()[1], std::pow(std::sin(0.2), 2), 1e-12);
  EXPECT_NEAR(state.norm(), 1, 1e-12);
  // Its session has ended on one of them alone, then on all.
  for (const bool ends : {last, true}) {
    if (ends) opened.reset();
    expect_on_all<UsageError>(ranks, "has ended", [&] { state.norm(); });
    expect_on_all<UsageError>(ranks, "has ended", [&] { state.set(0); });
    expect_on_all<UsageError>(ranks, "has ended", [&] { state.copy(); });
    expect_on_all<CommunicatorError>(ranks, "moved from", [&] { other.norm(); });
  }
  expect_on_all<UsageError>(ranks, "has ended", [&] { gone.norm(); });  // moved from as well
}

TEST(Session, RanksThatAreWrongAreToldTheSame) {
  for (const int count : {2, 4}) {
    for (const std::uint32_t qubits : {2u, 9u}) {  // held by each rank, shared by the ranks
      SCOPED_TRACE(std::to_string(count) + " ranks, " + std::to_string(qubits) + " qubits");
      RankThreads threads(count);
      threads.run([&](Communicator& ranks) { use_wrongly(ranks, qubits); });
    }
  }
}

TEST(Session, RanksWithOtherTargetsAreRefused) {
  RankThreads threads(2);
  threads.run([&](Communicator& ranks) {
    Target target = on_cpu();
    target.communicator = test::borrowed(ranks);
    target.precision = ranks.rank() == 0 ? Precision::kDouble : Precision::kSingle;
    expect_on_all<CommunicatorError>(ranks, "precision", [&] { Session{target}; });
  });
}

TEST(Session, AProgressFunctionOfOneRankEndsTheRunOfAll) {
  RankThreads threads(2);
  threads.run([&](Communicator& ranks) {
    Target target = on_cpu();
    target.communicator = test::borrowed(ranks);
    SessionOptions options;
    bool ends = true;
    if (ranks.rank() == 0) {
      options.progress = [&](const Progress&) {
        if (ends) throw std::domain_error("enough");
      };
    }
    Session session(target, options);
    const Program program = session.compile(generate("random", {18, 40, 1}), {Strategy::kNaive, {}, false});
    if (ranks.rank() == 0) {
      EXPECT_THROW(session.run(program), std::domain_error);
    } else {
      EXPECT_THROW(session.run(program), UsageError);
    }
    ends = false;
    EXPECT_NEAR(session.run(program).norm(), 1, 1e-10);
  });
}

TEST(Session, SamplesAreTheSameForAnyRanks) {
  const Circuit circuit = generate("random", {10, 10, 3});
  Session one(on_cpu()), four(on_cpu(4));
  EXPECT_EQ(one.run(circuit).sample(10'000, 5), four.run(circuit).sample(10'000, 5));
}

TEST(Session, ManyProgramsAndManyStates) {
  Target target = on_cpu(2);
  target.states = 3;
  Session session(target);
  std::vector<State> states;
  for (std::uint32_t i = 0; i < 12; ++i) states.push_back(session.run(generate("random", {8 + i % 2, 4, i})));
  for (std::uint32_t i = 0; i < 12; ++i) {
    Session fresh(on_cpu());
    State same = fresh.run(generate("random", {8 + i % 2, 4, i}));
    const std::vector<Complex> found = states[i].amplitudes(0, 256), wanted = same.amplitudes(0, 256);
    for (std::size_t a = 0; a < found.size(); ++a) EXPECT_LT(std::abs(found[a] - wanted[a]), 1e-12) << i;
  }
}

TEST(Session, AStateThatIsInThePoolTakesNoMemoryOfTheHost) {
  Target target = on_cpu();
  target.states = 1;  // others wait on the host
  const std::unique_ptr<Communicator> self = make_self_communicator();
  RankSession session(settle_for_any(target, *self), *self, Verify::kNorm);
  const auto zero = [](Index first, std::span<Complex> values) {
    std::ranges::fill(values, Complex(0));
    if (first == 0) values[0] = 1;
  };
  Shard one, other;
  one.qubits = other.qubits = 10;
  session.fill(one, zero);
  session.fill(other, zero);
  EXPECT_EQ(one.host.size(), 16384u);
  session.enter(one);  // brought back
  EXPECT_EQ(one.host.capacity(), 0u);
  EXPECT_EQ(other.host.size(), 16384u);
  session.fill(other, zero);  // made anew
  EXPECT_EQ(other.host.capacity(), 0u);
  EXPECT_EQ(one.host.size(), 16384u);
}

TEST(Session, AStateIsReadWhereItLies) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    Target target = on_cpu();
    target.precision = precision;
    Session session(target);
    Circuit circuit = generate("qft", {9, 0, 1});
    circuit.ry(0.3, 2).swap(0, 7).cx(2, 8);  // a plan may leave qubits elsewhere than at their own bits
    State state = session.run(circuit), other = session.run(bell());
    const std::vector<Complex> expected = state.amplitudes(0, 512);
    const StateMemory memory = state.memory();
    ASSERT_EQ(memory.amplitudes, 512u);
    EXPECT_EQ(memory.gpu, -1);
    EXPECT_EQ(memory.precision, precision);
    for (Index i = 0; i < memory.amplitudes; ++i) {
      const Complex found = precision == Precision::kDouble
                                ? static_cast<const Complex*>(memory.data)[i]
                                : Complex(static_cast<const std::complex<float>*>(memory.data)[i]);
      EXPECT_EQ(found, expected[i]) << i;
    }
    EXPECT_NEAR(state.norm(), 1, 1e-5);
    EXPECT_EQ(state.memory().data, memory.data);
  }
  Session shared(on_cpu(2));
  State state = shared.run(generate("ghz", {9, 0, 1}));
  EXPECT_THROW(state.memory(), UnsupportedError);
}

}  // namespace
}  // namespace qsim
