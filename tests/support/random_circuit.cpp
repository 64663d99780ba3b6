// Random circuits from the standard library's 64-bit Mersenne twister.
#include "support/random_circuit.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "circuit/gate_table.h"

namespace qsim::test {
namespace {

class Maker {
 public:
  explicit Maker(const RandomCircuitOptions& options)
      : options_(options),
        generator_(options.seed),
        circuit_(options.qubits, options.dynamic || options.terminal_measurements ? options.qubits : 0) {
    order_.resize(options.qubits);
    std::iota(order_.begin(), order_.end(), Qubit{0});
  }

  Circuit make() {
    for (unsigned i = 0; i < options_.kinds; ++i) kinds_.push_back(draw_kind());
    if (options_.kinds > 0) {
      for (double& one : angles_) one = angle();
    }
    for (unsigned i = 0; i < options_.operations && options_.qubits > 0; ++i) {
      options_.kinds > 0 ? add_of_a_kind() : add_operation();
    }
    if (options_.terminal_measurements) {
      for (Qubit q = 0; q < options_.qubits; ++q) circuit_.add_measure(q, q);
    }
    return std::move(circuit_);
  }

 private:
  // std::uniform_int_distribution differs between standard libraries; a remainder does not.
  unsigned below(unsigned bound) { return static_cast<unsigned>(generator_() % bound); }

  double angle() {
    if (options_.special_angles && below(4) == 0) return (static_cast<double>(below(17)) - 8) * std::numbers::pi / 4;
    return (static_cast<double>(generator_() >> 11) * 0x1p-53 - 0.5) * 4 * std::numbers::pi;
  }

  // Draws distinct qubits; the first `count` of order_ hold them.
  void draw(unsigned count) {
    for (unsigned i = 0; i < count; ++i) std::swap(order_[i], order_[i + below(options_.qubits - i)]);
  }

  void add_operation() {
    const unsigned kind = below(options_.dynamic ? 24 : 20);
    if (kind < 14) {
      add_random_gate();
    } else if (kind < 16 && options_.max_unitary_targets > 0) {
      add_random_unitary();
    } else if (kind < 18 && options_.pauli_rotations) {
      add_random_pauli_rotation();
    } else if (kind < 20) {
      // Swaps and plain two-qubit gates are what rewrites feed on; all-gates sampling makes too few of them.
      add_common_gate();
    } else if (kind == 20 || kind == 21) {
      draw(1);
      circuit_.add_measure(order_[0], below(options_.qubits));
    } else if (kind == 22) {
      draw(1);
      circuit_.add_reset(order_[0]);
    } else {
      // A single bit of the register decides too rarely with large values; small ones meet measured bits often.
      {
        const auto scope = circuit_.when({0, below(4), below(2) == 1});
        add_random_gate();
      }
    }
  }

  struct Kind {
    Gate gate = Gate::kX;
    unsigned controls = 0;
    std::string letters;  // of a rotation about a Pauli string; else the gate
  };

  Kind draw_kind() {
    static const std::vector<Kind> kAll{
        {Gate::kX, 0, ""},     {Gate::kX, 1, ""},     {Gate::kX, 1, ""},    {Gate::kX, 2, ""},    {Gate::kX, 2, ""},
        {Gate::kX, 3, ""},     {Gate::kH, 0, ""},     {Gate::kH, 0, ""},    {Gate::kH, 1, ""},    {Gate::kZ, 1, ""},
        {Gate::kZ, 2, ""},     {Gate::kT, 0, ""},     {Gate::kTdg, 0, ""},  {Gate::kS, 0, ""},    {Gate::kSx, 0, ""},
        {Gate::kRz, 0, ""},    {Gate::kRz, 0, ""},    {Gate::kRz, 1, ""},   {Gate::kRz, 2, ""},   {Gate::kPhase, 0, ""},
        {Gate::kPhase, 1, ""}, {Gate::kPhase, 2, ""}, {Gate::kRy, 0, ""},   {Gate::kRy, 0, ""},   {Gate::kRy, 1, ""},
        {Gate::kRx, 0, ""},    {Gate::kRx, 1, ""},    {Gate::kSwap, 0, ""}, {Gate::kSwap, 1, ""}, {Gate::kX, 0, "ZZ"},
        {Gate::kX, 1, "ZZ"},   {Gate::kX, 0, "ZZZ"},  {Gate::kX, 0, "XX"},  {Gate::kX, 0, "XY"},  {Gate::kX, 0, "ZZZZ"},
        {Gate::kX, 1, "XX"}};
    return kAll[below(static_cast<unsigned>(kAll.size()))];
  }

