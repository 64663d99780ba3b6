// simulate() over MPI ranks gives what one rank gives.
#include <gtest/gtest.h>

#include "mpi/world.h"
#include "qsim/error.h"
#include "qsim/generators.h"
#include "qsim/simulator.h"
#include "support/random_circuit.h"

namespace qsim {
namespace {

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
    for (std::size_t i = 0; i < options.top; ++i) {
      EXPECT_EQ(found.results.amplitudes->at(i).index, wanted.results.amplitudes->at(i).index);
    }
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
