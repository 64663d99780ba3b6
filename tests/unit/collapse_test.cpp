// Projections: the sweeps that are prepared for them, how the kept state is scaled, and what is refused.
#include "runtime/execute/collapse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/bits.h"
#include "base/layout.h"
#include "base/ranks/communicator.h"
#include "null/null_backend.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "support/outcomes.h"
#include "support/run_parts.h"

namespace qsim {
namespace {

/// Keeps the sweeps that are prepared on it.
class KeepingBackend : public NullBackend {
 public:
  using NullBackend::NullBackend;
  std::uint32_t prepare(std::span<const Sweep> sweeps, Summing summing) override {
    kept.insert(kept.end(), sweeps.begin(), sweeps.end());
    return NullBackend::prepare(sweeps, summing);
  }
  std::vector<Sweep> kept;
};

/// What is prepared on rank 0 for a measurement, or a reset, of the qubit at `bit`.
std::vector<Sweep> prepared(std::uint32_t local_bits, std::uint32_t tile_bits, Bit bit, bool reset) {
  KeepingBackend backend{BackendOptions{}};
  PoolLayout pool;
  pool.state_bytes = std::uint64_t{16} << local_bits;
  backend.reserve(pool, local_bits);
  const auto communicator = make_self_communicator();
  DistributedState state{backend, *communicator, local_bits + 2, 2, Precision::kDouble, {}};
  ExchangePipeline exchanges(state, nullptr, pool);
  Executor executor(state, exchanges, false);
  Collapse collapse(state, exchanges, executor, tile_bits);
  const std::vector<Transition> operators = transitions(reset ? qsim::reset() : measurement());
  collapse.prepare(bit, operators);
  EXPECT_EQ(collapse.prepared(), backend.kept.size());
  collapse.prepare(bit, operators);
  EXPECT_EQ(collapse.prepared(), backend.kept.size());  // nothing twice
  return backend.kept;
}

/// The matrix of the one operation, whose words are those of every sweep.
std::array<double, 4> matrix_of(const Sweep& sweep) {
  EXPECT_EQ(sweep.ops.size(), 1u);
  EXPECT_EQ(sweep.ops[0].data_begin, 0u);
  EXPECT_EQ(sweep.ops[0].data_count, 4u);
  EXPECT_EQ(sweep.matrices.size(), 4u);
  std::array<double, 4> matrix{};
  for (std::size_t k = 0; k < 4; ++k) {
    matrix[k] = sweep.matrices[k].real();
    EXPECT_EQ(sweep.matrices[k].imag(), 0);
  }
  return matrix;
}

// Tiles are as wide as the plan's, in lines of memory, and never wider than the shard.
TEST(Collapse, WorksOnTilesOfThePlansWidthAndOnTheQubitsOwnBit) {
  for (const std::uint32_t local_bits : {1u, 2u, 5u, 9u}) {
    for (const std::uint32_t tile_bits : {0u, 1u, 4u, 5u, 12u}) {
      for (Bit bit = 0; bit < local_bits + 2; ++bit) {
        const Bit target =
            bit < local_bits ? bit : Bit{0};  // one half of the ranks is zeroed for a bit of their number
        const std::uint32_t width = std::min(local_bits, std::max(tile_bits, 1u));
        for (const Sweep& sweep : prepared(local_bits, tile_bits, bit, true)) {
          SCOPED_TRACE(testing::Message() << local_bits << " " << tile_bits << " " << int{bit});
          const auto matrix = matrix_of(sweep);
          const bool scales = matrix[0] == matrix[3] && matrix[1] == 0;  // or zeroes
          const Bit on = scales ? Bit{0} : target;
          std::vector<Bit> active;
          for (Bit low = 0; low + 1u < width; ++low) active.push_back(low);
          active.push_back(std::max(on, static_cast<Bit>(width - 1)));
          EXPECT_EQ(sweep.active, active);
          EXPECT_EQ(sweep.store, active);
          EXPECT_TRUE(sweep.reads);
          EXPECT_EQ(sweep.ops[0].form, Form::kMatrix);
          EXPECT_EQ(sweep.ops[0].target_count, 1);
          EXPECT_EQ(sweep.ops[0].targets[0], on);
        }
      }
    }
  }
}

TEST(Collapse, KeepsOneHalfInFourScalesAndScalesInTwoSteps) {
  using Matrix = std::array<double, 4>;
  const auto expect = [](std::uint32_t local_bits, Bit bit, bool reset, const Matrix& zero, const Matrix& one) {
    std::vector<Matrix> expected;
    for (const Matrix& matrix : {zero, one}) {
      for (int scale = 0; scale < 4; ++scale) {
        Matrix& scaled = expected.emplace_back(matrix);
        for (double& entry : scaled) entry *= std::exp2(0.5 * scale);
      }
    }
    for (const double step : {4096.0, 2.0}) expected.push_back({step, 0, 0, step});
    const std::vector<Sweep> sweeps = prepared(local_bits, 3, bit, reset);
    ASSERT_EQ(sweeps.size(), expected.size());
    for (std::size_t i = 0; i < sweeps.size(); ++i) EXPECT_EQ(matrix_of(sweeps[i]), expected[i]) << i;
  };
  for (const Bit bit : {Bit{0}, Bit{3}}) {
    expect(4, bit, false, {1, 0, 0, 0}, {0, 0, 0, 1});
    expect(4, bit, true, {1, 0, 0, 0}, {0, 1, 0, 0});
  }
  for (const Bit bit : {Bit{4}, Bit{5}}) {
    for (const bool reset : {false, true}) expect(4, bit, reset, {1, 0, 0, 1}, {0, 0, 0, 0});
  }
}

constexpr Transition kOne{true, true};

/// Runs `body` with a collapse of qubit 0, which is 1 with this probability; two other qubits are 0.
template <typename Body>
void with_outcome(double probability, Precision precision, const Body& body) {
  Circuit circuit(3);
  circuit.add_gate(Gate::kRy, {}, std::vector<Qubit>{0}, std::vector<double>{2 * std::asin(std::sqrt(probability))});
  test::RunSetup setup;
  setup.precision = precision;
  test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
    Collapse collapse(*parts.state, *parts.exchanges, *parts.executor, 2);
    collapse.prepare(parts.program.plans.front().final_layout.bit_of[0], transitions(measurement()));
    parts.run->run({});
    body(collapse, parts);
  });
}

