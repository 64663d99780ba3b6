// New values for a program's parameters: what putting them into its plan takes, the whole call, and the same with a
// plan made for the values. 500 gates each. qsim_rebinding [cpu|cuda] prints a qsim.table/1 document.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/medians.h"
#include "benchmarks/table_document.h"
#include "plan/make/make_plan.h"
#include "plan/program/open_plan.h"
#include "qsim/qsim.h"
#include "session/choose/choose.h"

namespace {

using namespace qsim;

constexpr std::size_t kGates = 500;

Parameter next(const Circuit& circuit, std::size_t ahead = 0) {
  return {std::to_string(circuit.parameters().size() + ahead)};
}

/// EfficientSU2: layers of ry and rz, each angle its own, with a chain of cx behind them.
Circuit hardware_efficient(std::uint32_t qubits) {
  Circuit circuit(qubits);
  while (circuit.operations().size() < kGates) {
    for (Qubit q = 0; q < qubits; ++q) circuit.ry(next(circuit), q);
    for (Qubit q = 0; q < qubits; ++q) circuit.rz(next(circuit), q);
    for (Qubit q = 0; q + 1 < qubits; ++q) circuit.cx(q, q + 1);
  }
  return circuit;
}

/// QAOA on a graph of degree four: two parameters a layer.
Circuit alternating(std::uint32_t qubits) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q) circuit.h(q);
  while (circuit.operations().size() < kGates) {
    const Parameter cost = next(circuit), mixer = next(circuit, 1);
    for (const Qubit away : {1u, 2u}) {
      for (Qubit q = 0; q < qubits; ++q) circuit.rzz(cost, q, (q + away) % qubits);
    }
    for (Qubit q = 0; q < qubits; ++q) circuit.rx(2 * Angle(mixer), q);
  }
  return circuit;
}

/// Unitary coupled cluster as it is compiled: exponentials of Pauli strings as ladders of cx around rz.
Circuit coupled_cluster(std::uint32_t qubits) {
  Circuit circuit(qubits);
  std::mt19937 random(3);
  while (circuit.operations().size() < kGates) {
    const Parameter amplitude = next(circuit);
    const Qubit from = static_cast<Qubit>(random() % (qubits - 1));
    const Qubit to = std::min<Qubit>(qubits - 1, from + 1 + static_cast<Qubit>(random() % 4));
    for (const bool first : {true, false}) {
      const Qubit about_y = first ? from : to, about_x = first ? to : from;
      const auto turn = [&](double sign) {
        circuit.rx(sign * std::numbers::pi / 2, about_y);
        circuit.h(about_x);
      };
      turn(1);
      for (Qubit q = from; q < to; ++q) circuit.cx(q, q + 1);
      circuit.rz((first ? 1.0 : -1.0) * Angle(amplitude), to);
      for (Qubit q = to; q-- > from;) circuit.cx(q, q + 1);
      turn(-1);
    }
  }
  return circuit;
}

void measure(const std::string& name, const Circuit& circuit, Session& session, table::Document& document) {
  const Machine machine = this_machine(session.target());
  const OpenAngles angles(circuit);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> turn(-3, 3);
  std::vector<double> values(circuit.parameters().size());
  const auto draw = [&] {
    for (double& value : values) value = turn(random);
  };
  const int repeats = circuit.qubits() < 20 ? 50 : 10, few = circuit.qubits() < 28 ? repeats : 3;

  const std::optional<OpenPlan> open = OpenPlan::make(circuit, angles, machine, {});
  const double put = median_us(repeats, [&] {
    draw();
    if (open) open->at(angles.bound(values));
  });
  const double planned = median_us(repeats, [&] {
    draw();
    make_plan(circuit.bind(values), machine, {});
  });
  const Program program = session.compile(circuit);
  State state = session.run(program, values);
  const auto run = [&](const Program& of) {
    return median_us(repeats, [&] {
      draw();
      state = session.run(of, values);
    });
  };
  const double same = median_us(repeats, [&] { state = session.run(program, values); });
  run(program);
  if (session.target().backend == BackendKind::kCuda) {  // kernels of what has come back are compiled meanwhile
    run(program);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    run(program);
  }
  const double changed = run(program);
  const double anew = median_us(few, [&] {
    draw();
    state = session.run(session.compile(circuit.bind(values)));
  });
  document.row({{"circuit", table::quoted(name)},
                {"qubits", std::to_string(circuit.qubits())},
                {"gates", std::to_string(circuit.operation_count())},
                {"open_angles", std::to_string(angles.size())},
                {"put_in_us", open ? table::number(put) : "null"},
                {"planned_us", table::number(planned)},
                {"same_values_us", table::number(same)},
                {"new_values_us", table::number(changed)},
                {"planned_anew_us", table::number(anew)}});
}

}  // namespace

int main(int argc, char** argv) {
  Target target;
  target.backend = choice_of<BackendKind>(argc > 1 ? argv[1] : "cpu");
  const bool gpu = target.backend == BackendKind::kCuda;
  table::Document document(gpu ? "gpu_rebinding" : "cpu_rebinding");
  try {
    Session session(target);
    for (const std::uint32_t qubits : gpu ? std::vector{10u, 20u, 24u, 28u, 30u} : std::vector{4u, 10u, 16u, 20u}) {
      measure("hardware-efficient", hardware_efficient(qubits), session, document);
      measure("QAOA", alternating(qubits), session, document);
      measure("coupled cluster", coupled_cluster(qubits), session, document);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  document.print();
}
