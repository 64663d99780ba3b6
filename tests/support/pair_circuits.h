// Circuits of gates on pairs of qubits, as they are written and as compilers leave them.
#pragma once

#include <cstdint>
#include <random>

#include "optimizer/pipeline.h"
#include "qsim/circuit.h"

namespace qsim::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : random_(seed) {}
  double within(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  std::uint32_t below(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }

 private:
  std::mt19937_64 random_;
};

void any_gate(Circuit& circuit, Random& random, Qubit q);

/// Pairs of every class of interaction, at times with gates on one qubit behind them.
void pairs_of_every_class(Circuit& circuit, Random& random, Qubit a, Qubit b);

/// What is special, and beside it by as much as rounding leaves, and by more.
void beside_special(Circuit& circuit, Random& random, Qubit a, Qubit b);

/// `circuit`, of CX gates and gates on one qubit, with a turn that commutes moved through every CX gate on either side,
/// and what then stands together on a qubit made one gate.
Circuit spread(const Circuit& circuit, Random& random);

/// The circuit with every qubit back on its own wire.
Rewritten on_own_wires(Rewritten rewritten);

}  // namespace qsim::test
