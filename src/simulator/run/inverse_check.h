// Circuit, then its inverse: what comes out must be the start state (--verify full).
#pragma once

#include <cstdint>
#include <string>

#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/state.h"
#include "session/program_impl.h"
#include "session/session_impl.h"

namespace qsim {

class InverseCheck {
 public:
  /// Of `forward`, which is one plan for ranks of `session` that are settled like `rank`; it must outlive the check.
  InverseCheck(Program::Impl& forward, const Session::Impl& session, const RankSession& rank);
  /// Adds the tables of the inverse to `pool`, and room for a copy of a state where a device's library can be asked for
  /// inner products (`has_library`) and the pool then still fits `usable_bytes`: whether that is so. Plans the inverse;
  /// ranks may call it side by side.
  bool add_to(PoolLayout& pool, const Machine& machine, std::uint64_t usable_bytes, bool has_library);
  /// Of the final state: holds our sums over it against those of the device's library, runs the inverse, compares
  /// amplitudes of the start state and, where `copies`, inner products with a copy of it. What is wrong, in words;
  /// empty where nothing is. Collective; each process of several finds what is wrong with its own part.
  std::string run(State& state, bool copies, std::uint64_t start_seed);
  const Plan& forward_plan();

 private:
  Program::Impl& forward_;
  Program::Impl inverse_;
};

}  // namespace qsim
