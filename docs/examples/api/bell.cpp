// Counts of a Bell pair.
#include <cstdio>

#include "qsim/qsim.h"

int main() {
  qsim::Circuit bell(2);
  bell.h(0).cx(0, 1);
  qsim::Session session;
  for (const auto& [outcome, times] : session.run(bell).sample(1000, 7)) {
    std::printf("%d%d: %d\n", int(outcome >> 1 & 1), int(outcome & 1), int(times));
  }
}
