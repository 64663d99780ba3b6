// Batches of small circuits against one run each; Gram matrices against inner products of whole states.
#include "qsim/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "batch/program.h"
#include "circuit/gate_table.h"
#include "circuit/generate/families.h"
#include "cpu/cpu_info.h"
#include "device/gpu_parts.h"
#include "document/result.h"
#include "kernels/cpu/batch_lanes.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "simulator/simulator.h"
#include "support/tolerance.h"

namespace qsim {
namespace {

std::vector<Complex> state_of(const Circuit& circuit) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  for (Index i = 0; i < Index{1} << circuit.qubits(); ++i) options.amplitude_indices.push_back(i);
  std::vector<Complex> state;
  const Result result = simulate(circuit, options);
  for (const AmplitudeEntry& entry : *result.results.amplitudes) state.push_back(entry.value);
  return state;
}

BatchOptions on_cpu() {
  BatchOptions options;
  options.target.backend = BackendKind::kCpu;
  options.states = true;
  return options;
}

/// Gates of every kind, about half of them with parameters, on random qubits.
Circuit random_parametric(std::uint32_t qubits, int gates, std::uint64_t seed) {
  PhiloxSequence random(seed);
  Circuit circuit(qubits);
  const auto angle = [&]() -> Angle {
    if (random.below(2) == 0) return random.uniform(-3, 3);
    Angle sum = random.uniform(-1, 1);
    for (std::uint64_t terms = random.below(4) == 0 ? 2 : 1; terms > 0; --terms) {
      sum = sum + random.uniform(-2, 2) * Parameter{"p" + std::to_string(random.below(3))};
    }
    return sum;
  };
  for (int g = 0; g < gates; ++g) {
    std::vector<Qubit> order;
    while (order.size() < qubits) {
      const auto qubit = static_cast<Qubit>(random.below(qubits));
      if (std::find(order.begin(), order.end(), qubit) == order.end()) order.push_back(qubit);
    }
    const Gate gate = gate_table()[random.below(kGateCount)].gate;
    const GateInfo& info = gate_info(gate);
    if (static_cast<std::uint32_t>(info.targets) > std::min(qubits, 3u)) continue;
    std::vector<Angle> angles;
    for (int p = 0; p < info.params; ++p) angles.push_back(gate == Gate::kU0 ? Angle(1) : angle());
    const auto targets = static_cast<std::size_t>(info.targets);
    const std::size_t controls = random.below(std::min<std::uint64_t>(3, qubits - targets + 1));
    const auto controlled = std::span(order).subspan(targets, controls);
    const std::vector<ControlQubit> on_one(controlled.begin(), controlled.end());
    circuit.apply(gate, on_one, std::span(order).first(targets), angles);
  }
  for (const char* name : {"p0", "p1", "p2"}) circuit.rx(Parameter{name}, 0);  // so that there are always three
  return circuit;
}

struct BatchWay {
  Precision precision;
  InstructionSet instruction_set;
};

class BatchWays : public testing::TestWithParam<BatchWay> {};

TEST_P(BatchWays, StatesAndMarginalsAreThoseOfOneRunEach) {
  BatchOptions options = on_cpu();
  options.target.precision = GetParam().precision;
  options.target.instruction_set = GetParam().instruction_set;
  const double slack = test::tolerance(options.target.precision);
  double worst = 0;
  for (std::uint32_t qubits = 1; qubits <= 6; ++qubits) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Circuit circuit = random_parametric(qubits, 25, 10 * qubits + seed);
      PhiloxSequence random(seed, 9);
      std::vector<double> values;
      for (int i = 0; i < 3 * 11; ++i) values.push_back(random.uniform(-3, 3));  // not a whole number of lane groups
      const BatchResult batch = run_batch(circuit, values, options);
      ASSERT_EQ(batch.evaluations, 11u);
      for (std::size_t e = 0; e < 11; ++e) {
        const std::vector<Complex> alone = state_of(circuit.bind(std::span(values).subspan(3 * e, 3)));
        std::vector<double> marginals(qubits);
        for (std::size_t i = 0; i < alone.size(); ++i) {
          const double off = std::abs(batch.states[(e << qubits) + i] - alone[i]);
          ASSERT_LT(off, slack) << qubits << " " << seed << " " << e;
          worst = std::max(worst, off);
          for (std::uint32_t q = 0; q < qubits; ++q) marginals[q] += (i >> q & 1) != 0 ? std::norm(alone[i]) : 0;
        }
        for (std::uint32_t q = 0; q < qubits; ++q) ASSERT_NEAR(batch.marginals[e * qubits + q], marginals[q], slack);
      }
    }
  }
  if (options.target.precision == Precision::kSingle) {
    EXPECT_GT(worst, 1e-9) << "computed in double";
  }
}

