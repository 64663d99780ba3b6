#include "support/block_circuit.h"

#include <algorithm>
#include <random>
#include <span>
#include <vector>

#include "support/random_circuit.h"

namespace qsim::test {
namespace {

std::vector<Qubit> some_qubits(std::mt19937_64& random, std::uint32_t qubits, std::size_t count) {
  std::vector<Qubit> chosen;
  while (chosen.size() < count) {
    const auto q = static_cast<Qubit>(random() % qubits);
    if (std::find(chosen.begin(), chosen.end(), q) == chosen.end()) chosen.push_back(q);
  }
  return chosen;
}

}  // namespace

Circuit block_circuit(std::uint32_t qubits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Circuit circuit(qubits);
  const auto angle = [&] { return 0.1 + static_cast<double>(random() % 600) * 0.01; };
  for (int block = 0; block < 4; ++block) {
    const std::vector<Qubit> on = some_qubits(random, qubits, 3 + random() % 2);
    const auto kind = random() % 3;
    for (std::size_t layer = 0; layer < 24; ++layer) {
      const Qubit a = on[layer % on.size()], b = on[(layer + 1) % on.size()];
      if (kind == 0) {
        for (const char* letters : {"XX", "YY", "ZZ"})
          circuit.add_pauli_rotation(angle(), letters, std::vector<Qubit>{a, b});
      } else if (kind == 1) {
        circuit.add_gate(Gate::kU, {}, std::span(&a, 1), std::vector<double>{angle(), angle(), angle()});
        circuit.cx(a, b);
      } else if (layer % 4 == 0) {
        circuit.add_unitary(
            random_unitary(3, random()), {},
            std::vector<Qubit>{on[0], on[1 + layer / 4 % 2], on.back() == on[1 + layer / 4 % 2] ? on[1] : on.back()});
      }
    }
  }
  return circuit;
}

}  // namespace qsim::test
