// Edge circuits from the standard library's 64-bit Mersenne twister.
#include "support/edge_circuit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "circuit/gate_table.h"

namespace qsim::test {
namespace {

unsigned below(std::mt19937_64& generator, unsigned bound) { return static_cast<unsigned>(generator() % bound); }

class Maker {
 public:
  Maker(unsigned qubits, std::uint64_t seed) : generator_(seed), circuit_(qubits), order_(qubits) {
    std::iota(order_.begin(), order_.end(), Qubit{0});
  }

  Circuit make(unsigned operations) {
    while (circuit_.operations().size() < operations) add();
    return std::move(circuit_);
  }

 private:
  double angle() { return edge_angle(generator_); }

  /// Distinct qubits at the front of order_.
  void draw(unsigned count) {
    const auto qubits = static_cast<unsigned>(order_.size());
    for (unsigned i = 0; i < count; ++i) std::swap(order_[i], order_[i + below(generator_, qubits - i)]);
  }

  void add() {
    const bool several = order_.size() > 1;
    draw(static_cast<unsigned>(std::min<std::size_t>(3, order_.size())));
    switch (below(generator_, several ? 12 : 5)) {
      case 0:
        return static_cast<void>(circuit_.h(order_[0]));
      case 1:
        return add_gate(Gate::kU, {}, 1);
      case 2:
        return add_undone();
      case 3:
        return add_gate(one_of({Gate::kRx, Gate::kRy, Gate::kRz, Gate::kPhase, Gate::kU2}), {}, 1);
      case 4:
        return add_matrix(1);
      case 5:
        return static_cast<void>(circuit_.cx(order_[0], order_[1]));
      case 6:
        return add_gate(Gate::kZ, std::span(order_).subspan(1, 1), 1);
      case 7:
        return add_gate(one_of({Gate::kRx, Gate::kRy, Gate::kRz, Gate::kPhase, Gate::kU, Gate::kUPhase}),
                        std::span(order_).subspan(1, 1), 1);
      case 8:
        return add_gate(one_of({Gate::kRxx, Gate::kRyy, Gate::kRzz}), {}, 2);
      case 9:
        return add_rotation();
      case 10:
        return add_matrix(2);
      default:
        return static_cast<void>(circuit_.swap(order_[0], order_[1]));
    }
  }

  Gate one_of(std::vector<Gate> gates) { return gates[below(generator_, static_cast<unsigned>(gates.size()))]; }

  void add_gate(Gate gate, std::span<const Qubit> controls, unsigned targets) {
    std::vector<double> params;
    for (int i = 0; i < gate_info(gate).params; ++i) params.push_back(angle());
    circuit_.add_gate(gate, controls, {order_.data(), targets}, params);
  }

  /// A gate and nearly its inverse: their product is within a small distance of a diagonal.
  void add_undone() {
    const double theta = angle(), phi = angle(), lambda = angle();
    const double distance = std::pow(10.0, -6 - static_cast<double>(below(generator_, 11)));
    const double there[] = {theta, phi, lambda}, back[] = {-theta - distance, angle(), -phi};
    circuit_.add_gate(Gate::kU, {}, {order_.data(), 1}, there);
    circuit_.add_gate(Gate::kU, {}, {order_.data(), 1}, back);
  }

  void add_rotation() {
    std::string letters;
    const auto targets = static_cast<unsigned>(std::min<std::size_t>(order_.size(), 1 + below(generator_, 3)));
    for (unsigned j = 0; j < targets; ++j) letters += "XYZ"[below(generator_, 3)];
    circuit_.add_pauli_rotation(angle(), letters, {order_.data(), targets});
  }

  /// The Kronecker product of matrices near special ones, its rows permuted.
  void add_matrix(unsigned targets) {
    Matrix matrix{1};
    for (unsigned j = 0; j < targets; ++j) {
      const std::vector<double> params{angle(), angle(), angle()};
      const Matrix factor = gate_info(Gate::kU).matrix(params);
      const std::size_t order = std::size_t{1} << j;
      Matrix larger(4 * order * order);
      for (std::size_t row = 0; row < 2 * order; ++row) {
        for (std::size_t column = 0; column < 2 * order; ++column) {
          larger[row * 2 * order + column] =
              factor[row / order * 2 + column / order] * matrix[row % order * order + column % order];
        }
      }
      matrix = std::move(larger);
    }
    const std::size_t order = std::size_t{1} << targets;
    for (std::size_t row = order; row-- > 1;) {
      const std::size_t other = below(generator_, static_cast<unsigned>(row + 1));
      std::swap_ranges(matrix.begin() + static_cast<std::ptrdiff_t>(row * order),
                       matrix.begin() + static_cast<std::ptrdiff_t>((row + 1) * order),
                       matrix.begin() + static_cast<std::ptrdiff_t>(other * order));
    }
    circuit_.add_unitary(matrix, {}, {order_.data(), targets});
  }

  std::mt19937_64 generator_;
  Circuit circuit_;
  std::vector<Qubit> order_;
};

}  // namespace

double edge_angle(std::mt19937_64& generator) {
  const unsigned kind = below(generator, 20);
  const double uniform = (static_cast<double>(generator() >> 11) * 0x1p-53 - 0.5) * 4 * std::numbers::pi;
  if (kind < 3) return uniform;
  if (kind == 3) return uniform * std::pow(10.0, 6 + static_cast<double>(below(generator, 10)));
  if (kind == 4) return below(generator, 2) == 0 ? 5e-324 : -1e-310;
  const double special = (static_cast<double>(below(generator, 33)) - 16) * std::numbers::pi / 4;
  const unsigned decade = below(generator, 12);  // 0, 1e-16, .. 1e-6
  const double distance = decade == 0 ? 0 : std::pow(10.0, -17 + static_cast<double>(decade));
  return special + (below(generator, 2) == 0 ? distance : -distance);
}

Circuit edge_circuit(unsigned qubits, unsigned operations, std::uint64_t seed) {
  return Maker(qubits, seed).make(operations);
}

Circuit deep_circuit(std::uint64_t seed, unsigned most_qubits, unsigned most_operations) {
  const auto qubits = static_cast<unsigned>(1 + seed * 5 % most_qubits);
  constexpr unsigned kSizes[] = {300, 3000, 1000, 100, 10'000, 30'000, 100'000};
  const unsigned operations = std::min(kSizes[seed % std::size(kSizes)], most_operations);
  if (seed % 3 == 0) return edge_circuit(qubits, operations, seed);
  Circuit circuit(qubits);
  std::mt19937_64 generator(seed);
  for (unsigned i = 0; i < operations; ++i) {
    const auto qubit = static_cast<Qubit>(generator() % qubits);
    const auto kind = generator() % (qubits > 1 ? 4 : 2);
    if (kind == 0) {
      circuit.h(qubit);
    } else if (kind == 1) {
      const double params[] = {edge_angle(generator), 0.1 * below(generator, 60), 1.25};
      circuit.add_gate(Gate::kU, {}, {&qubit, 1}, params);
    } else {
      const Qubit other = (qubit + 1) % qubits;
      kind == 2 ? circuit.cx(qubit, other) : circuit.cp(0.3, qubit, other);
    }
  }
  return circuit;
}

}  // namespace qsim::test
