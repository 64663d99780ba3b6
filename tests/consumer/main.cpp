// Uses the installed headers and library alone: a Bell pair has P(0) = P(1) = 1/2 on each qubit, and errors arrive as
// what they were thrown as.
#include <cmath>
#include <cstdio>

#include "qsim/qsim.h"

int main() {
  qsim::Target target;
  target.backend = qsim::BackendKind::kCpu;
  qsim::Session session(target);
  for (const double probability : session.run(qsim::Circuit(2).h(0).cx(0, 1)).marginals()) {
    if (std::fabs(probability - 0.5) > 1e-12) return 1;
  }
  try {
    qsim::Circuit(2).h(7);
    return 2;
  } catch (const qsim::CircuitError& error) {
    if (error.code() != qsim::ExitCode::kCircuit) return 3;
  }
  std::puts("consumer: a Bell pair is what it should be");
  return 0;
}
