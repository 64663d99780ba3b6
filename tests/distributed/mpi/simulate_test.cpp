// simulate() over MPI ranks gives what one rank gives.
#include "support/simulate.h"

#include <gtest/gtest.h>

#include <complex>
#include <map>
#include <vector>

#include "circuit/generate/families.h"
#include "document/result.h"
#include "mpi/world.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/pauli.h"
#include "qsim/target.h"
#include "simulator/simulator.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

/// Amplitudes are ranked by their probabilities as they are stored. Those that are equal in exact arithmetic differ
/// there by rounding, which depends on the plan and so on the number of ranks: they may change places, and where the
/// list ends among equals, others of them may be in it. So places are compared by probability, and indices by their
/// values.
void expect_same_ranking(const std::vector<AmplitudeEntry>& found, const std::vector<AmplitudeEntry>& wanted) {
  constexpr double kRounding = 1e-12;
  ASSERT_EQ(found.size(), wanted.size());
  std::map<Index, Complex> values;
  for (const AmplitudeEntry& entry : wanted) values.emplace(entry.index, entry.value);
  for (std::size_t place = 0; place < wanted.size(); ++place) {
    const AmplitudeEntry& entry = found[place];
    EXPECT_NEAR(entry.probability, wanted[place].probability, kRounding) << "place " << place;
    const auto same = values.find(entry.index);
    if (same == values.end()) {
      EXPECT_NEAR(entry.probability, wanted.back().probability, kRounding) << "only one list has " << entry.index;
      continue;
    }
    EXPECT_NEAR(std::abs(entry.value - same->second), 0, kRounding) << "index " << entry.index;
    values.erase(same);
  }
  for (const auto& [index, value] : values) {
    EXPECT_NEAR(std::norm(value), wanted.back().probability, kRounding) << "only one list has " << index;
  }
}

TEST(SimulateOverMpi, GivesTheStateAndCountsOfOneRank) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    test::RandomCircuitOptions random;
    random.qubits = 8;
    random.operations = 40;
    random.seed = seed;
    random.dynamic = seed % 2 == 0;
    random.terminal_measurements = true;
    const Circuit circuit = test::random_circuit(random);
    RunOptions options;
    options.shots = 500;
    options.seed = seed;
    options.marginals = true;
    if (!random.dynamic) options.top = 5;
    options.verify = Verify::kFull;
    options.expectation = {parse_pauli_sum("XXXXXXXX", 8), parse_pauli_sum("Y7 Z0", 8)};
    const Result wanted = simulate(circuit, options, 1);
    const Result found = simulate(circuit, options, test::mpi_world());
    EXPECT_EQ(found.results.counts, wanted.results.counts);
    for (std::size_t q = 0; q < 8; ++q) {
      EXPECT_NEAR(found.results.marginals->at(q), wanted.results.marginals->at(q), 1e-12);
    }
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(found.results.expectation->at(i).value, wanted.results.expectation->at(i).value, 1e-12);
    }
    if (options.top > 0) expect_same_ranking(*found.results.amplitudes, *wanted.results.amplitudes);
  }
}

TEST(SimulateOverMpi, ThrowsTheSameErrorOnEveryRank) {
  RunOptions options;
  options.max_memory = 4096;
  EXPECT_THROW(simulate(generate("ghz", {20, 0, 1}), options, test::mpi_world()), CapacityError);
  options = {};
  options.statevector_path = "/nonexistent/folder/state.npy";
  EXPECT_THROW(simulate(generate("ghz", {8, 0, 1}), options, test::mpi_world()), FileError);
}

}  // namespace
}  // namespace qsim