std::vector<BatchWay> batch_ways() {
  std::vector<BatchWay> ways;
  for (const InstructionSet set : cpu::instruction_sets()) {
    for (const Precision precision : {Precision::kDouble, Precision::kSingle}) ways.push_back({precision, set});
  }
  return ways;
}
INSTANTIATE_TEST_SUITE_P(Sets, BatchWays, testing::ValuesIn(batch_ways()), [](const auto& way) {
  return std::string(name_of(way.param.instruction_set)) + "_" + std::string(name_of(way.param.precision));
});

TEST(Batch, OutcomesFollowTheProbabilitiesWhateverTheThreads) {
  Circuit circuit(3);
  circuit.ry(Parameter{"a"}, 0);
  circuit.cx(0, 2);
  circuit.ry(0.5 * Parameter{"b"} + 0.25, 1);
  const std::vector<double> values{0.7, 1.1, 2.0, -0.4, 0, std::numbers::pi * 2 - 0.5};
  BatchOptions options = on_cpu();
  options.shots = 20000;
  options.target.threads = 1;
  const BatchResult one = run_batch(circuit, values, options);
  options.target.threads = 3;
  EXPECT_EQ(run_batch(circuit, values, options).outcomes, one.outcomes);
  options.seed = 2;
  EXPECT_NE(run_batch(circuit, values, options).outcomes, one.outcomes);
  for (std::size_t e = 0; e < 3; ++e) {
    std::vector<double> counts(8);
    for (std::uint32_t s = 0; s < options.shots; ++s) ++counts[one.outcomes[e * options.shots + s]];
    for (std::size_t i = 0; i < 8; ++i) {
      const double p = std::norm(one.states[e * 8 + i]);
      EXPECT_NEAR(counts[i] / options.shots, p, 6 * std::sqrt((p + 1e-9) / options.shots)) << e << " " << i;
    }
  }
}

class BatchOnGpu : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    if (const GpuSurvey survey = survey_gpus(1); survey.devices.empty()) GTEST_SKIP() << survey.reason;
  }
};

TEST_P(BatchOnGpu, GivesWhatTheCpuGives) {
  BatchOptions options = on_cpu();
  options.shots = 50;
  options.target.precision = GetParam();
  const double slack = test::tolerance(GetParam());
  for (const std::uint32_t qubits : {1u, 2u, 4u, 5u, 6u, 9u, 11u, 12u, 13u}) {
    const Circuit circuit = random_parametric(qubits, 30, qubits);
    PhiloxSequence random(qubits, 9);
    std::vector<double> values;
    for (int i = 0; i < 3 * 101; ++i) values.push_back(random.uniform(-3, 3));
    const BatchResult cpu = run_batch(circuit, values, options);
    BatchOptions on_gpu = options;
    on_gpu.target.backend = BackendKind::kCuda;
    const BatchResult gpu = run_batch(circuit, values, on_gpu);
    std::size_t other_outcomes = 0;
    for (std::size_t i = 0; i < cpu.states.size(); ++i) ASSERT_LT(std::abs(gpu.states[i] - cpu.states[i]), slack);
    for (std::size_t i = 0; i < cpu.marginals.size(); ++i) ASSERT_NEAR(gpu.marginals[i], cpu.marginals[i], slack);
    for (std::size_t i = 0; i < cpu.outcomes.size(); ++i) other_outcomes += gpu.outcomes[i] != cpu.outcomes[i];
    EXPECT_LE(other_outcomes, 2u) << qubits;  // draws within rounding of a boundary
  }
}

