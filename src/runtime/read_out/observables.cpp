// Marginals, probabilities, amplitudes and the most probable outcomes.
#include "runtime/read_out/observables.h"

#include <algorithm>
#include <string>

#include "base/bits.h"
#include "base/numbers/finite.h"
#include "device/numbers/probability.h"
#include "qsim/error.h"

namespace qsim {
namespace {

/// Calls take(i, index_of(i), amplitude) for i = 0 .. count - 1. In blocks: memory does not grow with their number.
template <typename IndexOf, typename Take>
void visit_amplitudes(DistributedState& state, std::size_t count, const IndexOf& index_of, const Take& take) {
  constexpr std::size_t kBlock = std::size_t{1} << 14;
  std::vector<Index> here;
  std::vector<std::size_t> places;
  std::vector<Complex> found;
  std::vector<double> values;
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t size = std::min(kBlock, count - first);
    here.clear();
    places.clear();
    for (std::size_t i = 0; i < size; ++i) {
      const Index physical = state.layout.to_physical(index_of(first + i));
      if (physical >> state.local_bits() != state.rank()) continue;
      here.push_back(physical & low_mask(state.local_bits()));
      places.push_back(i);
    }
    found.resize(here.size());
    if (!here.empty()) state.backend.reader().read_amplitudes(here, found);
    values.assign(2 * size, 0.0);
    for (std::size_t i = 0; i < found.size(); ++i) {
      values[2 * places[i]] = found[i].real();
      values[2 * places[i] + 1] = found[i].imag();
    }
    state.communicator.sum(values);  // all but one rank add zeros
    require_finite(std::span<const double>(values), "an amplitude");
    for (std::size_t i = 0; i < size; ++i) {
      take(first + i, index_of(first + i), Complex(values[2 * i], values[2 * i + 1]));
    }
  }
}

}  // namespace

std::vector<double> marginals(DistributedState& state) {
  const std::uint32_t local_bits = state.local_bits();
  std::vector<double> local = state.bit_probabilities;
  if (local.empty()) {
    local.resize(local_bits + 1);
    state.backend.reader().bit_probabilities(local);
  }
  std::vector<double> by_qubit(state.qubits, 0.0);
  for (Qubit qubit = 0; qubit < state.qubits; ++qubit) {
    const Bit bit = state.layout.bit_of[qubit];
    if (bit < local_bits) {
      by_qubit[qubit] = local[bit];
    } else if (test_bit(state.base(), bit)) {
      by_qubit[qubit] = local[local_bits];
    }
  }
  state.communicator.sum(by_qubit);
  return by_qubit;
}

std::vector<double> qubit_probabilities(DistributedState& state, std::span<const Qubit> list) {
  if (list.size() > 26) {
    throw UnsupportedError("the joint probabilities of " + std::to_string(list.size()) + " qubits are 2^" +
                           std::to_string(list.size()) + " numbers; at most 26 qubits are listed");
  }
  const QubitPlaces places = state.places(list);
  std::vector<double> values(std::size_t{1} << list.size(), 0.0);
  if (places.local.size() == list.size()) {
    state.backend.reader().histogram(places.local, values);
  } else {
    std::vector<double> mine(std::size_t{1} << places.local.size());
    state.backend.reader().histogram(places.local, mine);
    for (std::size_t value = 0; value < mine.size(); ++value) values[places.widen(value)] = mine[value];
  }
  state.communicator.sum(values);
  return values;
}

std::vector<AmplitudeEntry> amplitudes(DistributedState& state, std::span<const Index> logical) {
  std::vector<AmplitudeEntry> entries(logical.size());
  visit_amplitudes(
      state, logical.size(), [&](std::size_t i) { return logical[i]; },
      [&](std::size_t i, Index index, Complex value) {
        entries[i] = {index, value, std::norm(value)};
      });
  return entries;
}

void amplitudes(DistributedState& state, Index first, std::span<Complex> values) {
  visit_amplitudes(
      state, values.size(), [&](std::size_t i) { return first + i; },
      [&](std::size_t i, Index, Complex value) { values[i] = value; });
}

std::vector<Index> top_indices(DistributedState& state, std::size_t count) {
  if (state.qubits < 63) count = std::min<std::size_t>(count, std::size_t{1} << state.qubits);
  const std::size_t mine_count = std::min<std::size_t>(count, state.local_amplitudes());
  struct Candidate {
    std::uint64_t key, index;
  };
  std::vector<Candidate> send(mine_count);
  {
    const std::vector<IndexProbability> mine =
        state.backend.reader().top(mine_count, state.layout, static_cast<std::uint32_t>(state.rank()));
    for (std::size_t i = 0; i < mine.size(); ++i) {
      send[i] = {probability_key(mine[i].probability), state.to_logical(mine[i].index)};
    }
  }
  std::vector<Candidate> all(mine_count * static_cast<std::size_t>(state.communicator.size()));
  state.communicator.all_gather(std::as_bytes(std::span(send)), std::as_writable_bytes(std::span(all)));
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.key != b.key ? a.key > b.key : a.index < b.index; });
  all.resize(std::min(all.size(), count));
  std::vector<Index> indices(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) indices[i] = all[i].index;
  return indices;
}

}  // namespace qsim