  void add_of_a_kind() {
    const Kind& kind = kinds_[below(options_.kinds)];
    const GateInfo& info = gate_info(kind.gate);
    const auto targets = static_cast<unsigned>(kind.letters.empty() ? info.targets : kind.letters.size());
    if (targets + kind.controls > options_.qubits) return;
    draw(kind.controls + targets);
    const double given = angles_[below(3)] * (below(3) == 0 ? -1 : 1);
    const std::span<const Qubit> controls(order_.data(), kind.controls), on(order_.data() + kind.controls, targets);
    if (kind.letters.empty()) {
      circuit_.add_gate(kind.gate, controls, on, {&given, static_cast<std::size_t>(info.params)});
    } else {
      circuit_.add_pauli_rotation(given, kind.letters, on, controls);
    }
  }

  unsigned draw_controls(unsigned targets) {
    const unsigned most = std::min(options_.max_controls, options_.qubits - targets);
    // Half of all operations without controls.
    return below(2) == 0 ? 0 : below(most + 1);
  }

  void add_random_gate() {
    const Gate last = options_.further_gates ? kLastGate : Gate::kRc3xdg;
    const auto gate = static_cast<Gate>(below(static_cast<unsigned>(last) + 1));
    const GateInfo& info = gate_info(gate);
    const auto targets = static_cast<unsigned>(info.targets);
    if (targets > options_.qubits) return add_random_gate();
    const unsigned controls = draw_controls(targets);
    draw(controls + targets);
    std::vector<double> params;
    for (int i = 0; i < info.params; ++i) params.push_back(angle());
    circuit_.add_gate(gate, {order_.data(), controls}, {order_.data() + controls, targets}, params);
  }

  void add_common_gate() {
    if (options_.qubits < 2) return add_random_gate();
    draw(2);
    switch (below(4)) {
      case 0:
        return static_cast<void>(circuit_.swap(order_[0], order_[1]));
      case 1:
        return static_cast<void>(circuit_.cx(order_[0], order_[1]));
      case 2:
        return static_cast<void>(circuit_.cp(angle(), order_[0], order_[1]));
      default:
        return static_cast<void>(circuit_.h(order_[0]));
    }
  }

  void add_random_unitary() {
    const unsigned targets = 1 + below(std::min(options_.max_unitary_targets, options_.qubits));
    const unsigned controls = draw_controls(targets);
    draw(controls + targets);
    circuit_.add_unitary(random_unitary(targets, generator_()), {order_.data(), controls},
                         {order_.data() + controls, targets});
  }

  void add_random_pauli_rotation() {
    const unsigned targets = 1 + below(std::min(options_.qubits, 4u));
    const unsigned controls = draw_controls(targets);
    draw(controls + targets);
    std::string letters;
    for (unsigned j = 0; j < targets; ++j) letters += "XYZ"[below(3)];
    circuit_.add_pauli_rotation(angle(), letters, {order_.data() + controls, targets}, {order_.data(), controls});
  }

  RandomCircuitOptions options_;
  std::mt19937_64 generator_;
  Circuit circuit_;
  std::vector<Qubit> order_;
  std::vector<Kind> kinds_;
  double angles_[3] = {};
};

}  // namespace

Circuit random_circuit(const RandomCircuitOptions& options) { return Maker(options).make(); }

Matrix random_unitary(unsigned targets, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  const std::size_t order = std::size_t{1} << targets;
  std::vector<std::vector<Complex>> rows;
  while (rows.size() < order) {
    std::vector<Complex> row(order);
    for (Complex& entry : row) {
      const double re = normal(generator), im = normal(generator);
      entry = {re, im};
    }
    // Twice, because one pass of Gram-Schmidt loses digits.
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& other : rows) {
        Complex overlap = 0;
        for (std::size_t k = 0; k < order; ++k) overlap += std::conj(other[k]) * row[k];
        for (std::size_t k = 0; k < order; ++k) row[k] -= overlap * other[k];
      }
    }
    double length = 0;
    for (const Complex entry : row) length += std::norm(entry);
    for (Complex& entry : row) entry /= std::sqrt(length);
    rows.push_back(std::move(row));
  }
  Matrix matrix;
  for (const auto& row : rows) matrix.insert(matrix.end(), row.begin(), row.end());
  return matrix;
}

}  // namespace qsim::test
