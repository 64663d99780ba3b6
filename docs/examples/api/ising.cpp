// The energy of an Ising chain over an angle: planned once, run five times.
#include <cstdio>

#include "qsim/qsim.h"

int main() {
  qsim::Circuit circuit(3);
  for (qsim::Qubit q = 0; q < 3; ++q) circuit.ry(qsim::Parameter{"theta"}, q);
  const qsim::PauliSum energy = qsim::parse_pauli_sum("-1 Z0 Z1 + -1 Z1 Z2 + -0.5 X0 + -0.5 X1 + -0.5 X2", 3);
  qsim::Session session;
  const qsim::Program program = session.compile(circuit);
  for (const double theta : {0.0, 0.2, 0.4, 0.6, 0.8}) {
    std::printf("%.1f %.6f\n", theta, session.run(program, {theta}).expectation(energy));
  }
}
