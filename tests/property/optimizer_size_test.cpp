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
  const std::array<Row, 11> table{{
      {"extract_controls", {14883, 7773, 9552}, {12000, 7518, 34816}},
      {"relabel_swaps", {14420, 7310, 14784}, {11500, 7018, 34816}},
      {"cancel_inverses", {13699, 7497, 14784}, {11942, 7504, 34816}},
      {"merge_runs", {13117, 7773, 18252}, {11243, 7518, 36888}},
      {"gather_runs", {14883, 7773, 14784}, {12000, 7518, 34816}},
      {"recognise_multiplexers", {13353, 6807, 14784}, {11999, 7518, 34816}},
      {"recognise_products", {14919, 7711, 14784}, {12028, 7492, 34816}},
      {"recognise_rotations", {13896, 6763, 14784}, {11994, 7512, 34816}},
      {"shorten_cx_networks", {14521, 7411, 14784}, {11993, 7511, 34816}},
      {"merge_diagonals", {13880, 7690, 14784}, {11792, 7481, 34816}},
      {"split_turns", {14951, 7773, 14920}, {12242, 7518, 35132}},
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
  test::expect_reached(busy, Left{10661, 4601, 13912});
  test::expect_reached(families, Left{4721, 2581, 1864});
}

}  // namespace
}  // namespace qsim
