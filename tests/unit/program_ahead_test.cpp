// Plans that are made before the machine is known for certain: taken where they are those of that machine, to the last
// cost.
#include "session/program_ahead.h"

#include <gtest/gtest.h>

#include "circuit/generate/families.h"
#include "plan/cost/gpu_pace.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/show/show.h"
#include "qsim/error.h"
#include "session/choose/choose.h"
#include "session/program_impl.h"
#include "simulator/simulator.h"

namespace qsim {
namespace {

const Circuit& a_circuit() {
  static const Circuit circuit = generate("random", {.qubits = 22, .depth = 20});
  return circuit;
}

std::string text_of(Program::Impl& program, const Machine& machine) {
  return plan_text(program.whole({}, Program::Impl::Use::kLook).planned->plans.front(), machine);
}

TEST(ProgramAhead, HasThePlansOfTheMachineThatIsFound) {
  const PlanOptions options;
  const ProgramAhead ahead(a_circuit(), find_machine("h200"), options);
  Machine found = gpu_machine({}, "NVIDIA H200");
  found.memory_bytes_per_rank = 140'000'000'000;
  const std::shared_ptr<Program::Impl> program = ahead.program(found, options);  // most likely still at work
  ASSERT_NE(program, nullptr);
  Program::Impl after(borrowed(a_circuit()), found, options);
  EXPECT_EQ(text_of(*program, found), text_of(after, found));
}

TEST(ProgramAhead, IsNotTakenForOtherCostsOtherOptionsOrLittleMemory) {
  const PlanOptions options;
  const Machine h200 = find_machine("h200"), h100 = find_machine("h100");
  const ProgramAhead ahead(a_circuit(), h200, options);
  EXPECT_EQ(ahead.program(h100, options), nullptr);
  Machine nearly = h200;
  nearly.cost_double.permutation->step *= 1 + 1e-12;
  EXPECT_EQ(ahead.program(nearly, options), nullptr);
  PlanOptions other = options;
  other.precision = Precision::kSingle;
  EXPECT_EQ(ahead.program(h200, other), nullptr);
  other = options;
  other.rank_bits = 1;
  EXPECT_EQ(ahead.program(h200, other), nullptr);
  Machine small = h200;  // a state of 64 MiB in it decides what may lie beside
  small.memory_bytes_per_rank = (std::uint64_t{256} << 20) - 1;
  EXPECT_EQ(ahead.program(small, options), nullptr);
  small.memory_bytes_per_rank += 1;
  EXPECT_NE(ahead.program(small, options), nullptr);
}

TEST(ProgramAhead, ErrorsOfItsPlansAreToldToWhoRuns) {
  const Circuit circuit = generate("qft", {.qubits = 2});
  PlanOptions options;
  options.rank_bits = 2;  // no bit is left to a rank
  const ProgramAhead ahead(circuit, find_machine("h200"), options);
  const std::shared_ptr<Program::Impl> program = ahead.program(find_machine("h200"), options);
  ASSERT_NE(program, nullptr);
  EXPECT_THROW(program->whole({}, Program::Impl::Use::kLook), UsageError);
}

TEST(ProgramAhead, RunsAreTheSameWithAndWithoutIt) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  options.threads = 1;
  options.seed = 7;
  options.shots = 100;
  Circuit circuit = generate("random", {.qubits = 12, .depth = 8});
  circuit.add_creg("c", 12);
  for (Qubit q = 0; q < 12; ++q) circuit.add_measure(q, q);
  const Result alone = simulate(circuit, options);
  const PlanOptions plan;
  for (const Machine& machine : {this_machine(options), find_machine("h200")}) {
    const ProgramAhead ahead(circuit, machine, plan);
    const Result beside = simulate(circuit, options, &ahead);
    EXPECT_EQ(beside.results.counts, alone.results.counts) << machine.name;
  }
}

TEST(ProgramAhead, GpusAreKnownByTheNamesOfTheirMakers) {
  const auto name = [](std::string_view model) {
    const std::optional<Machine> machine = machine_of_model(model);
    return machine ? machine->name : std::string("none");
  };
  EXPECT_EQ(name("NVIDIA H200"), "h200");
  EXPECT_EQ(name("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(name("NVIDIA A100-SXM4-80GB"), find_machine("a100").name);
  for (const char* model : {"", " ", "NVIDIA GH200 480GB", "NVIDIA GeForce RTX 4090", "Tesla V100", "H2000"}) {
    EXPECT_EQ(name(model), "none") << model;
  }
}

}  // namespace
}  // namespace qsim
