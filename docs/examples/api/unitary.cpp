// A matrix of one's own on two qubits, and the sizes of the amplitudes that it makes.
#include <complex>
#include <cstdio>

#include "qsim/qsim.h"

int main() {
  const double c = 0.8, s = 0.6;
  const qsim::Matrix matrix{c, 0, 0, -s, 0, c, -s, 0, 0, s, c, 0, s, 0, 0, c};
  const qsim::Qubit targets[] = {0, 1};
  qsim::Circuit circuit(2);
  circuit.add_unitary(matrix, {}, targets);
  qsim::Session session;
  for (const qsim::Complex a : session.run(circuit).amplitudes(0, 4)) std::printf("%.3f\n", std::abs(a));
}
