// A rank's part of a run.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "document/result.h"
#include "session/program_impl.h"
#include "session/rank/rank_session.h"
#include "simulator/run/inverse_check.h"
#include "simulator/settings.h"
#include "simulator/simulator.h"

namespace qsim {

/// What runs, alike on every rank but for paths.
struct RunJob {
  const RunOptions& options;
  const Settings& settings;
  Program::Impl& program;
  InverseCheck* inverse;  // that the run makes room for; may be null
};

/// A run's result, or why fewer ranks are to make it.
struct Outcome {
  std::optional<Result> result = {};
  int fewer_ranks = 0;
  std::string reason = {};
  double seconds = 0;     // that finding this out took
  bool has_copy = false;  // there is room for a copy of the state
};

/// Runs `job` on a rank of a session that runs nothing else. `begin`: when it was begun, with the session. With
/// `may_take_fewer`, where fewer ranks would be faster, that is the outcome. Collective.
Outcome run_on_rank(const RunJob& job, RankSession& session, Clock::time_point begin, bool may_take_fewer);

}  // namespace qsim
