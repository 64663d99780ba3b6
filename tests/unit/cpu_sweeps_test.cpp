// Factored matrices, merged phases, and sums that do not depend on the number of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/philox.h"
#include "cpu/items/tile_items.h"
#include "device/backend.h"
#include "plan/cost/pool_layout.h"
#include "plan/plan.h"

namespace qsim {
namespace {

using cpu::Factored;

/// The matrix that a factored form stands for.
std::vector<Complex> composed(const Factored& f) {
  const cpu::FewNumbers& c = f.coefficients;
  const Complex i(0, 1);
  std::vector<Complex> m;
  switch (f.form) {
    case Factored::Form::kShearA:
      m = {1, c[0], c[1], 1};
      break;
    case Factored::Form::kShearB:
      m = {c[0], 1, 1, c[1]};
      break;
    case Factored::Form::kShearC:
      m = {c[0], -1, 1, c[1]};
      break;
    case Factored::Form::kCrossA:
      m = {1, i * c[0], i * c[1], 1};
      break;
    case Factored::Form::kCrossB:
      m = {i * c[0], 1, 1, i * c[1]};
      break;
    case Factored::Form::kReal:
    case Factored::Form::kCross:
    case Factored::Form::kGeneral:
      m.assign(c.begin(), c.end());
      break;
    case Factored::Form::kFlip:
      m = {0, 1, 1, 0};
      break;
  }
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      m[2 * row + column] *= f.scale * std::polar(1.0, f.after[row] + f.before[column]);
    }
  }
  return m;
}

std::vector<Complex> u3(double theta, double phi, double lambda) {
  const double c = std::cos(theta / 2), s = std::sin(theta / 2);
  return {c, -std::polar(s, lambda), std::polar(s, phi), std::polar(c, phi + lambda)};
}

TEST(FactorMatrix, ComposesBackAndNeverNeedsTheGeneralFormForAUnitary) {
  PhiloxSequence random(3);
  constexpr double kPi = std::numbers::pi;
  for (int repeat = 0; repeat < 500; ++repeat) {
    double angle[3];
    for (double& a : angle)
      a = repeat % 2 == 0 ? random.uniform(-7, 7) : kPi / 4 * static_cast<double>(random.below(16));
    std::vector<Complex> matrix = u3(angle[0], angle[1], angle[2]);
    const Complex phase = std::polar(1.0, random.uniform(0, 7));
    if (repeat % 3 == 0) {
      for (Complex& entry : matrix) entry *= phase;
    }
    const Factored factored = cpu::factor_matrix(matrix);
    EXPECT_NE(factored.form, Factored::Form::kGeneral);
    const std::vector<Complex> back = composed(factored);
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(std::abs(back[j] - matrix[j]), 0, 1e-13) << "entry " << j;
    for (const Complex& c : factored.coefficients) EXPECT_LE(std::abs(c), 1 + 1e-11) << "nothing grows by a division";
  }
}

TEST(FactorMatrix, NoiseInAnEmptyEntryDecidesNothing) {
  for (const Complex noise : {Complex(3e-14, 1e-14), Complex(-2e-16, 4e-14), Complex(0, 1e-15)}) {
    for (const std::vector<Complex>& matrix : std::vector<std::vector<Complex>>{
             {1, noise, 0, Complex(0, 1)}, {1, 0, noise, -1}, {noise, 1, Complex(0, -1), 0}, {0, 1, 1, noise}}) {
      const std::vector<Complex> back = composed(cpu::factor_matrix(matrix));
      for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(std::abs(back[j] - matrix[j]), 0, 1e-13) << "entry " << j;
    }
  }
}

TEST(FactorMatrix, HadamardAndRotationsNeedNoPhases) {
  const double r = std::sqrt(0.5), c = std::cos(1.2), s = std::sin(1.2);
  const Complex i(0, 1);
  for (const std::vector<Complex>& matrix : std::vector<std::vector<Complex>>{
           {r, r, r, -r}, {c, -s, s, c}, {s, -c, c, s}, {c, -i * s, -i * s, c}, {s, -i * c, -i * c, s}}) {
    const Factored factored = cpu::factor_matrix(matrix);
    EXPECT_EQ(factored.before[0], 0);
    EXPECT_EQ(factored.before[1], 0);
    EXPECT_EQ(factored.after[0], 0);
    EXPECT_EQ(factored.after[1], 0);
    EXPECT_NE(factored.form, Factored::Form::kReal) << "one multiplication and addition a real number is enough";
  }
}

TEST(FactorMatrix, LeavesWhatIsNotUnitaryAsItIs) {
  const std::vector<Complex> matrix = {1, 2, Complex(0, 3), 4};
  const Factored factored = cpu::factor_matrix(matrix);
  EXPECT_EQ(factored.form, Factored::Form::kGeneral);
  EXPECT_TRUE(std::ranges::equal(factored.coefficients, matrix));
}

