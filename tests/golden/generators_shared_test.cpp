// Generated families against the circuits that other simulators were timed on, gate by gate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "circuit/generate/families.h"
#include "qsim/circuit.h"
#include "qsim/qasm.h"
#include "support/corpus.h"

namespace qsim {
namespace {

std::filesystem::path workloads() { return std::filesystem::path(test::shared_folder()) / "workloads"; }

struct Benchmark {
  const char* file;
  const char* family;
  GeneratorOptions options;
};

class SharedWorkloads : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(workloads() / "bench")) GTEST_SKIP() << "no shared workloads here (set QSIM_SHARED)";
  }
  static Circuit read(const std::string& name) {
    return parse_qasm_file((workloads() / "bench" / (name + ".qasm")).string()).circuit;
  }
};

bool same_operands(const Circuit& a, const Operation& op_a, const Circuit& b, const Operation& op_b) {
  return std::ranges::equal(a.controls(op_a), b.controls(op_b)) && std::ranges::equal(a.targets(op_a), b.targets(op_b));
}

TEST_F(SharedWorkloads, FamiliesWithoutChanceAreEqualGateByGate) {
  for (const Benchmark& one :
       {Benchmark{"ghz_n24", "ghz", {.qubits = 24}}, Benchmark{"ghz_n30", "ghz", {.qubits = 30}},
        Benchmark{"qft_n24", "qft", {.qubits = 24}}, Benchmark{"qft_n30", "qft", {.qubits = 30}},
        Benchmark{"iqft_n24", "iqft", {.qubits = 24}}, Benchmark{"iqft_n30", "iqft", {.qubits = 30}},
        Benchmark{"ghz_qft_n29", "ghz_qft", {.qubits = 29}},
        Benchmark{"ising_n24_d5", "ising", {.qubits = 24, .depth = 5}},
        Benchmark{"ising_n30_d5", "ising", {.qubits = 30, .depth = 5}}}) {
    const Circuit file = read(one.file), made = generate(one.family, one.options);
    ASSERT_EQ(file.operations().size(), made.operations().size()) << one.file;
    for (std::size_t i = 0; i < file.operations().size(); ++i) {
      const Operation &a = file.operations()[i], &b = made.operations()[i];
      ASSERT_EQ(a.gate, b.gate) << one.file << " operation " << i;
      ASSERT_TRUE(same_operands(file, a, made, b)) << one.file << " operation " << i;
      for (std::size_t p = 0; p < file.params(a).size(); ++p) {
        ASSERT_DOUBLE_EQ(file.params(a)[p], made.params(b)[p]) << one.file << " operation " << i;
      }
    }
  }
}

// Which qubits meet is fixed by the grid; which single-qubit gate stands there is drawn.
TEST_F(SharedWorkloads, SupremacyHasTheSameGrid) {
  for (const auto& [name, qubits] : {std::pair{"supremacy_n24_d14", 24u}, std::pair{"supremacy_n30_d14", 30u}}) {
    const Circuit file = read(name), made = generate("supremacy", {.qubits = qubits, .depth = 14});
    ASSERT_EQ(file.operations().size(), made.operations().size()) << name;
    for (std::size_t i = 0; i < file.operations().size(); ++i) {
      const Operation &a = file.operations()[i], &b = made.operations()[i];
      ASSERT_EQ(a.gate, b.gate) << name << " operation " << i;
      ASSERT_TRUE(same_operands(file, a, made, b)) << name << " operation " << i;
    }
  }
}

TEST_F(SharedWorkloads, RandomFamiliesHaveTheSameShape) {
  // Operations by number of qubits, in order: the layers' structure without the draws.
  const auto shape = [](const Circuit& circuit) {
    std::string text;
    for (const Operation& op : circuit.operations()) text += static_cast<char>('0' + op.controls + op.targets);
    return text;
  };
  for (const Benchmark& one : {Benchmark{"random_n24_d10", "random", {.qubits = 24, .depth = 10}},
                               Benchmark{"random_n30_d20", "random", {.qubits = 30, .depth = 20}},
                               Benchmark{"qv_n24_d5", "qv", {.qubits = 24, .depth = 5}},
                               Benchmark{"qv_n30_d10", "qv", {.qubits = 30, .depth = 10}}}) {
    EXPECT_EQ(shape(read(one.file)), shape(generate(one.family, one.options))) << one.file;
  }
}

TEST_F(SharedWorkloads, ChallengeGhzQftIsEqualGateByGate) {
  std::ifstream file(workloads() / "asc" / "ghz_qft30.gates");
  ASSERT_TRUE(file.is_open());
  const Circuit made = generate("asc_ghz_qft", {.qubits = 30});
  const std::map<std::string, Gate> gates = {{"h", Gate::kH}, {"cx", Gate::kX}, {"crz", Gate::kRz}};
  std::size_t at = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name) || gates.count(name) == 0) continue;
    ASSERT_LT(at, made.operations().size());
    const Operation& op = made.operations()[at++];
    ASSERT_EQ(op.gate, gates.at(name)) << line;
    for (const auto operands : {made.controls(op), made.targets(op)}) {
      for (const Qubit operand : operands) {
        Qubit qubit = 0;
        words >> qubit;
        ASSERT_EQ(qubit, operand) << line;
      }
    }
    if (op.gate != Gate::kRz) continue;
    double angle = 0;
    words >> angle;
    ASSERT_NEAR(angle, made.params(op)[0], 1e-5) << line;  // six digits in the file
  }
  EXPECT_EQ(at, made.operations().size());
}

}  // namespace
}  // namespace qsim
