// A state that is saved, and goes on where it was.
#include <cstdio>

#include "qsim/qsim.h"

int main() {
  qsim::Session session;
  session.run(qsim::Circuit(2).h(0).cx(0, 1)).save("half.npy");
  qsim::State state = session.state(2);
  state.load("half.npy");
  state.run(session.compile(qsim::Circuit(2).cx(0, 1).h(0)));
  std::printf("%.6f\n", state.marginals()[0]);
  std::remove("half.npy");
}
