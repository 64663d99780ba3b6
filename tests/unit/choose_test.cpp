// How many ranks are chosen, and when fewer are said to be better.
#include "session/choose/choose.h"

#include <gtest/gtest.h>

#include "circuit/generate/families.h"
#include "device/gpu_parts.h"
#include "plan/cost/machine.h"
#include "plan/cost/pool_layout.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/program/forecast.h"
#include "qsim/circuit.h"
#include "qsim/target.h"

namespace qsim {
namespace {

RanksForecast forecast(std::uint32_t rank_bits, double seconds, bool fits = true) {
  RanksForecast one;
  one.rank_bits = rank_bits;
  one.seconds = seconds;
  one.fits = fits;
  return one;
}

TEST(FirstDone, AnotherRankMustSaveMoreThanItsStart) {
  EXPECT_EQ(first_done(std::vector{forecast(0, 1.0), forecast(1, 0.9), forecast(2, 0.8)}, 0.2), 0u);
  EXPECT_EQ(first_done(std::vector{forecast(0, 1.0), forecast(1, 0.6), forecast(2, 0.5)}, 0.2), 1u);
  EXPECT_EQ(first_done(std::vector{forecast(0, 9.0), forecast(1, 5.0), forecast(2, 3.0)}, 0.2), 2u);
  EXPECT_EQ(first_done(std::vector{forecast(1, 1.0), forecast(2, 0.7)}, 0.2), 1u);  // two more, not one
}

TEST(FirstDone, WhatDoesNotFitIsNotChosen) {
  EXPECT_EQ(first_done(std::vector{forecast(0, 0.1, false), forecast(1, 5.0), forecast(2, 6.0)}, 0.2), 1u);
  EXPECT_EQ(first_done(std::vector{forecast(1, 1.0, false), forecast(2, 1.0, false)}, 0.2), 1u);
}

TEST(FewerRanksNote, IsSaidWhereFewerAreClearlyFasterAndFit) {
  EXPECT_EQ(fewer_ranks_note(std::vector{forecast(0, 4e-3), forecast(1, 10e-3)}),
            "1 of the 2 ranks is faster: predicted 4.00 ms instead of 10.00 ms");
  EXPECT_EQ(fewer_ranks_note(std::vector{forecast(0, 9.8e-3), forecast(1, 10e-3)}), "");
  EXPECT_EQ(fewer_ranks_note(std::vector{forecast(0, 4e-3, false), forecast(1, 10e-3)}), "");
  EXPECT_EQ(fewer_ranks_note(std::vector{forecast(0, 8.0), forecast(1, 4.0), forecast(2, 2.0)}), "");
  EXPECT_EQ(fewer_ranks_note(std::vector{forecast(0, 8.0), forecast(1, 1.0), forecast(2, 2.0)}),
            "2 of the 4 ranks are faster: predicted 1.00 s instead of 2.00 s");
}

TEST(FastestRanks, AreTheFewestTimeThatFitsAndElseAllOfThem) {
  EXPECT_EQ(fastest_ranks(std::vector{forecast(0, 4.0), forecast(1, 3.0), forecast(2, 5.0)}).rank_bits, 1u);
  EXPECT_EQ(fastest_ranks(std::vector{forecast(0, 1.0, false), forecast(1, 3.0), forecast(2, 5.0)}).rank_bits, 1u);
  EXPECT_EQ(fastest_ranks(std::vector{forecast(0, 4.9), forecast(1, 5.0)}).rank_bits, 1u);
  EXPECT_EQ(fastest_ranks(std::vector{forecast(2, 5.0)}).rank_bits, 2u);
}

TEST(ForecastRanks, SaysWhatThePlansSay) {
  const Machine machine = find_machine("h200");
  const Circuit circuit = generate("random", {.qubits = 30, .depth = 20});
  PlanOptions options;
  options.start = Start::kRandom;
  const std::vector<RanksForecast> forecasts = forecast_ranks(circuit, machine, options, 0, 3);
  ASSERT_EQ(forecasts.size(), 4u);
  for (const RanksForecast& one : forecasts) {
    options.rank_bits = one.rank_bits;
    const Plan plan = make_plan(circuit, machine, options);
    EXPECT_EQ(one.sweeps, plan_work(plan).sweeps);
    EXPECT_EQ(one.exchanges, plan_work(plan).exchanges);
    EXPECT_DOUBLE_EQ(one.seconds, plan_work(plan).total_seconds);
    EXPECT_EQ(one.memory_bytes_per_rank, pool_layout(plan, machine).total_bytes());
  }
  EXPECT_EQ(forecast_ranks(generate("ghz", {.qubits = 3}), machine, {}, 0, 5).size(), 3u);  // 1 to 4 ranks hold a qubit
}

TEST(ChooseBackend, TakesGpusWhereTheyAreEnoughAndNothingAsksForCores) {
  GpuSurvey none, two;
  none.reason = "no driver";
  two.devices = {{0, "a", 0, {}}, {1, "b", 0, {}}};
  Target target;
  EXPECT_EQ(choose_backend(target, none).backend, BackendKind::kCpu);
  EXPECT_EQ(choose_backend(target, none).reason, "no driver");
  EXPECT_EQ(choose_backend(target, two).backend, BackendKind::kCuda);
  target.ranks = 2;
  EXPECT_EQ(choose_backend(target, two).backend, BackendKind::kCuda);
  target.gpu_ids = {1};
  EXPECT_EQ(choose_backend(target, two).reason, "1 GPU for 2 ranks");
  target.gpu_ids = {};
  target.ranks = 4;
  EXPECT_EQ(choose_backend(target, two).backend, BackendKind::kCpu);
  target.oversubscribe_gpus = true;
  EXPECT_EQ(choose_backend(target, two).backend, BackendKind::kCuda);
  target = {};
  target.threads = 1;
  EXPECT_EQ(choose_backend(target, two).backend, BackendKind::kCpu);
}

}  // namespace
}  // namespace qsim
