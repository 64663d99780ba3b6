// What a session adds to a run: microseconds of the second and later runs of a program beside the simulate time that
// the command line reports for the same circuit; of binding new values; and, on cores, of the first and the second run
// of programs that are new each time. Prints a qsim.table/1 document.
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/medians.h"
#include "benchmarks/table_document.h"
#include "circuit/generate/families.h"
#include "qsim/qsim.h"
#include "simulator/simulator.h"

namespace {

using namespace qsim;

/// Layers of ry and rz with open angles, each followed by a ring of cx: 500 gates on 10 qubits.
Circuit ansatz() {
  Circuit circuit(10);
  int next = 0;
  while (circuit.operations().size() < 500) {
    for (Qubit q = 0; q < 10; ++q) circuit.ry(Parameter{std::to_string(next++)}, q);
    for (Qubit q = 0; q < 10; ++q) circuit.rz(Parameter{std::to_string(next++)}, q);
    for (Qubit q = 0; q < 10; ++q) circuit.cx(q, (q + 1) % 10);
  }
  return circuit;
}

struct FirstRun {
  const char* family;
  GeneratorOptions options;
};

/// A program is compiled and run, then run again: what it takes from nothing, and what planning it takes with a run.
void first_runs(Session& session, table::Document& document) {
  constexpr int kRepeats = 100;
  for (const std::uint32_t qubits : {4u, 8u, 10u, 12u, 13u}) {
    for (const FirstRun& one : {FirstRun{"qv", {qubits, qubits, 1}}, FirstRun{"random", {qubits, 20, 1}}}) {
      const Circuit circuit = generate(one.family, one.options);
      std::vector<double> first, second;
      for (int i = 0; i < kRepeats; ++i) {
        const Program program = session.compile(circuit);
        std::optional<State> state;
        first.push_back(median_us(1, [&] { state.emplace(session.run(program)); }));
        second.push_back(median_us(1, [&] { state.emplace(session.run(program)); }));
      }
      document.row({{"circuit", table::quoted(one.family)},
                    {"qubits", std::to_string(qubits)},
                    {"gates", std::to_string(circuit.operation_count())},
                    {"first_us", table::number(median(first))},
                    {"second_us", table::number(median(second))}});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const BackendKind backend = choice_of<BackendKind>(argc > 1 ? argv[1] : "cpu");
  const std::uint32_t qubits = backend == BackendKind::kCuda ? 20 : 10;
  table::Document document(backend == BackendKind::kCuda ? "gpu_sessions" : "cpu_sessions");
  try {
    RunOptions options;
    options.backend = backend;
    const Circuit circuit = generate("random", {qubits, qubits == 10 ? 100u : 50u, 1});
    Session session(options);
    const Program program = session.compile(circuit);
    State state = session.run(program);
    options.repeats = 200;
    const Result result = simulate(circuit, options);
    const double run = median_us(200, [&] { state = session.run(program); });
    const double simulate_us = 1e6 * median(result.time.simulate_repeats);
    document.row({{"device", table::quoted(std::string(name_of(backend)))},
                  {"qubits", std::to_string(qubits)},
                  {"gates", std::to_string(circuit.operation_count())},
                  {"run_us", table::number(run)},
                  {"simulate_us", table::number(simulate_us)},
                  {"overhead_us", table::number(run - simulate_us)}});
    const Circuit open = ansatz();
    const Program scan = session.compile(open);
    std::vector<double> values(open.parameters().size(), 0.3);
    State scanned = session.run(scan, values);
    const double bound = median_us(200, [&] { scanned = session.run(scan, values); });
    const double changed = median_us(50, [&] {
      for (double& value : values) value += 0.01;
      scanned = session.run(scan, values);
    });
    document.row({{"device", table::quoted(std::string(name_of(backend)))},
                  {"qubits", "10"},
                  {"gates", std::to_string(open.operation_count())},
                  {"same_values_us", table::number(bound)},
                  {"new_values_us", table::number(changed)}});
    if (backend == BackendKind::kCpu) first_runs(session, document);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  document.print();
}
