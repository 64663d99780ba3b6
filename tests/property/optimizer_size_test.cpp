// What the optimizer leaves to do: held to what was reached. A pass that finds less keeps the state all the
// same; only this sees it.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "circuit/generate/families.h"
#include "optimizer/pipeline.h"
#include "qsim/circuit.h"
#include "support/busy_circuit.h"
#include "support/random_circuit.h"
#include "support/reached.h"

namespace qsim {
namespace {

/// Operations, those on several qubits, entries of matrices.
using Left = std::array<std::size_t, 3>;

void add_left(const Circuit& circuit, const std::vector<std::string>& disabled, Left& left) {
  Rewritten rewritten;
  const Circuit& result = optimize(circuit, disabled, rewritten) ? rewritten.circuit : circuit;
  for (const Operation& op : result.operations()) {
    left[0] += 1;
    left[1] += op.targets + op.controls > 1 ? 1 : 0;
    if (op.kind == OpKind::kUnitary) left[2] += result.matrix(op).size();
  }
}

std::vector<std::string> all_but(std::string_view wanted) {
  std::vector<std::string> others;
  for (const Pass& pass : optimizer_passes()) {
    if (pass.name != wanted) others.emplace_back(pass.name);
  }
  return others;
}

TEST(OptimizerSize, OfWhatEachPassLeavesIsWhatWasReached) {
  struct Row {
    const char* pass;
    Left busy, random;
  };
  const std::array<Row, 8> table{{
      {"extract_controls", {9261, 5769, 9552}, {12000, 7518, 34816}},
      {"relabel_swaps", {8798, 5306, 14784}, {11500, 7018, 34816}},
      {"cancel_inverses", {7971, 5353, 14784}, {11942, 7504, 34816}},
      {"merge_runs", {8073, 5769, 16224}, {11243, 7518, 36888}},
      {"recognise_rotations", {8417, 4889, 14784}, {11994, 7512, 34816}},
      {"shorten_cx_networks", {8635, 5143, 14784}, {11993, 7511, 34816}},
      {"merge_diagonals", {8288, 5691, 14784}, {11792, 7481, 34816}},
      {"split_turns", {9329, 5769, 14920}, {12240, 7518, 35128}},
  }};
  for (const Row& row : table) {
    SCOPED_TRACE(row.pass);
    Left busy{}, random{};
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      add_left(test::busy_circuit(seed), all_but(row.pass), busy);
      add_left(test::random_circuit({.qubits = 4, .operations = 60, .seed = seed}), all_but(row.pass), random);
    }
    test::expect_reached(busy, row.busy);
    test::expect_reached(random, row.random);
  }
}

TEST(OptimizerSize, OfWhatAllPassesLeaveIsWhatWasReached) {
  Left busy{}, families{};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) add_left(test::busy_circuit(seed), {}, busy);
  for (const GeneratorInfo& family : generators()) {
    add_left(generate(family.name, {20, family.default_depth, 1}), {}, families);
  }
  test::expect_reached(busy, Left{6522, 3963, 11168});
  test::expect_reached(families, Left{4603, 2641, 1616});
}

}  // namespace
}  // namespace qsim
