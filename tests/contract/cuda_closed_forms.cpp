// States that are known in closed form, of sizes whose indices pass 2^32: they fill a large card. Skipped where the
// device or its memory is missing.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "device/backend.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "qsim/circuit.h"
#include "qsim/error.h"

namespace qsim {
namespace {

constexpr Index kBasisState = 0x15a3c97e1;  // below 2^33

/// Amplitude of a logical basis state.
using ClosedForm = Complex (*)(std::uint32_t qubits, Index index);

Circuit ghz(std::uint32_t qubits) {
  Circuit circuit(qubits);
  circuit.h(0);
  for (Qubit q = 1; q < qubits; ++q) circuit.cx(q - 1, q);
  return circuit;
}
Complex ghz_amplitude(std::uint32_t qubits, Index index) {
  return index == 0 || index == (Index{1} << qubits) - 1 ? std::sqrt(0.5) : 0;
}

Circuit uniform(std::uint32_t qubits) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q) circuit.h(q);
  return circuit;
}
Complex uniform_amplitude(std::uint32_t qubits, Index) { return std::pow(2.0, -0.5 * qubits); }

Circuit fourier(std::uint32_t qubits) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q) {
    if ((kBasisState >> q & 1) != 0) circuit.x(q);
  }
  for (Qubit q = qubits; q-- > 0;) {
    circuit.h(q);
    for (Qubit c = q; c-- > 0;) circuit.cp(std::numbers::pi / static_cast<double>(Index{1} << (q - c)), c, q);
  }
  for (Qubit q = 0; q < qubits / 2; ++q) circuit.swap(q, qubits - 1 - q);
  return circuit;
}
Complex fourier_amplitude(std::uint32_t qubits, Index index) {
  const Index size = Index{1} << qubits;
  const double turns = static_cast<double>(kBasisState % size * index % size) / static_cast<double>(size);
  return std::polar(std::pow(2.0, -0.5 * qubits), 2 * std::numbers::pi * turns);
}

/// Turns of single qubits, no two alike, and flips that take amplitudes anywhere.
double turn_of(Qubit q) { return 0.5 * std::numbers::pi + 0.01 * (static_cast<double>(q) - 15); }
constexpr int kRounds = 3;
Circuit product_and_flips(std::uint32_t qubits) {
  Circuit circuit(qubits);
  for (Qubit q = 0; q < qubits; ++q) circuit.ry(turn_of(q), q);
  for (int round = 0; round < kRounds; ++round)
    for (Qubit q = 0; q < qubits; ++q) circuit.ccx((q + 5) % qubits, (q + 11) % qubits, q);
  return circuit;
}
Complex product_and_flips_amplitude(std::uint32_t qubits, Index index) {
  for (int round = 0; round < kRounds; ++round) {
    for (Qubit q = qubits; q-- > 0;) {
      const Index both = Index{1} << (q + 5) % qubits | Index{1} << (q + 11) % qubits;
      if ((index & both) == both) index ^= Index{1} << q;
    }
  }
  double product = 1;
  for (Qubit q = 0; q < qubits; ++q)
    product *= (index >> q & 1) != 0 ? std::sin(0.5 * turn_of(q)) : std::cos(0.5 * turn_of(q));
  return product;
}

/// Ends, neighbours of 2^31 and 2^32, and others at random.
std::vector<Index> chosen_indices(std::uint32_t qubits) {
  const Index size = Index{1} << qubits;
  std::vector<Index> indices = {0, 1, size - 1, size - 2};
  for (const Index index : {Index{1} << 31, Index{1} << 32}) {
    if (index + 1 < size) indices.insert(indices.end(), {index - 1, index, index + 1});
  }
  std::mt19937_64 random(qubits);
  while (indices.size() < 96) indices.push_back(random() % size);
  return indices;
}

void expect_amplitudes(Backend& backend, const Plan& plan, std::uint32_t qubits, ClosedForm form) {
  const std::vector<Index> logical = chosen_indices(qubits);
  std::vector<Index> physical;
  for (const Index index : logical) physical.push_back(plan.final_layout.to_physical(index));
  std::vector<Complex> amplitudes(logical.size());
  backend.reader().read_amplitudes(physical, amplitudes);
  const double scale = std::abs(form(qubits, 0));
  for (std::size_t i = 0; i < logical.size(); ++i) {
    EXPECT_LE(std::abs(amplitudes[i] - form(qubits, logical[i])), 1e-13 * scale) << "amplitude " << logical[i];
  }
  EXPECT_NEAR(backend.reader().norm(), 1, 1e-11);
}

/// What its sweeps that permute take.
void add_spare(PoolLayout& layout, const Plan& plan) {
  const PoolLayout planned = pool_layout(plan, find_machine("h200"));
  layout.spare_bytes = planned.spare_bytes;
  layout.step_bytes = planned.step_bytes;
}

