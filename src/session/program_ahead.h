// Plans that are made while a GPU's driver starts, which takes 0.2 s.
#pragma once

#include <memory>
#include <optional>
#include <thread>

#include "plan/cost/machine.h"
#include "plan/plan_options.h"
#include "qsim/circuit.h"
#include "qsim/program.h"
#include "qsim/target.h"

namespace qsim {

/// The machine of the one GPU, or of GPUs all alike, that the system lists, where a run of `circuit` on `target` most
/// likely takes one of them and no plan depends on how much memory is free there.
std::optional<Machine> listed_machine(const Circuit& circuit, const Target& target);

/// A program whose plans are made at once, on a thread of its own.
class ProgramAhead {
 public:
  /// `circuit` outlives it.
  ProgramAhead(const Circuit& circuit, const Machine& machine, const PlanOptions& options);

  /// The program, which may be planning still, where it has the plans that `machine` and `options` get; else null.
  std::shared_ptr<Program::Impl> program(const Machine& machine, const PlanOptions& options) const;

 private:
  std::shared_ptr<Program::Impl> program_;
  std::jthread thread_;  // last: it uses the program
};

}  // namespace qsim