// By few threads and by many; each one's draws are numbered by its place in the whole batch.
TEST_P(BatchOnGpu, CutsManyIntoSlices) {
  BatchOptions options = on_cpu();
  options.states = false;
  options.shots = 2;
  options.target.precision = GetParam();
  const Circuit circuit = random_parametric(4, 30, 4);
  const double slack = test::tolerance(GetParam());
  for (const std::size_t evaluations : {std::size_t{300'001}, std::size_t{2'500'001}}) {
    PhiloxSequence random(4, 9);
    std::vector<double> values(3 * evaluations);
    for (double& value : values) value = random.uniform(-3, 3);
    options.target.backend = BackendKind::kCpu;
    const BatchResult cpu = run_batch(circuit, values, options);
    options.target.backend = BackendKind::kCuda;
    const BatchResult gpu = run_batch(circuit, values, options);
    std::size_t other_outcomes = 0;
    for (std::size_t i = 0; i < cpu.marginals.size(); ++i) ASSERT_NEAR(gpu.marginals[i], cpu.marginals[i], slack) << i;
    for (std::size_t i = 0; i < cpu.outcomes.size(); ++i) other_outcomes += gpu.outcomes[i] != cpu.outcomes[i];
    EXPECT_LE(other_outcomes, (GetParam() == Precision::kDouble ? 2u : 20u) * (1 + evaluations / 300'001));
    EXPECT_EQ(run_batch(circuit, values, options).marginals, gpu.marginals);
  }
}

// States that come slice by slice: by several threads, by one, and where a state fits no slot of theirs.
TEST_P(BatchOnGpu, BringsStatesOfManySlices) {
  BatchOptions options = on_cpu();
  options.target.precision = GetParam();
  const double slack = test::tolerance(GetParam());
  for (const auto& [qubits, evaluations] : {std::pair{9u, 1'001u}, std::pair{13u, 2'501u}, std::pair{17u, 151u}}) {
    const Circuit circuit = random_parametric(qubits, 30, qubits);
    PhiloxSequence random(qubits, 9);
    std::vector<double> values(3 * evaluations);
    for (double& value : values) value = random.uniform(-3, 3);
    options.target.backend = BackendKind::kCpu;
    const BatchResult cpu = run_batch(circuit, values, options);
    options.target.backend = BackendKind::kCuda;
    const BatchResult gpu = run_batch(circuit, values, options);
    for (std::size_t i = 0; i < cpu.states.size(); ++i) ASSERT_LT(std::abs(gpu.states[i] - cpu.states[i]), slack) << i;
  }
}

TEST_P(BatchOnGpu, EndsWithWhatTheProgressThrows) {
  struct Enough {};
  BatchOptions options;
  options.target.backend = BackendKind::kCuda;
  options.target.precision = GetParam();
  options.marginals = false;
  options.shots = 1;
  const Circuit circuit = generate("qft", {11, 0, 1});
  double seen = 0;
  options.progress = [&seen](const Progress& progress) {
    seen = progress.fraction;
    throw Enough();
  };
  EXPECT_THROW(run_batch(circuit, {}, options, 30'000'000), Enough);  // some ten seconds, told ten times in each
  EXPECT_GT(seen, 0);
  EXPECT_LT(seen, 1);
}
INSTANTIATE_TEST_SUITE_P(Precisions, BatchOnGpu, testing::Values(Precision::kDouble, Precision::kSingle),
                         [](const auto& precision) { return std::string(name_of(precision.param)); });

std::size_t count_of(const BatchProgram& program, BatchForm form) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program.ops, [form](const BatchOp& op) { return op.form == form; }));
}

// First gates are births, what follows on a wire is one matrix, and what undoes itself is not there.
TEST(Batch, GatesArePutTogether) {
  Circuit circuit(2, 2);
  circuit.ry(Parameter{"a"}, 0).rz(Parameter{"b"}, 0).cx(0, 1).cx(0, 1).x(1);
  BatchProgram program = make_batch_program(circuit, true);
  EXPECT_EQ(program.ops.size(), 2u);
  EXPECT_EQ(count_of(program, BatchForm::kBirth), 2u);

  circuit.add_pauli_rotation(Parameter{"a"}, "ZZ", std::vector<Qubit>{0, 1});
  circuit.h(0).rx(Parameter{"a"}, 0).t(0).ry(Parameter{"b"}, 0).add_measure(0, 0);
  program = make_batch_program(circuit, true);
  EXPECT_EQ(program.ops.size(), 2u);
}

// Two layers of ry and rz on 4 qubits with chains of cx: 16 rotations and 6 flips as they are written.
TEST(Batch, RotationsCostLessThanTheyWouldOneByOne) {
  Circuit circuit(4);
  for (int layer = 0; layer < 2; ++layer) {
    for (Qubit q = 0; q < 4; ++q) {
      const std::string name = std::to_string(4 * layer) + "." + std::to_string(q);
      circuit.ry(Parameter{"y" + name}, q).rz(Parameter{"z" + name}, q);
    }
    for (Qubit q = 0; q + 1 < 4; ++q) circuit.cx(q, q + 1);
  }
  BatchProgram program = make_batch_program(circuit, true);
  EXPECT_EQ(count_of(program, BatchForm::kTurn), 4u);
  EXPECT_LE(program.ops.size(), 20u);
  EXPECT_EQ(program.sums.size(), 17u);  // an angle each, and the phase of everything
  program = make_batch_program(circuit, false);
  EXPECT_EQ(program.sums.size(), 12u);  // nothing sees the last rz
}

// A rotation under a control is one matrix under it, also when its fixed parts were put into others.
TEST(Batch, ControlledRotationsAreOneMatrix) {
  Circuit circuit(2);
  const std::vector<Qubit> target{1};
  const std::vector<ControlQubit> control{0};
  const std::vector<Angle> angle{Parameter{"c"}};
  circuit.h(0).ry(Parameter{"a"}, 1).apply(Gate::kRx, control, target, angle);
  const BatchProgram program = make_batch_program(circuit, true);
  EXPECT_EQ(count_of(program, BatchForm::kPhase), 0u);
  ASSERT_EQ(count_of(program, BatchForm::kTurn), 1u);
  EXPECT_EQ(program.ops.size(), 3u);
  EXPECT_EQ(program.ops.back().mask, 1u);
}

// Up to kPlainAngle, tiny ones and those beside quarter turns among them.
TEST(Batch, SinesOfLanesAreRightInTheirLastPlaces) {
  constexpr std::size_t kLanes = cpu::kBatchLanes<double>;
  for (const InstructionSet set : cpu::instruction_sets()) {
    const auto lanes = cpu::for_instruction_set(set, cpu::batch_lanes_scalar<double>, cpu::batch_lanes_avx2<double>,
                                                cpu::batch_lanes_avx512<double>)();
    const BatchSum sum{0, 1};
    const BatchTerm term{0, 1, 1, 1};
    alignas(64) double values[kLanes], circle[2 * kLanes];
    PhiloxSequence random(5);
    for (int round = 0; round < 20000; ++round) {
      for (double& value : values) {
        value = random.uniform(-kPlainAngle, kPlainAngle);
        if (round % 4 == 1) value = std::numbers::pi / 2 * std::round(value);
        if (round % 4 == 2) value = std::ldexp(value, -static_cast<int>(random.below(60)));
      }
      lanes.circle(&sum, 1, &term, values, circle);
      for (std::size_t l = 0; l < kLanes; ++l) {
        const double cosine = std::cos(values[l]), sine = std::sin(values[l]);
        ASSERT_LE(std::abs(circle[l] - cosine), 3e-16 * std::abs(cosine)) << name_of(set) << " " << values[l];
        ASSERT_LE(std::abs(circle[kLanes + l] - sine), 3e-16 * std::abs(sine)) << name_of(set) << " " << values[l];
      }
    }
  }
}

TEST(Batch, LargerCircuitsAndCircuitsWithoutParameters) {
  for (const std::uint32_t qubits : {14u, kMaxBatchQubits}) {
    const Circuit fixed = generate("qft", {qubits, 0, 1});
    const BatchResult batch = run_batch(fixed, {}, on_cpu(), 3);
    ASSERT_EQ(batch.evaluations, 3u);
    const double even = std::ldexp(1, -static_cast<int>(qubits / 2));
    for (const Complex amplitude : batch.states) ASSERT_NEAR(std::abs(amplitude - even), 0, 1e-13);
    for (const double marginal : batch.marginals) EXPECT_NEAR(marginal, 0.5, 1e-12);
  }
}

TEST(Batch, WhatTheProgressThrowsEndsItSoon) {
  struct Enough {};
  for (const std::uint32_t qubits : {2u, 18u}) {
    const Circuit circuit = generate("qft", {qubits, 0, 1});
    for (const int threads : {1, 3}) {
      BatchOptions options = on_cpu();
      options.states = options.marginals = false;
      options.target.threads = threads;
      double seen = -1;
      options.progress = [&seen](const Progress& progress) {
        seen = progress.fraction;
        EXPECT_GE(progress.remaining_seconds, 0);
        throw Enough();
      };
      const std::size_t many = std::size_t{100} << (24 - qubits);  // some ten seconds
      EXPECT_THROW(run_batch(circuit, {}, options, many), Enough);
      EXPECT_GT(seen, 0);
      EXPECT_LT(seen, 0.5);
    }
  }
}

TEST(Batch, WrongUseIsAnError) {
  Circuit circuit(2);
  circuit.rx(Parameter{"a"}, 0).ry(Parameter{"b"}, 1);
  EXPECT_THROW(run_batch(circuit, std::vector<double>{1, 2, 3}, on_cpu()), UsageError);
  EXPECT_THROW(run_batch(Circuit(2), std::vector<double>{1}, on_cpu()), UsageError);
  EXPECT_THROW(run_batch(Circuit(21), {}, on_cpu()), UnsupportedError);
  const Angle open = Parameter{"a"};
  const Qubit zero = 0;
  EXPECT_THROW(circuit.apply(Gate::kU0, {}, {&zero, 1}, {&open, 1}), CircuitError);
  Circuit large(4);
  const std::vector<Qubit> all{0, 1, 2, 3};
  Matrix mixing(256);
  double norm = 0;  // a reflection that no smaller gates make
  for (int i = 1; i <= 16; ++i) norm += std::pow(i, 3);
  for (std::size_t i = 0; i < 256; ++i) {
    const double row = std::pow(1 + i / 16, 1.5), column = std::pow(1 + i % 16, 1.5);
    mixing[i] = (i / 16 == i % 16 ? 1.0 : 0.0) - 2 * row * column / norm;
  }
  large.add_unitary(mixing, {}, all);
  EXPECT_THROW(run_batch(large, {}, on_cpu()), UnsupportedError);
  EXPECT_THROW(run_batch(circuit, std::vector<double>{1, std::nan("")}, on_cpu()), UsageError);
  EXPECT_THROW(static_cast<void>(circuit.bind(std::vector<double>{1})), UsageError);
  Circuit dynamic(2, 1);
  dynamic.add_measure(0, 0);
  dynamic.h(0);
  EXPECT_THROW(run_batch(dynamic, {}, on_cpu()), UnsupportedError);
  BatchOptions two = on_cpu();
  two.target.ranks = 2;
  EXPECT_THROW(run_batch(Circuit(2), {}, two), UsageError);
  two.target.ranks = 1;
  two.target.gpu_ids = {0, 1};
  EXPECT_THROW(run_batch(Circuit(2), {}, two), UsageError);
  // What a session refuses and what would have no effect.
  for (const auto& spoil : std::initializer_list<void (*)(Target&)>{
           [](Target& target) { target.threads = -1; },
           [](Target& target) { target.instruction_set = static_cast<InstructionSet>(99); },
           [](Target& target) { target.gpu_ids = {0}; }, [](Target& target) { target.pool_share = 0.5; },
           [](Target& target) { target.backend = BackendKind::kNull; }}) {
    BatchOptions options = on_cpu();
    spoil(options.target);
    EXPECT_THROW(run_batch(Circuit(2), {}, options), UsageError);
    const std::vector<double> values{1, 2};
    EXPECT_THROW(gram(circuit, values, options.target), UsageError);
  }
}

TEST(Gram, ProductsOfWholeStates) {
  std::vector<Circuit> circuits{generate("ghz", {5, 0, 1}), generate("random", {5, 4, 1}),
                                generate("random", {5, 4, 2}), generate("iqft", {5, 0, 1})};
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    RunOptions options;
    options.backend = BackendKind::kCpu;
    options.precision = precision;
    const GramResult result = gram(circuits, options);
    const double slack = precision == Precision::kDouble ? 1e-12 : 1e-5;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        const std::vector<Complex> a = state_of(circuits[i]), b = state_of(circuits[j]);
        Complex product = 0;
        double distance = 0;
        for (std::size_t k = 0; k < a.size(); ++k) {
          product += std::conj(a[k]) * b[k];
          distance += std::norm(a[k] - b[k]);
        }
        EXPECT_LT(std::abs(result.at(i, j) - product), slack) << i << j;
        EXPECT_NEAR(result.euclidean(i, j) * result.euclidean(i, j), distance, 10 * slack);
        EXPECT_NEAR(result.fidelity(i, j), std::norm(product), 10 * slack);
        EXPECT_NEAR(result.trace(i, j) * result.trace(i, j), 1 - std::norm(product), 10 * slack);
        EXPECT_NEAR(result.cosine(i, j), 1 - product.real(), 10 * slack);
      }
    }
  }
}

