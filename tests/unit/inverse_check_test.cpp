// What is wrong with a state is found on the way back from it.
#include "simulator/run/inverse_check.h"

#include <gtest/gtest.h>

#include <string>

#include "circuit/generate/families.h"
#include "qsim/session.h"
#include "session/session_impl.h"
#include "support/test_backend.h"

namespace qsim {
namespace {

/// What the check finds of `circuit`'s final state, which `error` has been run on as well.
std::string found(const Circuit& circuit, const Circuit& error, int ranks) {
  Target target = test::run_options();
  target.ranks = ranks;
  Session session(target);
  State state = session.run(session.compile(circuit));
  if (!error.operations().empty()) state.run(session.compile(error));
  Session::Impl& impl = *Session::Impl::impl_of(state).session;
  const RankSession& rank = *impl.shared.front();
  PlanOptions options;
  options.rank_bits = rank.settled().rank_bits;
  Program::Impl forward(borrowed(circuit), rank.settled().machine, options);
  return InverseCheck(forward, impl, rank).run(state, false, 1);
}

TEST(InverseCheck, FindsWhatTheCircuitDoesNotDo) {
  const Circuit circuit = generate("random", {9, 4, 1});
  for (const int ranks : {1, 2, 4}) {
    EXPECT_EQ(found(circuit, Circuit(9), ranks), "") << ranks;
    for (const Qubit qubit : {0u, 8u}) {
      Circuit turn(9), phase(9);
      turn.rx(1e-6, qubit);
      phase.p(1e-6, qubit);
      EXPECT_NE(found(circuit, turn, ranks), "") << ranks;
      EXPECT_NE(found(circuit, phase, ranks), "") << ranks;
    }
  }
}

}  // namespace
}  // namespace qsim