/// Without `known_zeros` every amplitude is swept every time.
void check(const Circuit& circuit, ClosedForm form, bool known_zeros = false) {
  const std::uint32_t qubits = circuit.qubits();
  PlanOptions plan_options;
  plan_options.known_zeros = known_zeros;
  const Plan plan = make_plan(circuit, find_machine("h200"), plan_options);
  std::vector<Sweep> sweeps;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) sweeps.push_back(specialize(sweep, plan, 0));
  }
  PoolLayout layout;
  layout.state_bytes = amplitude_bytes(Precision::kDouble) << qubits;
  layout.table_bytes = 8ull << 20;
  layout.scratch_bytes = 17ull << 20;
  add_spare(layout, plan);
  for (const Jit jit : {Jit::kOff, Jit::kOnly}) {
    SCOPED_TRACE("jit " + std::string(name_of(jit)));
    BackendOptions options;
    options.jit = jit;
    std::unique_ptr<Backend> backend;
    try {
      backend = make_cuda_backend(options);
      backend->reserve(layout, qubits);
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    } catch (const CapacityError& error) {
      GTEST_SKIP() << error.what();
    }
    const std::uint32_t first = backend->prepare(sweeps, Summing::kNo);
    for (std::uint32_t s = 0; s < sweeps.size(); ++s) backend->sweep(first + s, {}, 0, false);
    expect_amplitudes(*backend, plan, qubits, form);
  }
}

class CudaClosedForms : public testing::TestWithParam<std::uint32_t> {};

TEST_P(CudaClosedForms, GhzHasTwoAmplitudes) { check(ghz(GetParam()), ghz_amplitude); }
TEST_P(CudaClosedForms, HadamardsMakeTheUniformState) { check(uniform(GetParam()), uniform_amplitude); }
TEST_P(CudaClosedForms, FourierTransformOfABasisStateIsAWave) { check(fourier(GetParam()), fourier_amplitude); }

// More bits than are looked up in tables, where there are 33.
TEST_P(CudaClosedForms, ProductsThatAreFlippedAreOneWrite) {
  const Circuit circuit = product_and_flips(GetParam());
  const Plan plan = make_plan(circuit, find_machine("h200"), PlanOptions{});
  ASSERT_EQ(plan_work(plan).sweeps, 1U);
  ASSERT_TRUE(plan.stages[0].sweeps[0].permutes());
  check(circuit, product_and_flips_amplitude, true);
}

INSTANTIATE_TEST_SUITE_P(Qubits, CudaClosedForms, testing::Values(14, 31, 32, 33));

/// The circuits and their closed forms agree where the CPU can tell.
TEST(CudaClosedFormsOnTheCpu, MatchThePlans) {
  constexpr std::uint32_t kQubits = 14;
  const std::pair<Circuit, ClosedForm> cases[] = {{ghz(kQubits), ghz_amplitude},
                                                  {uniform(kQubits), uniform_amplitude},
                                                  {fourier(kQubits), fourier_amplitude},
                                                  {product_and_flips(kQubits), product_and_flips_amplitude}};
  for (const auto& [circuit, form] : cases) {
    const Plan plan = make_plan(circuit, find_machine("h200"), PlanOptions{});
    const auto backend = make_cpu_backend(BackendOptions{});
    PoolLayout layout;
    layout.state_bytes = amplitude_bytes(Precision::kDouble) << kQubits;
    layout.table_bytes = 8ull << 20;
    layout.scratch_bytes = 64ull << 20;
    add_spare(layout, plan);
    backend->reserve(layout, kQubits);
    std::vector<Sweep> sweeps;
    for (const Stage& stage : plan.stages) {
      for (const Sweep& sweep : stage.sweeps) sweeps.push_back(specialize(sweep, plan, 0));
    }
    const std::uint32_t first = backend->prepare(sweeps, Summing::kNo);
    for (std::uint32_t s = 0; s < sweeps.size(); ++s) backend->sweep(first + s, {}, 0, false);
    expect_amplitudes(*backend, plan, kQubits, form);
  }
}

/// All that runs needs is in the pool: the device's free memory stays what it was once the first of each has run.
TEST(CudaMemory, NothingIsAllocatedOnceThePoolStands) {
  constexpr std::uint32_t kQubits = 20;
  BackendOptions options;
  options.jit = Jit::kOff;
  std::unique_ptr<Backend> backend;
  try {
    backend = make_cuda_backend(options);
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  PoolLayout layout;
  layout.state_bytes = layout.snapshot_bytes = amplitude_bytes(Precision::kDouble) << kQubits;
  layout.table_bytes = 8ull << 20;
  layout.scratch_bytes = 17ull << 20;
  backend->reserve(layout, kQubits);
  const Plan plan = make_plan(fourier(kQubits), find_machine("h200"), PlanOptions{});
  std::vector<Sweep> sweeps;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) sweeps.push_back(specialize(sweep, plan, 0));
  }
  const auto run = [&] {
    backend->clear_sweeps();
    const std::uint32_t first = backend->prepare(sweeps, Summing::kNo);
    for (std::uint32_t s = 0; s < sweeps.size(); ++s) backend->sweep(first + s, {}, 0, true);
    backend->save_state(0);
    (void)backend->take_norm();
    (void)backend->reader().norm();
    (void)backend->reader().inner_product(0);
    std::vector<double> bits(kQubits), histogram(1u << 10);
    backend->reader().bit_probabilities(bits);
    const std::vector<Bit> low = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    backend->reader().histogram(low, histogram);
    (void)backend->reader().top(100, plan.final_layout, 0);
  };
  run();  // loads kernels and what libraries keep
  const std::uint64_t free_bytes = backend->info().free_bytes;
  for (int repeat = 0; repeat < 5; ++repeat) {
    run();
    EXPECT_EQ(backend->info().free_bytes, free_bytes);
  }
  EXPECT_EQ(backend->peak_bytes(), layout.total_bytes());
}

}  // namespace
}  // namespace qsim
