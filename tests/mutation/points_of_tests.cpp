// Appends to the file that QSIM_MUTATION_COVERAGE names a line for each test that passed: its name, its seconds of
// processor time, the points that it reached, POINT:MASK each (mutation.h).
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "mutation/mutation.h"

namespace {

/// Of this process and of the children that it has waited for.
double processor_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      seconds += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
    }
  }
  return seconds;
}

class PointsOfTests : public testing::EmptyTestEventListener {
 public:
  explicit PointsOfTests(const char* file) : file_(file, std::ios::app) {}

 private:
  void OnTestStart(const testing::TestInfo&) override {
    begin_ = processor_seconds();
    std::memset(qsim_mutation::differs, 0, sizeof(qsim_mutation::differs));
    std::memset(qsim_mutation::state, qsim_mutation::kWatched, sizeof(qsim_mutation::state));
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    std::memset(qsim_mutation::state, 0, sizeof(qsim_mutation::state));
    if (!test.result()->Passed() || test.result()->Skipped()) return;
    file_ << test.test_suite_name() << '.' << test.name() << ' ' << processor_seconds() - begin_;
    for (int point = 0; point < qsim_mutation::kPoints; ++point) {
      if (const unsigned mask = qsim_mutation::differs[point]; mask != 0) file_ << ' ' << point << ':' << mask;
    }
    file_ << std::endl;
  }

  std::ofstream file_;
  double begin_ = 0;
};

bool listen() {
  const char* file = std::getenv("QSIM_MUTATION_COVERAGE");
  if (file != nullptr) testing::UnitTest::GetInstance()->listeners().Append(new PointsOfTests(file));  // takes it over
  return true;
}
[[maybe_unused]] const bool listening = listen();

}  // namespace
