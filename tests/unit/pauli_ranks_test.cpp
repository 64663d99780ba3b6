// Expectation values whose partner amplitudes are another rank's: the values, the state left as it was, and every chunk
// traded once.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/bits.h"
#include "circuit/generate/families.h"
#include "document/result.h"
#include "qsim/pauli.h"
#include "runtime/read_out/observables.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

std::vector<Complex> whole_state(DistributedState& state) {
  std::vector<Index> indices(std::size_t{1} << state.qubits);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  std::vector<Complex> values;
  for (const AmplitudeEntry& entry : amplitudes(state, indices)) values.push_back(entry.value);
  return values;
}

/// i^|x & z| sum over i of conj(a[i ^ x]) a[i] (-1)^|i & z|.
double expectation(const std::vector<Complex>& a, const PauliString& pauli) {
  Complex sum = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const Complex term = std::conj(a[i ^ pauli.x]) * a[i];
    sum += odd_parity(i & pauli.z) ? -term : term;
  }
  for (unsigned y = count_bits(pauli.x & pauli.z); y > 0; --y) sum *= Complex(0, 1);
  return sum.real();
}

TEST(PauliSumsOverRanks, AreThoseOfTheWholeStateAndLeaveItAsItWas) {
  constexpr unsigned kQubits = 9;
  std::mt19937_64 random(4);
  std::vector<PauliString> strings;
  for (int i = 0; i < 60; ++i) {
    PauliString pauli;
    pauli.x = random() & low_mask(kQubits);
    pauli.z = random() & low_mask(kQubits);
    strings.push_back(pauli);
  }
  for (const int ranks : {2, 4, 8}) {
    for (const std::uint64_t chunk_bytes : {64u, 512u, 65536u}) {
      test::RunSetup setup;
      setup.ranks = ranks;
      setup.chunk_bytes = chunk_bytes;
      setup.plan.known_zeros = false;
      test::with_run_parts(generate("random", {kQubits, 6, 2}), setup, [&](test::RunParts& parts) {
        parts.run->run({});
        const std::vector<Complex> before = whole_state(*parts.state);
        const std::uint64_t sent = parts.exchanges->bytes_sent();
        const std::vector<double> values = pauli_expectations(*parts.state, *parts.exchanges, strings);
        EXPECT_EQ(whole_state(*parts.state), before) << "to the last bit";
        // X parts that reach another rank; those that need the same chunks of the same rank share the trades.
        std::set<Index> groups, trades;
        const Index where = ~low_mask(parts.state->local_bits()) | parts.exchanges->extra_cut(0);
        for (std::size_t i = 0; i < strings.size(); ++i) {
          ASSERT_NEAR(values[i], expectation(before, strings[i]), 1e-13) << ranks << " ranks, string " << i;
          const Index x = parts.state->layout.to_physical(strings[i].x);
          if (x >> parts.state->local_bits() == 0) continue;
          groups.insert(x);
          trades.insert(x & where);
        }
        EXPECT_GT(groups.size(), 10u);
        EXPECT_EQ(parts.exchanges->bytes_sent() - sent, trades.size() * parts.state->shard_bytes());
        if (chunk_bytes >= parts.state->shard_bytes()) {
          EXPECT_LT(trades.size(), static_cast<std::size_t>(ranks));
        }
      });
    }
  }
}

}  // namespace
}  // namespace qsim
