// What every backend must do, tested by one body. A backend joins with one INSTANTIATE_TEST_SUITE_P.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "device/backend.h"

namespace qsim::test {

struct BackendCase {
  std::string name;
  std::unique_ptr<Backend> (*make)(const BackendOptions& options);
  BackendOptions options;
  friend void PrintTo(const BackendCase& one, std::ostream* out) { *out << one.name; }
};

/// Skips where this machine lacks what the case needs (DeviceError, UsageError).
class BackendContract : public testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override;

  /// Reserves a pool for 2^bits amplitudes with two snapshots and two slots of a whole shard.
  void reserve(std::uint32_t bits);
  /// Fills the shard with random amplitudes of norm about 1; returns what it holds then.
  std::vector<Complex> start(std::uint64_t seed);
  std::vector<Complex> read() const;
  /// Runs the sweep on random amplitudes: the largest difference from what its words say, of those that mean something.
  double sweep_error(const Sweep& sweep, std::uint64_t seed);
  bool single() const { return GetParam().options.precision == Precision::kSingle; }
  /// Allowed difference of an amplitude after `depth` operations.
  double tolerance(double depth) const;
  /// Of a norm that sweeps add up; all but compiled kernels in single precision add in double.
  double norm_tolerance() const;

  std::unique_ptr<Backend> backend_;
  std::uint32_t bits_ = 0;
};

/// Largest difference among amplitudes that mean something: those whose index has no bit of `garbage`.
double difference(const std::vector<Complex>& a, const std::vector<Complex>& b, Index garbage);
/// For a test's message.
std::string describe(const Sweep& sweep);

/// Both precisions, all else from `options`.
std::vector<BackendCase> both_precisions(const std::string& name,
                                         std::unique_ptr<Backend> (*make)(const BackendOptions&),
                                         BackendOptions options);
std::string case_name(const testing::TestParamInfo<BackendCase>& info);

}  // namespace qsim::test
