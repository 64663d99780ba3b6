// Histograms, Bloch vectors and timetables: that every number that goes in stands in the picture, at its length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "picture/charts.h"
#include "picture/svg.h"
#include "plan/cost/cost.h"
#include "plan/cost/machine.h"
#include "plan/make/make_plan.h"
#include "plan/plan.h"
#include "plan/show/show.h"
#include "qsim/circuit.h"
#include "qsim/error.h"
#include "qsim/picture.h"
#include "qsim/program.h"
#include "simulator/simulator.h"
#include "support/simulate.h"

namespace qsim {
namespace {

struct Box {
  double x, y, width;
  std::string tip;
};

/// The rectangles of one style that have a tip.
std::vector<Box> boxes(const std::string& svg, const std::string& style) {
  std::vector<Box> all;
  const std::regex box("<rect x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\"[^>]*class=\"" + style +
                       "\"><title>([^<]*)</title>");
  for (std::sregex_iterator match(svg.begin(), svg.end(), box), end; match != end; ++match) {
    all.push_back({std::stod((*match)[1]), std::stod((*match)[2]), std::stod((*match)[3]), (*match)[4]});
  }
  return all;
}

bool has(const std::string& svg, const std::string& text) {
  return svg.find(">" + text + "</text>") != std::string::npos;
}

TEST(Histogram, BarsAreInTheOrderOfTheirLabelsAndAsLongAsTheirValues) {
  const std::vector<Bar> bars{{"11", 30}, {"00", 60}, {"01", 0}, {"10", 10}};
  const std::string svg = draw_histogram(bars, {.title = "a & b", .unit = "shots"});
  const std::vector<Box> shown = boxes(svg, "c0");
  ASSERT_EQ(shown.size(), 4u);
  const std::vector<std::string> tips{"00: 60, 60.00 %", "01: 0, 0.00 %", "10: 10, 10.00 %", "11: 30, 30.00 %"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(shown[i].tip, tips[i]);
    if (i > 0) {
      EXPECT_GT(shown[i].y, shown[i - 1].y);
    }
  }
  EXPECT_NEAR(shown[3].width * 2, shown[0].width, 0.2);
  EXPECT_NEAR(shown[2].width * 6, shown[0].width, 0.6);
  EXPECT_EQ(shown[1].width, 0);
  EXPECT_TRUE(has(svg, "a &amp; b"));
  EXPECT_TRUE(has(svg, "shots"));
  EXPECT_EQ(svg.find("others"), std::string::npos);
}

TEST(Histogram, OfManyTheLargestAreShownAndTheRestIsSaid) {
  std::vector<Bar> bars;
  for (int i = 0; i < 200; ++i) bars.push_back({std::to_string(1000 + i), i % 2 == 0 ? 1.0 : 1000.0 + i});
  const std::string svg = draw_histogram(bars, {.most = 99});
  EXPECT_EQ(boxes(svg, "c0").size(), 99u);
  EXPECT_EQ(boxes(svg, "c0").front().tip.compare(0, 5, "1003:"), 0);  // 1001 is the smallest of the odd ones
  EXPECT_TRUE(has(svg, "the 99 largest of 200; 101 others together 1101, 1.00 %")) << svg;
  // Of equal ones the first.
  EXPECT_EQ(boxes(draw_histogram(std::vector<Bar>{{"b", 1}, {"c", 1}, {"a", 1}}, {.most = 1}), "c0").front().tip,
            "a: 1, 33.33 %");
}

TEST(Histogram, ProbabilitiesAndLongLabels) {
  const std::string label(100, '1');
  const std::string svg = draw_histogram(std::vector<Bar>{{"0", 0.25}, {label, 0.75}}, {});
  EXPECT_TRUE(has(svg, "0.25"));
  EXPECT_EQ(boxes(svg, "c0").back().tip, label + ": 0.75");
  EXPECT_TRUE(has(svg, std::string(70, '1') + "…"));
  EXPECT_NO_THROW(draw_histogram({}, {}));
  EXPECT_NO_THROW(draw_histogram(std::vector<Bar>{{"0", 0}}, {}));
}

TEST(Histogram, RefusesWhatIsNoHistogram) {
  for (const double bad : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(draw_histogram(std::vector<Bar>{{"0", bad}}, {}), UsageError) << bad;
  }
  EXPECT_THROW(draw_histogram({}, {.most = 0}), UsageError);
}

TEST(Bloch, VectorsPointWhereTheyShould) {
  const auto end = [](double x, double y, double z) {
    const std::string svg = draw_bloch(std::vector<BlochVector>{{"q", x, y, z}});
    std::smatch match;
    EXPECT_TRUE(std::regex_search(svg, match, std::regex("<circle cx=\"([^\"]*)\" cy=\"([^\"]*)\" r=\"4.5\"")));
    return std::pair(std::stod(match[1]), std::stod(match[2]));
  };
  const auto [cx, cy] = end(0, 0, 0);
  EXPECT_LT(end(0, 0, 1).second, cy - 50);  // |0> is up
  EXPECT_GT(end(0, 0, -1).second, cy + 50);
  EXPECT_NEAR(end(0, 0, 1).first, cx, 0.1);
  EXPECT_GT(end(0, 1, 0).first, cx + 45);   // y to the right
  EXPECT_GT(end(1, 0, 0).second, cy + 10);  // x to the reader
  EXPECT_LT(end(1, 0, 0).first, cx - 10);
  EXPECT_NEAR(end(0, 0, 0.5).second - cy, (end(0, 0, 1).second - cy) / 2, 0.2);
  const std::string svg = draw_bloch(std::vector<BlochVector>{{"<q0>", 0.6, 0, -0.8}, {"q1", 0, 0.5, 0}});
  EXPECT_TRUE(has(svg, "&lt;q0&gt;"));
  EXPECT_TRUE(has(svg, "+0.600 +0.000 -0.800"));
  EXPECT_TRUE(has(svg, "length 1.000"));
  EXPECT_TRUE(has(svg, "length 0.500"));
}

TEST(Bloch, RefusesWhatIsNoState) {
  EXPECT_THROW(draw_bloch(std::vector<BlochVector>{{"q", 1, 1, 0}}), UsageError);
  EXPECT_THROW(draw_bloch(std::vector<BlochVector>{{"q", std::nan(""), 0, 0}}), UsageError);
  EXPECT_NO_THROW(draw_bloch({}));
}

TEST(Timetable, TicksAreRound) {
  EXPECT_DOUBLE_EQ(picture::tick_step(10, 5), 2);
  EXPECT_DOUBLE_EQ(picture::tick_step(11, 5), 5);
  EXPECT_DOUBLE_EQ(picture::tick_step(0.013, 4), 0.005);
  EXPECT_DOUBLE_EQ(picture::tick_step(1, 1), 1);
}

TEST(Timetable, BoxesAreWhenTheyAre) {
  picture::Timetable table{"t", {"a note"}, {"one", "two"}, {"r0", "r1"}, {}};
  table.boxes.push_back({0, 0, 1, 0, "in", "first"});
  table.boxes.push_back({1, 1, 4, 1, std::string(500, 'x'), "second"});
  const std::string svg = picture::draw_timetable(table, 800);
  const std::vector<Box> one = boxes(svg, "c0"), two = boxes(svg, "c1");
  ASSERT_EQ(one.size(), 1u);
  ASSERT_EQ(two.size(), 1u);
  EXPECT_NEAR(one[0].x + one[0].width + 1, two[0].x, 0.2);
  EXPECT_NEAR(3 * (one[0].width + 1), two[0].width + 1, 0.3);
  EXPECT_GT(two[0].y, one[0].y);
  EXPECT_TRUE(has(svg, "in"));
  EXPECT_FALSE(has(svg, std::string(500, 'x')));  // does not fit
  for (const char* words : {"t", "a note", "one", "two", "r0", "r1"}) EXPECT_TRUE(has(svg, words)) << words;
}

/// Places of the circles of one style.
std::vector<std::pair<double, double>> circles(const std::string& svg, const std::string& style) {
  std::vector<std::pair<double, double>> all;
  const std::regex circle("<circle cx=\"([^\"]*)\" cy=\"([^\"]*)\" r=\"[^\"]*\" class=\"" + style + "\"><title>");
  for (std::sregex_iterator match(svg.begin(), svg.end(), circle), end; match != end; ++match) {
    all.emplace_back(std::stod((*match)[1]), std::stod((*match)[2]));
  }
  return all;
}

TEST(Roofline, PointsLieUnderTheirCeilings) {
  // At the memory ceiling, at the arithmetic one, and at half of both.
  const std::vector<picture::RooflinePoint> points{
      {1, 0.5, 1, 2, "memory"}, {1, 4, 4, 8, "arithmetic"}, {1, 1, 2, 0, "neither"}, {0, 1, 1, 1, "nothing"}};
  const std::string svg = picture::draw_roofline(points, "a note", 800);
  const auto predicted = circles(svg, "ring"), measured = circles(svg, "c1");
  ASSERT_EQ(predicted.size(), 3u);
  ASSERT_EQ(measured.size(), 2u);
  EXPECT_EQ(measured[0].first, predicted[0].first);
  const double half = measured[0].second - predicted[0].second;  // a factor of 2 on the axis of shares
  EXPECT_GT(half, 10);
  EXPECT_NEAR(measured[1].second - predicted[1].second, half, 0.2);
  EXPECT_NEAR(predicted[1].second - predicted[0].second, 2 * half, 0.2);
  EXPECT_NEAR(predicted[2].second - predicted[0].second, half, 0.2);
  const double doubling = predicted[2].first - predicted[0].first;
  EXPECT_NEAR(predicted[1].first - predicted[2].first, 2 * doubling, 0.2);
  EXPECT_TRUE(has(svg, "a note"));
  EXPECT_TRUE(has(svg, "100 %"));
  EXPECT_NO_THROW(picture::draw_roofline({}, "", 0));
}

TEST(Roofline, BoundsAreThoseThatTheTimeIsMadeOf) {
  const Machine machine = find_machine("h200");
  Circuit circuit(20);
  for (Qubit q = 0; q < 20; ++q) circuit.h(q).rx(0.1, q);
  PlanOptions options;
  options.start = Start::kRandom;
  const Plan plan = make_plan(circuit, machine, options);
  for (const Sweep& sweep : plan.stages.at(0).sweeps) {
    const SweepBounds bounds = sweep_bounds(sweep, 20, plan.precision, machine);
    EXPECT_GT(bounds.memory_seconds, 0);
    EXPECT_GE(sweep.predicted_seconds, std::max(bounds.memory_seconds, bounds.arithmetic_seconds));
    EXPECT_LE(sweep.predicted_seconds,
              bounds.memory_seconds + bounds.arithmetic_seconds + machine.cost_double.sweep_overhead);
  }
}

/// The time line of a run names the plan's sweeps: each that is timed, on each rank, is one of the plan's.
TEST(TimeLine, NamesEverySweepOfThePlanAndNoOther) {
  RunOptions options;
  options.backend = BackendKind::kCpu;
  options.pictures = true;
  options.tile_bits = 6;
  Circuit circuit(16);
  for (int layer = 0; layer < 4; ++layer) {
    for (Qubit q = 0; q < 16; ++q) circuit.rx(0.1 * (q + 1) + layer, q);
    for (Qubit q = 0; q < 16; ++q) circuit.cx(q, (q + 5) % 16);
  }
  const Result result = simulate(circuit, options, 4);
  ASSERT_TRUE(result.pictures);
  ASSERT_GT(result.work.exchanges, 0u);
  const auto names = [](const std::string& svg, const std::regex& words) {
    std::set<std::string> all;
    for (std::sregex_iterator match(svg.begin(), svg.end(), words), end; match != end; ++match) all.insert((*match)[1]);
    return all;
  };
  const std::set<std::string> planned =
      names(result.pictures->plan, std::regex("(?:sweep|first write) ([0-9]+\\.[0-9]+): "));
  EXPECT_EQ(planned.size(), result.work.sweeps);
  EXPECT_EQ(names(result.pictures->time_line, std::regex("sweep ([0-9]+\\.[0-9]+): ")), planned);
  EXPECT_EQ(circles(result.pictures->sweeps, "c1").size(), planned.size());
  EXPECT_FALSE(simulate(circuit, {}, 1).pictures);
}

Circuit layers(std::uint32_t qubits) {
  Circuit circuit(qubits);
  for (int layer = 0; layer < 3; ++layer) {
    for (Qubit q = 0; q < qubits; ++q) circuit.rx(0.1 * (q + 1), q).rz(0.3, q);
    for (Qubit q = 0; q + 1 < qubits; ++q) circuit.cx(q, q + 1);
  }
  return circuit;
}

TEST(PlanPicture, LengthsAreThePlansSecondsOnEveryRank) {
  const Machine machine = find_machine("h200");
  PlanOptions options;
  options.rank_bits = 2;
  const Plan plan = make_plan(layers(20), machine, options);
  const PlanWork work = plan_work(plan);
  ASSERT_GT(work.exchanges, 0u);
  const std::string svg = plan_svg(plan, machine);
  std::vector<Box> all = boxes(svg, "c0");
  for (const char* style : {"c1", "c2"}) {
    for (const Box& box : boxes(svg, style)) all.push_back(box);
  }
  EXPECT_EQ(all.size(), 4 * (work.sweeps + work.exchanges));
  EXPECT_EQ(boxes(svg, "c2").size(), 4 * work.exchanges);
  double begin = 1e9, end = 0;
  for (const Box& box : all) {
    begin = std::min(begin, box.x);
    end = std::max(end, box.x + box.width);
  }
  // The longest sweep has its share of the predicted time.
  double longest = 0, seconds = 0;
  for (const Box& box : boxes(svg, "c0")) longest = std::max(longest, box.width);
  for (const Stage& stage : plan.stages) {
    for (const Sweep& sweep : stage.sweeps) {
      if (sweep.reads) seconds = std::max(seconds, sweep.predicted_seconds);
    }
  }
  EXPECT_NEAR(longest / (end - begin), seconds / work.total_seconds, 0.01);
}

TEST(PlanPicture, ManyRanksAreSaidAndNotDrawn) {
  PlanOptions options;
  options.rank_bits = 6;
  const Machine machine = find_machine("h200");
  const std::string svg = plan_svg(make_plan(layers(24), machine, options), machine);
  EXPECT_TRUE(has(svg, "all 64 ranks do the same; 8 are shown"));
  EXPECT_TRUE(has(svg, "rank 7"));
  EXPECT_FALSE(has(svg, "rank 8"));
}

TEST(PlanPicture, ProgramsShowEveryPlanOnce) {
  Circuit circuit(3, 1);
  circuit.h(0).add_measure(0, 0).h(0).cx(0, 1).ry(0.3, 2);
  const std::string svg = compile(circuit).timetable();
  EXPECT_NE(svg.find("Program of 3 qubits"), std::string::npos);
  EXPECT_TRUE(has(svg,
                  "2 plans of 3 steps, each plan once; measurements, resets and branches between them are not "
                  "predicted"))
      << svg;
  Circuit open(1);
  open.rx(Parameter{"a"}, 0);
  EXPECT_THROW(compile(open).timetable(), UsageError);
  const double value[] = {0.5};
  EXPECT_NE(compile(open).timetable(value).find("Plan of 1 qubit in double"), std::string::npos);
}

}  // namespace
}  // namespace qsim