TEST(Gram, ABatchOfStatesEqualsItsCircuits) {
  const Circuit circuit = random_parametric(4, 20, 77);
  std::vector<double> values;
  std::vector<Circuit> circuits;
  PhiloxSequence random(3);
  for (int e = 0; e < 37; ++e) {
    for (int p = 0; p < 3; ++p) values.push_back(random.uniform(-3, 3));
    circuits.push_back(circuit.bind(std::span(values).last(3)));
  }
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    Target target;
    target.backend = BackendKind::kCpu;
    const GramResult one_by_one = gram(circuits, target);
    target.precision = precision;
    const GramResult batch = gram(circuit, values, target);
    ASSERT_EQ(batch.states, 37u);
    double worst = 0;
    for (std::size_t i = 0; i < batch.gram.size(); ++i) {
      worst = std::max(worst, std::abs(batch.gram[i] - one_by_one.gram[i]));
    }
    EXPECT_LT(worst, test::tolerance(precision));
    if (precision == Precision::kSingle) {
      EXPECT_GT(worst, 1e-9) << "the states were made in double precision";
    }
  }
}

// Fewer states than a block has, one more, rows that are shorter than a vector and longer than what stays in cache.
TEST(Gram, IsThatOfTheBatchsStatesWithEveryInstructionSet) {
  for (const InstructionSet set : cpu::instruction_sets()) {
    for (const auto& [qubits, states] : {std::pair(1u, 2u), {1u, 9u}, {2u, 5u}, {3u, 17u}, {5u, 8u}, {11u, 6u}}) {
      SCOPED_TRACE(std::string(name_of(set)) + ", " + std::to_string(states) + " states of " + std::to_string(qubits) +
                   " qubits");
      const Circuit circuit = random_parametric(qubits, 20, qubits + states);
      PhiloxSequence random(states);
      std::vector<double> values(3 * states);
      for (double& value : values) value = random.uniform(-3, 3);
      BatchOptions options = on_cpu();
      options.target.instruction_set = set;
      const std::vector<Complex> all = run_batch(circuit, values, options).states;
      const GramResult found = gram(circuit, values, options.target);
      const std::size_t size = std::size_t{1} << qubits;
      for (std::size_t i = 0; i < states; ++i) {
        for (std::size_t j = 0; j < states; ++j) {
          Complex product = 0;
          for (std::size_t k = 0; k < size; ++k) product += std::conj(all[i * size + k]) * all[j * size + k];
          ASSERT_LT(std::abs(found.at(i, j) - product), 1e-14) << i << " " << j;
        }
      }
    }
  }
}

