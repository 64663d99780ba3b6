// A measurement that decides what follows: counts, and the exact distribution.
#include <cstdio>

#include "qsim/qsim.h"

int main() {
  qsim::Circuit circuit(2, 2);
  circuit.ry(1.0, 0).add_measure(0, 0);
  {
    const auto scope = circuit.when({0, 1});
    circuit.x(1);
  }
  circuit.add_measure(1, 1);
  qsim::Session session;
  const qsim::ProgramAnswers answers =
      session.answer(session.compile(circuit), {.shots = 1000, .seed = 7, .distribution = true});
  for (const auto& [bits, times] : answers.counts) std::printf("%d: %d\n", int(bits[0]), int(times));
  for (const auto& [bits, p] : answers.distribution) std::printf("%d: %.6f\n", int(bits[0]), p);
}
