// How long planning takes and what it reaches. Goals: under 50 ms for circuits of 30 qubits, under 10 s for 1,000,000
// gates. Counters: sweeps, exchanges and predicted milliseconds on an h200, tiles of 12 bits, double.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "circuit/generate/families.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/target.h"
#include "qsim/types.h"

namespace {

void plan(benchmark::State& state, const qsim::Circuit& circuit, const qsim::PlanOptions& options) {
  const qsim::Machine machine = qsim::find_machine("h200");
  qsim::PlanWork work;
  for (auto _ : state) work = qsim::plan_work(qsim::make_plan(circuit, machine, options));
  state.counters["gates"] = static_cast<double>(circuit.operation_count());
  state.counters["sweeps"] = static_cast<double>(work.sweeps);
  state.counters["exchanges"] = static_cast<double>(work.exchanges);
  state.counters["predicted_ms"] = 1e3 * work.total_seconds;
}

struct Case {
  const char* family;
  std::uint32_t qubits, depth;
};

constexpr Case kCases[] = {{"ghz", 30, 0},         {"qft", 30, 0},   {"qft", 33, 0},    {"asc_ghz_qft", 30, 0},
                           {"inv_qft", 34, 0},     {"ising", 30, 5}, {"qv", 30, 10},    {"supremacy", 30, 14},
                           {"heisenberg", 30, 10}, {"qaoa", 30, 4},  {"wstate", 30, 0}, {"random", 30, 20},
                           {"random", 30, 2222}};

const int kRegistered = [] {
  for (const Case& c : kCases) {
    for (const qsim::Strategy strategy : {qsim::Strategy::kSearch, qsim::Strategy::kGreedy}) {
      for (const std::uint32_t rank_bits : {0U, 2U}) {
        for (const qsim::Start start : {qsim::Start::kRandom, qsim::Start::kZero}) {
          qsim::PlanOptions options;
          options.strategy = strategy;
          options.rank_bits = rank_bits;
          options.start = start;
          options.tile_bits = 12;
          const std::string name = std::string(strategy == qsim::Strategy::kSearch ? "search/" : "greedy/") + c.family +
                                   "_n" + std::to_string(c.qubits) + "_d" + std::to_string(c.depth) +
                                   "/ranks:" + std::to_string(1U << rank_bits) +
                                   (start == qsim::Start::kZero ? "/zero" : "/random");
          benchmark::RegisterBenchmark(name.c_str(), [c, options](benchmark::State& state) {
            plan(state, qsim::generate(c.family, {c.qubits, c.depth, 1}), options);
          })->Unit(benchmark::kMillisecond);
        }
      }
    }
  }
  return 0;
}();

void million_gates(benchmark::State& state) {
  qsim::PlanOptions options;
  plan(state, qsim::generate("random", {30, 22222, 1}), options);
  static_cast<void>(kRegistered);
}
BENCHMARK(million_gates)->Unit(benchmark::kMillisecond)->Iterations(1);

// Few qubits: sweeps of thousands of steps, which become products of matrices. Kinds: 0 = cx, 1 = ccx, 2 = all sorts.
void million_gates_on_few_qubits(benchmark::State& state) {
  const auto qubits = static_cast<std::uint32_t>(state.range(0));
  qsim::Circuit circuit(qubits);
  std::uint64_t random = 1;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return (random >> 33) % below;
  };
  for (int gate = 0; gate < 1'000'000; ++gate) {
    const auto a = static_cast<qsim::Qubit>(next(qubits)),
               b = static_cast<qsim::Qubit>((a + 1 + next(qubits - 1)) % qubits);
    qsim::Qubit c = 0;
    while (c == a || c == b) ++c;
    const std::uint64_t kind = state.range(1) < 2 ? static_cast<std::uint64_t>(state.range(1)) : next(6);
    const double angle = 1e-3 * static_cast<double>(next(6000));
    using Wires = std::vector<qsim::Qubit>;
    switch (kind) {
      case 0:
        circuit.add_gate(qsim::Gate::kX, Wires{a}, Wires{b});
        break;
      case 1:
        circuit.add_gate(qsim::Gate::kX, Wires{a, c}, Wires{b});
        break;
      case 2:
        circuit.add_gate(qsim::Gate::kRz, Wires{}, Wires{a}, std::vector<double>{angle});
        break;
      case 3:
        circuit.add_gate(qsim::Gate::kU, Wires{}, Wires{a}, std::vector<double>{angle, 0.5, angle});
        break;
      case 4:
        circuit.add_gate(qsim::Gate::kZ, Wires{a}, Wires{b});
        break;
      default:
        circuit.add_gate(qsim::Gate::kH, Wires{}, Wires{a});
        break;
    }
  }
  qsim::PlanOptions options;
  options.start = qsim::Start::kRandom;
  plan(state, circuit, options);
}
BENCHMARK(million_gates_on_few_qubits)
    ->ArgsProduct({{4, 6, 10, 30}, {0, 1, 2}})
    ->ArgNames({"qubits", "kind"})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