TEST(CpuBackend, SumsAreTheSameBitsOnAnyNumberOfThreads) {
  std::vector<std::vector<double>> found;
  for (const int threads : {1, 2, 3}) {
    BackendOptions options;
    options.threads = threads;
    options.precision = Precision::kSingle;
    const std::unique_ptr<Backend> backend = make_cpu_backend(options);
    PoolLayout layout;
    layout.state_bytes = 8 << 15;
    layout.snapshot_bytes = 8 << 15;
    backend->reserve(layout, 15);
    backend->fill_random(Layout::identity(15), 0, 4, 0.005);
    backend->save_state(0);
    Sweep sweep;
    sweep.active = sweep.store = {0, 1, 2, 5, 6, 7, 8};
    PlanOp op;
    op.target_count = 1;
    op.targets[0] = 6;
    op.data_count = 4;
    sweep.matrices = u3(0.3, 0.4, 0.5);
    sweep.ops = {op};
    backend->sweep(backend->prepare(std::span(&sweep, 1), Summing::kNo), ChunkView{}, 0, true);
    std::vector<double> sums = {backend->take_norm(), backend->reader().norm()};
    sums.resize(2 + 16);
    backend->reader().bit_probabilities(std::span(sums).subspan(2));
    std::vector<double> outcomes(64);
    backend->reader().histogram(std::vector<Bit>{1, 14, 3, 9, 8, 2}, outcomes);
    sums.insert(sums.end(), outcomes.begin(), outcomes.end());
    std::vector<Complex> pauli(2);
    backend->reader().pauli_sums(std::vector<PauliGroup>{{0x1234, 0, 2}}, std::vector<Index>{7, 0x4321}, pauli);
    for (const Complex& value : pauli) sums.insert(sums.end(), {value.real(), value.imag()});
    sums.push_back(backend->reader().inner_product(0).real());
    found.push_back(sums);
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(CpuBackend, BatchesOfTilesGiveWhatSingleTilesDo) {
  // Short runs far apart: tiles are loaded and stored in batches, unless a chunk names the bits between them.
  Sweep sweep;
  sweep.active = {0, 1, 2, 13, 14, 15, 16, 17, 18, 19};
  sweep.store = {1, 0, 2, 13, 14, 15, 19, 17, 18, 16};
  PhiloxSequence random(5);
  for (const Bit bit : sweep.active) {
    PlanOp op;
    op.target_count = 1;
    op.targets[0] = bit;
    op.control_mask = op.control_value = Index{1} << random.below(13);
    if (op.control_mask == Index{1} << bit) op.control_mask = op.control_value = 0;
    op.data_begin = static_cast<std::uint32_t>(sweep.matrices.size());
    op.data_count = 4;
    for (const Complex& entry : u3(random.uniform(0, 7), random.uniform(0, 7), 1)) sweep.matrices.push_back(entry);
    sweep.ops.push_back(op);
    PlanOp phases;
    phases.form = Form::kPhases;
    phases.data_begin = static_cast<std::uint32_t>(sweep.phases.size());
    phases.data_count = 2;
    sweep.phases.push_back({Index{1} << random.below(20) | Index{1} << random.below(20), false, 0.7});
    sweep.phases.push_back({Index{1} << random.below(20) | Index{1} << random.below(20), true, 1.9});
    sweep.ops.push_back(phases);
  }
  std::vector<std::vector<std::complex<float>>> states;
  for (const Index chunk_mask : {Index{0}, Index{0b11000}}) {
    for (const InstructionSet set : {InstructionSet::kAuto, InstructionSet::kScalar}) {
      BackendOptions options;
      options.precision = Precision::kSingle;
      options.threads = 2;
      options.instruction_set = set;
      const std::unique_ptr<Backend> backend = make_cpu_backend(options);
      PoolLayout layout;
      layout.state_bytes = 8 << 20;
      backend->reserve(layout, 20);
      backend->fill_random(Layout::identity(20), 0, 6, 1);
      const std::uint32_t handle = backend->prepare(std::span(&sweep, 1), Summing::kNo);
      for (Index value = 0; value <= chunk_mask; value += 8) backend->sweep(handle, {chunk_mask, value}, 0, false);
      states.emplace_back(std::size_t{1} << 20);
      backend->reader().copy_out(0, std::size_t{1} << 20, reinterpret_cast<std::byte*>(states.back().data()));
    }
  }
  for (std::size_t other = 1; other < states.size(); ++other) {
    float worst = 0;
    for (std::size_t j = 0; j < states[0].size(); ++j)
      worst = std::max(worst, std::abs(states[0][j] - states[other][j]));
    EXPECT_LT(worst, 2e-5f);
  }
}

}  // namespace
}  // namespace qsim
