// Cost tables of GPUs that were not measured: an H200's at their own pace.
#include "plan/cost/gpu_pace.h"

#include <gtest/gtest.h>

#include "circuit/generate/families.h"
#include "device/gpu_parts.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "session/choose/choose.h"

namespace qsim {
namespace {

// By NVIDIA's figures: bus widths, memory clocks, multiprocessors and their clocks as the driver gives them.
const GpuRates kH200{2 * 3.201e9 * 6144 / 8, 132 * 1.98e9 * 128, 132 * 1.98e9 * 64};
const GpuRates kH100{2 * 2.619e9 * 5120 / 8, 132 * 1.98e9 * 128, 132 * 1.98e9 * 64};
const GpuRates kA100{2 * 1.593e9 * 5120 / 8, 108 * 1.41e9 * 64, 108 * 1.41e9 * 32, true};
const GpuRates kGeForce{2 * 10.501e9 * 384 / 8, 128 * 2.52e9 * 128, 128 * 2.52e9 * 2};

double predicted(const Machine& machine, const char* family, Precision precision) {
  PlanOptions options;
  options.precision = precision;
  options.start = Start::kRandom;
  options.disabled_passes = {"permute", "straighten_axes"};  // sweeps alone, with pairs as matrices
  const Plan plan = make_plan(generate(family, {26, 0, 1}), machine, options);
  double seconds = 0;
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) seconds += sweep.predicted_seconds;
  }
  return seconds;
}

TEST(GpuPace, IsThatOfAnH200WhereNothingElseIsKnown) {
  EXPECT_EQ(pace_of({}), GpuPace());
  EXPECT_EQ(pace_of(kH200), GpuPace());
  EXPECT_EQ(pace_of({kH200.memory_bytes * 0.99, kH200.single_operations / 1.02, -1.0, false}), GpuPace());
  EXPECT_EQ(slowest_gpu({}, {}), GpuPace());
  const Machine machine = gpu_machine({}, "some card");
  EXPECT_EQ(machine.name, "h200");
  EXPECT_EQ(machine.cost_double.read_bytes_per_second, find_machine("h200").cost_double.read_bytes_per_second);
  EXPECT_TRUE(machine.cost_double.lanes.has_value());
}

TEST(GpuPace, FollowsTheCardsOwnRates) {
  EXPECT_EQ(pace_of(kH100), (GpuPace{1384, 1000, 1000, 0}));
  const GpuPace a100 = pace_of(kA100);
  EXPECT_EQ(a100.memory, 2276);
  EXPECT_NEAR(static_cast<double>(a100.in_double), 3433, 1);
  EXPECT_EQ(a100.without_lanes, 1);
  EXPECT_NEAR(static_cast<double>(a100.in_single), 3433, 1);
  EXPECT_GT(pace_of(kGeForce).in_double, 20'000);
  EXPECT_LT(pace_of(kGeForce).in_single, 1000);
}

TEST(GpuPace, SlowsMemoryAndArithmeticApart) {
  const Machine h200 = find_machine("h200"), h100 = gpu_machine(pace_of(kH100), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(h100.name, "NVIDIA H100 80GB HBM3");
  EXPECT_NEAR(h100.cost_single.write_bytes_per_second, h200.cost_single.write_bytes_per_second / 1.384, 1);
  // Its memory leaves it more power for arithmetic.
  EXPECT_NEAR(h100.cost_double.matrix1_general, 0.87 * h200.cost_double.matrix1_general, 0.2);
  ASSERT_TRUE(h100.cost_double.lanes.has_value());
  EXPECT_NEAR(h100.cost_double.lanes->matrix_dense[2], 0.87 * h200.cost_double.lanes->matrix_dense[2], 2);
  // Sweeps that only move memory take as much longer as memory does, blocks on lanes as long.
  EXPECT_NEAR(predicted(h100, "ghz", Precision::kDouble) / predicted(h200, "ghz", Precision::kDouble), 1.384, 0.02);
  const double qv = predicted(h100, "qv", Precision::kDouble) / predicted(h200, "qv", Precision::kDouble);
  EXPECT_GT(qv, 0.97);  // 1.01 is measured
  EXPECT_LT(qv, 1.05);
}

TEST(GpuPace, SaysWhichCardsWereNotMeasured) {
  EXPECT_EQ(gpu_machine(pace_of(kH200), "NVIDIA H200").name, "h200");
  EXPECT_EQ(gpu_machine(pace_of(kH100), "NVIDIA H100 80GB HBM3").name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu_machine(pace_of(kA100), "NVIDIA A100").name, "NVIDIA A100 (estimated)");
  EXPECT_EQ(find_machine("h100").name, "h100");
  EXPECT_EQ(find_machine("a100").name, "a100 (estimated)");
  for (const KnownGpu& gpu : known_gpus()) {
    const Machine known = find_machine(std::string(gpu.name)), run = gpu_machine(pace_of(gpu.rates), "card");
    EXPECT_EQ(known.cost_double.read_bytes_per_second, run.cost_double.read_bytes_per_second) << gpu.name;
    EXPECT_EQ(known.memory_bytes_per_rank, gpu.memory_bytes) << gpu.name;
  }
}

// A card for games: memory at a fifth, double at a twenty-sixth of an H200's, and tensor cores that are none for
// double.
TEST(GpuPace, TakesTensorCoresOnlyWhereTheyAreFasterInDouble) {
  const Machine card = gpu_machine(pace_of(kGeForce), "NVIDIA GeForce RTX 4090");
  EXPECT_FALSE(card.cost_double.lanes.has_value());
  EXPECT_GT(predicted(card, "qv", Precision::kDouble), 5 * predicted(card, "qv", Precision::kSingle));
  EXPECT_FALSE(gpu_machine(pace_of(kA100), "NVIDIA A100").cost_double.lanes.has_value());
}

TEST(GpuPace, IsTheSlowestsOfThoseThatTakePart) {
  GpuSurvey survey;
  survey.devices = {{0, "NVIDIA H200", 0, kH200}, {1, "NVIDIA H100", 0, kH100}, {2, "NVIDIA A100", 0, kA100}};
  Target target;
  EXPECT_EQ(slowest_gpu(survey, target), pace_of(kA100));
  EXPECT_EQ(GpuPace({1000, 2000, 1000, 0}).slower_of({1500, 1000, 900, 1}), (GpuPace{1500, 2000, 1000, 1}));
  target.gpu_ids = {0, 1};
  EXPECT_EQ(slowest_gpu(survey, target), pace_of(kH100));
  target.gpu_ids = {0};
  EXPECT_EQ(slowest_gpu(survey, target), GpuPace());
}

}  // namespace
}  // namespace qsim