// What is kept has a probability between sqrt(1/2) and sqrt(2), whatever it was.
TEST(Collapse, ScalesWhatIsKeptByThePowerThatIsNearest) {
  for (int power = 0; power <= 110; ++power) {
    const double probability = std::exp2(-0.5 * power);
    for (const bool exact : {false, true}) {
      with_outcome(probability, Precision::kDouble, [&](Collapse& collapse, test::RunParts& parts) {
        const double weighed = collapse.weigh(0)[1];
        ASSERT_NEAR(weighed / probability, 1, 1e-13);
        const double left = collapse.keep(0, kOne, weighed, exact);
        EXPECT_TRUE(power % 2 == 1 || std::abs(left - 1) <= 1e-12) << power << " " << left;
        EXPECT_GE(left, std::sqrt(0.5) * (1 - 1e-12)) << power;
        EXPECT_LE(left, std::sqrt(2) * (1 + 1e-12)) << power;
        EXPECT_NEAR(parts.backend->reader().norm() / left, 1, 1e-13) << power;
        EXPECT_EQ(collapse.weigh(0)[0], 0);
      });
    }
  }
}

TEST(Collapse, CountsEachSweepAsOneReadAndOneWrite) {
  with_outcome(0x1p-30, Precision::kDouble, [](Collapse& collapse, test::RunParts& parts) {
    parts.executor->clear_counts();
    collapse.keep(0, kOne, collapse.weigh(0)[1], true);
    const ExecutionCounts& counts = parts.executor->counts();
    EXPECT_EQ(counts.sweeps, 4u);  // by 2, 2^12, 2 and 2
    EXPECT_EQ(counts.bytes_swept, counts.sweeps * 2 * 8 * 16);
  });
}

// A part of the probability, and half a unit of 2^-61 for each amplitude where that is more.
TEST(Collapse, RefusesWhatIsNotWhatWasWeighed) {
  struct Row {
    double probability;
    Precision precision;
    double allowed;  // by which what was weighed may differ
  };
  const double small = 0x1p-30;
  for (const Row& row : {Row{0.4, Precision::kDouble, 0.4e-12}, Row{0.4, Precision::kSingle, 0.4e-5},
                         Row{small, Precision::kDouble, small * 1e-12 + 0x1p-59}}) {
    for (const double part : {-1.15, -0.85, 0.85, 1.15}) {
      SCOPED_TRACE(testing::Message() << row.probability << " " << part);
      with_outcome(row.probability, row.precision, [&](Collapse& collapse, test::RunParts&) {
        const double expected = collapse.weigh(0)[1] + part * row.allowed;
        if (std::abs(part) < 1) {
          EXPECT_NO_THROW(collapse.keep(0, kOne, expected, true));
        } else {
          EXPECT_THROW(collapse.keep(0, kOne, expected, true), VerificationError);
        }
      });
    }
  }
}

// A rank may hold one amplitude, of which nothing but phases is possible: a projection is a factor.
TEST(Collapse, ProjectsShardsOfOneAmplitude) {
  for (const int ranks : {2, 4}) {
    const Qubit qubits = ranks == 2 ? 1 : 2;
    Circuit circuit(qubits, 2 * qubits);
    for (Qubit qubit = 0; qubit < qubits; ++qubit) {
      circuit.add_gate(Gate::kS, {}, std::vector<Qubit>{qubit});
      circuit.add_measure(qubit, qubit);
      circuit.add_gate(Gate::kS, {}, std::vector<Qubit>{qubit});
      circuit.add_measure(qubit, qubits + qubit);
      circuit.add_gate(Gate::kS, {}, std::vector<Qubit>{qubit});
    }
    test::RunSetup setup;
    setup.ranks = ranks;
    test::with_run_parts(circuit, setup, [&](test::RunParts& parts) {
      ReadOuts wanted;
      wanted.distribution = true;
      const Answers answers = parts.run->run(wanted);
      ASSERT_EQ(answers.distribution->size(), 1u);
      EXPECT_EQ(test::by_text(*answers.distribution).begin()->first, ranks == 2 ? "00" : "0000");
      EXPECT_NEAR(answers.distribution->values[0], 1, 1e-15);
    });
  }
}

TEST(Collapse, RefusesAQubitOfAStateWithoutProbability) {
  with_outcome(0.5, Precision::kDouble, [](Collapse& collapse, test::RunParts& parts) {
    const std::vector<std::byte> zeros(16);
    for (Index i = 0; i < 8; ++i) parts.backend->copy_in(i, 1, zeros.data());
    EXPECT_THROW(collapse.weigh(0), VerificationError);
    EXPECT_THROW(collapse.weigh_in_units(0), VerificationError);
  });
}

}  // namespace
}  // namespace qsim
