// All ranks of a plan in one thread: CPU backends for the sweeps, exchanges straight from the plan's definition.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/layout.h"
#include "device/backend.h"
#include "plan/plan.h"
#include "qsim/types.h"
#include "support/dense.h"

namespace qsim::test {

class VirtualRanks {
 public:
  /// `instruction_set`: of the CPU.
  VirtualRanks(Precision precision, unsigned qubits, unsigned rank_bits,
               InstructionSet instruction_set = InstructionSet::kAuto);

  /// Runs a plan that starts from `start` (Start::kState); the result is in logical order.
  dense::State run(const Plan& plan, const dense::State& start);
  /// Runs a plan that starts from |0...0>, with memory full of NaN, so that reading what no sweep has written shows.
  dense::State run_from_zero(const Plan& plan);

 private:
  Complex get(Index physical);
  void set(Index physical, Complex value);
  void run_stages(const Plan& plan);
  void exchange(const Exchange& exchange);
  dense::State read(const Layout& layout);

  Precision precision_;
  unsigned local_bits_;
  std::vector<std::unique_ptr<Backend>> backends_;
};

}  // namespace qsim::test
