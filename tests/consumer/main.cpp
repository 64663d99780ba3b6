// Uses the installed headers and library alone: a Bell pair has P(0) = P(1) = 1/2 on each qubit.
#include <cmath>
#include <cstdio>

#include "qsim/circuit.h"
#include "qsim/simulator.h"

int main() {
  qsim::Circuit circuit(2);
  circuit.h(0);
  circuit.cx(0, 1);
  qsim::RunOptions options;
  options.backend = "cpu";
  options.marginals = true;
  const qsim::Result result = qsim::simulate(circuit, options);
  for (const double probability : result.results.marginals.value()) {
    if (std::fabs(probability - 0.5) > 1e-12) return 1;
  }
  std::puts("consumer: a Bell pair is what it should be");
  return 0;
}
