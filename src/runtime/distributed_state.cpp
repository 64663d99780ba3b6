// Splits qubits into local and global ones.
#include "runtime/distributed_state.h"

namespace qsim {

QubitPlaces DistributedState::places(std::span<const Qubit> of) const {
  QubitPlaces found;
  for (std::size_t j = 0; j < of.size(); ++j) {
    const Bit bit = layout.bit_of[of[j]];
    if (bit < local_bits()) {
      found.local.push_back(bit);
      found.local_positions |= Index{1} << j;
    } else if (test_bit(base(), bit)) {
      found.fixed |= Index{1} << j;
    }
  }
  return found;
}

}  // namespace qsim
