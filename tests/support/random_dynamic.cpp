#include "support/random_dynamic.h"

#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "circuit/gate_table.h"
#include "support/random_circuit.h"

namespace qsim::test {
namespace {

class Maker {
 public:
  explicit Maker(const RandomDynamicOptions& options) : options_(options), generator_(options.seed) {
    circuit_.add_qreg("q", 1 + below(options.max_qubits));
    const unsigned registers = 1 + below(3);
    for (unsigned i = 0; i < registers; ++i)
      circuit_.add_creg(std::string(1, static_cast<char>('a' + i)), 1 + below(3));
  }

  Circuit make() {
    const unsigned operations = below(8) == 0 ? below(3) : below(options_.max_operations + 1);
    if (below(2) == 0) spread();
    // One condition for a while, then another: rows of equal ones, and neighbours that differ.
    if (below(3) == 0) choose_condition();
    for (unsigned i = 0; i < operations; ++i) {
      if (below(4) == 0) choose_condition();
      options_.blocks&& below(6) == 0 ? add_block() : add_operation();
    }
    if (below(3) == 0) {
      choose_condition();
      add_operation();
    }
    condition_.reset();
    if (below(2) == 0) {
      for (Qubit qubit = 0; qubit < circuit_.qubits(); ++qubit) {
        if (below(4) != 0) circuit_.add_measure(qubit, below(circuit_.clbits()));
      }
    }
    return std::move(circuit_);
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(generator_() % bound); }
  Qubit any_qubit() { return below(circuit_.qubits()); }

  /// Turns every qubit, so that many outcomes are likely.
  void spread() {
    for (Qubit qubit = 0; qubit < circuit_.qubits(); ++qubit) {
      const double angle[] = {random_angle()};
      const Qubit target[] = {qubit};
      circuit_.add_gate(Gate::kRy, {}, target, angle);
    }
  }

  double random_angle() { return (static_cast<double>(generator_() >> 11) * 0x1p-53 - 0.5) * 4 * std::numbers::pi; }

  void choose_condition() {
    condition_.reset();
    if (below(2) == 0) return;
    const std::uint32_t creg = below(static_cast<unsigned>(circuit_.cregs().size()));
    // Mostly a value that the register can have, mostly a small one.
    const std::uint64_t value = below(below(4) == 0 ? 9 : 2);
    condition_ = circuit_.when({creg, value, options_.negated && below(4) == 0, {}});
  }

  void add_operation() {
    const unsigned kind = below(20);
    const bool may_collapse = collapses_ < options_.max_collapses;
    if (kind < 4 && may_collapse) {
      ++collapses_;
      circuit_.add_measure(any_qubit(), below(circuit_.clbits()));
    } else if (kind == 4 && may_collapse) {
      ++collapses_;
      circuit_.add_reset(any_qubit());
    } else if (kind < 9) {
      add_rare();
    } else if (kind < 11) {
      circuit_.h(any_qubit());
    } else if (kind < 13) {
      circuit_.x(any_qubit());
    } else if (kind == 13) {
      const Qubit all[] = {any_qubit()};
      circuit_.add_barrier(all);
    } else {
      add_gate();
    }
  }

  void add_block() {
    RandomCircuitOptions block;
    block.qubits = circuit_.qubits();
    block.operations = 12;
    block.seed = generator_();
    block.kinds = 2 + below(4);
    const Circuit made = random_circuit(block);
    for (const Operation& op : made.operations()) circuit_.append(made, op);
  }

  /// A turn whose rarer outcome has probability 10^-k, from whatever state the qubit is in.
  void add_rare() {
    const double turn = 2 * std::asin(std::pow(10.0, -0.5 * below(16)));
    const std::array<double, 4> turns = {turn, -turn, std::numbers::pi - turn, std::numbers::pi + turn};
    const double angle[] = {turns[below(4)]};
    const Qubit target[] = {any_qubit()};
    circuit_.add_gate(below(2) == 0 ? Gate::kRx : Gate::kRy, {}, target, angle);
  }

  void add_gate() {
    const GateInfo& info = gate_table()[below(static_cast<unsigned>(Gate::kRc3xdg) + 1)];
    const auto targets = static_cast<unsigned>(info.targets);
    std::vector<Qubit> order(circuit_.qubits());
    for (Qubit qubit = 0; qubit < order.size(); ++qubit) order[qubit] = qubit;
    for (std::size_t i = 0; i + 1 < order.size(); ++i) {
      std::swap(order[i], order[i + below(static_cast<unsigned>(order.size() - i))]);
    }
    if (targets > order.size()) return static_cast<void>(circuit_.h(order[0]));
    const std::size_t controls = order.size() > targets && !info.name.empty() ? below(2) : 0;
    std::vector<double> params;
    for (int i = 0; i < info.params; ++i) {
      params.push_back(random_angle());
    }
    circuit_.add_gate(info.gate, std::span(order).subspan(targets, controls), std::span(order).first(targets), params);
  }

  RandomDynamicOptions options_;
  std::mt19937_64 generator_;
  Circuit circuit_;
  Circuit::When condition_;
  unsigned collapses_ = 0;
};

}  // namespace

Circuit random_dynamic(const RandomDynamicOptions& options) { return Maker(options).make(); }

}  // namespace qsim::test
