// Circuits a second of batches: layers of rotations and a chain of cx, 2 to 20 qubits, exact marginals, on the CPU and
// on a GPU where there is one. With --gram: Gram matrices of 1,000 prepared states. Prints a qsim.table/1 document.
#include <algorithm>
#include <cmath>
#include <string>

#include "benchmarks/table_document.h"
#include "qsim/batch.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace {

using namespace qsim;

/// Two layers of ry and rz with angles of their own, each followed by a chain of cx.
Circuit ansatz(std::uint32_t qubits) {
  Circuit circuit(qubits);
  std::uint32_t next = 0;
  for (int layer = 0; layer < 2; ++layer) {
    for (Qubit q = 0; q < qubits; ++q) {
      circuit.ry(Parameter{std::to_string(next++)}, q);
      circuit.rz(Parameter{std::to_string(next++)}, q);
    }
    for (Qubit q = 0; q + 1 < qubits; ++q) circuit.cx(q, q + 1);
  }
  return circuit;
}

std::vector<double> angles(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::fmod(static_cast<double>(i) * 0.618033988749895, 1.0) * 6.28;
  return values;
}

/// Circuits a second: best of three.
double rate(const Circuit& circuit, BackendKind backend, std::size_t evaluations) {
  const std::vector<double> values = angles(evaluations * circuit.parameters().size());
  BatchOptions options;
  options.target.backend = backend;
  double best = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    best = std::max(best, static_cast<double>(evaluations) / run_batch(circuit, values, options).seconds);
  }
  return best;
}

void print_gram() {
  table::Document document("gram");
  constexpr std::size_t kStates = 1000;
  for (const BackendKind backend : {BackendKind::kCpu, BackendKind::kCuda}) {
    for (const std::uint32_t qubits : {4u, 6u, 8u, 10u, 12u, 14u}) {
      if (backend == BackendKind::kCpu && qubits > 12) continue;  // minutes
      const Circuit circuit = ansatz(qubits);
      const std::vector<double> values = angles(kStates * circuit.parameters().size());
      Target options;
      options.backend = backend;
      GramResult best;
      try {
        for (int repeat = 0; repeat < (backend == BackendKind::kCpu ? 1 : 3); ++repeat) {
          GramResult result = gram(circuit, values, options);
          const double seconds = result.prepare_seconds + result.product_seconds;
          if (repeat == 0 || seconds < best.prepare_seconds + best.product_seconds) best = std::move(result);
        }
      } catch (const DeviceError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        break;
      }
      document.row({{"qubits", std::to_string(qubits)},
                    {"states", std::to_string(kStates)},
                    {"device", table::quoted(std::string(name_of(backend)))},
                    {"prepare_s", table::number(best.prepare_seconds)},
                    {"product_s", table::number(best.product_seconds)}});
    }
  }
  document.print();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--gram") {
    print_gram();
    return 0;
  }
  table::Document document("batches");
  for (const BackendKind backend : {BackendKind::kCpu, BackendKind::kCuda}) {
    for (const std::uint32_t qubits : {2u, 4u, 6u, 8u, 10u, 12u, 14u, 16u, 20u}) {
      const Circuit circuit = ansatz(qubits);
      const double work = backend == BackendKind::kCpu ? 2e8 : 2e10;
      const auto evaluations = static_cast<std::size_t>(std::clamp(
          work / std::ldexp(static_cast<double>(circuit.parameters().size()), static_cast<int>(qubits)), 8.0, 2e6));
      try {
        const double circuits = rate(circuit, backend, evaluations);
        document.row({{"qubits", std::to_string(qubits)},
                      {"gates", std::to_string(circuit.operation_count())},
                      {"device", table::quoted(std::string(name_of(backend)))},
                      {"evaluations", std::to_string(evaluations)},
                      {"circuits_per_s", table::number(circuits)}});
      } catch (const DeviceError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        break;
      }
    }
  }
  document.print();
  return 0;
}
