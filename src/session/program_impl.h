// What a Program keeps.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/layout.h"
#include "plan/cost/machine.h"
#include "plan/plan.h"
#include "plan/plan_options.h"
#include "plan/program/planned_circuit.h"
#include "qsim/program.h"

namespace qsim {

struct Program::Impl {
  Circuit circuit;
  CompileOptions options;
  BackendKind backend = BackendKind::kCpu;  // where it can run, beside precision and ranks
  Precision precision = Precision::kDouble;
  int ranks = 1;
  Machine machine;
  std::uint32_t needed_bits = 0;  // of a rank
  bool dynamic = false;

  /// Whether the ranks share its states; else each of them holds the whole state.
  bool is_split() const;
  /// From |0...0>, or with `from` from a state of that layout.
  std::shared_ptr<const Plan> plan(std::span<const double> values, const Layout* from);
  /// All of a circuit that may measure, reset and branch on its way, from |0...0>.
  struct Whole {
    std::shared_ptr<const Circuit> circuit;
    std::shared_ptr<const PlannedCircuit> planned;
  };
  Whole whole(std::span<const double> values);

 private:
  void bind(std::span<const double> values);
  PlanOptions plan_options() const;

  std::mutex mutex_;
  std::vector<double> values_;  // that the plans are of
  std::shared_ptr<const Circuit> bound_;
  std::shared_ptr<const Plan> from_zero_;
  std::shared_ptr<const PlannedCircuit> planned_;
  std::vector<std::pair<Layout, std::shared_ptr<const Plan>>> from_;
};

/// Whether 2^qubits amplitudes are shared by `ranks` where a rank needs `needed_bits` of the qubits to itself.
bool is_split(std::uint32_t qubits, int ranks, std::uint32_t needed_bits);

/// As qsim::compile() where the backend is chosen and the machine known.
std::shared_ptr<Program::Impl> make_program(const Circuit& circuit, const Target& target, int ranks,
                                            const Machine& machine, const CompileOptions& options);

}  // namespace qsim