TEST(Gram, GpuGivesWhatTheCpuGives) {
  for (const Precision precision : {Precision::kDouble, Precision::kSingle}) {
    for (const std::uint32_t qubits : {1u, 4u, 9u, 13u}) {
      const Circuit circuit = random_parametric(qubits, 20, qubits);
      std::vector<double> values;
      PhiloxSequence random(4);
      for (int i = 0; i < 3 * 41; ++i) values.push_back(random.uniform(-3, 3));
      Target target;
      target.backend = BackendKind::kCpu;
      const GramResult cpu = gram(circuit, values, target);
      target.backend = BackendKind::kCuda;
      target.precision = precision;
      GramResult gpu;
      try {
        gpu = gram(circuit, values, target);
      } catch (const DeviceError& error) {
        GTEST_SKIP() << error.what();
      }
      const double slack = precision == Precision::kDouble ? 1e-12 : test::tolerance(precision);
      for (std::size_t i = 0; i < cpu.gram.size(); ++i) ASSERT_LT(std::abs(gpu.gram[i] - cpu.gram[i]), slack) << i;
    }
  }
}

TEST(Gram, WrongUseIsAnError) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  const std::vector<Circuit> different{Circuit(2), Circuit(3)}, one{Circuit(2)};
  EXPECT_THROW(gram(different, options), UsageError);
  EXPECT_THROW(gram(one, options), UsageError);
  const std::vector<Circuit> large(40, generate("ghz", {12, 0, 1}));
  options.max_memory = 1 << 20;
  try {
    gram(large, options);
    ADD_FAILURE() << "40 states of 64 KiB and their scratch were put into 1 MiB";
  } catch (const CapacityError& error) {
    EXPECT_NE(std::string(error.what()).find("40 states"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace qsim
