// The fixture of the backends' contract.
#include "backend_contract.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "base/bits.h"
#include "base/layout.h"
#include "plan/cost/pool_layout.h"
#include "qsim/error.h"
#include "support/sweep_reference.h"
#include "support/tolerance.h"

namespace qsim::test {

void BackendContract::SetUp() {
  try {
    backend_ = GetParam().make(GetParam().options);
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  } catch (const UsageError& error) {
    GTEST_SKIP() << error.what();
  }
}

void BackendContract::reserve(std::uint32_t bits) {
  const std::uint64_t bytes = amplitude_bytes(GetParam().options.precision) << bits;
  PoolLayout layout;
  layout.state_bytes = bytes;
  layout.snapshot_bytes = 2 * bytes;
  layout.chunk_bytes = bytes;
  layout.chunk_slots = 3;
  layout.table_bytes = 4 << 20;
  layout.scratch_bytes = 32 << 20;  // a device needs this much for read-outs
  layout.step_bytes = 1 << 16;
  layout.spare_bytes = bytes + 64 * std::min<std::uint64_t>(bytes, 1 << 20);  // of 64 threads
  bits_ = bits;
  backend_->reserve(layout, bits);
}

std::vector<Complex> BackendContract::start(std::uint64_t seed) {
  backend_->fill_random(Layout::identity(static_cast<int>(bits_)), 0, seed, std::pow(2.0, -0.5 * (bits_ + 1)));
  return read();
}

std::vector<Complex> BackendContract::read() const {
  const Index count = bit_mask(bits_);
  std::vector<Complex> values(count);
  std::vector<std::byte> raw(amplitude_bytes(GetParam().options.precision) * count);
  backend_->reader().copy_out(0, count, raw.data());
  if (single()) {
    std::vector<std::complex<float>> narrow(count);
    std::memcpy(narrow.data(), raw.data(), raw.size());
    std::copy(narrow.begin(), narrow.end(), values.begin());
  } else {
    std::memcpy(values.data(), raw.data(), raw.size());
  }
  return values;
}

double BackendContract::sweep_error(const Sweep& sweep, std::uint64_t seed) {
  backend_->clear_sweeps();
  const std::uint32_t handle = backend_->prepare(std::span(&sweep, 1), Summing::kNo);
  const std::vector<Complex> before = start(seed);
  backend_->sweep(handle, ChunkView{}, 0, false);
  return difference(read(), reference_sweep(sweep, ChunkView{}, bits_, before), unborn_after(sweep));
}

std::vector<BackendCase> both_precisions(const std::string& name,
                                         std::unique_ptr<Backend> (*make)(const BackendOptions&),
                                         BackendOptions options) {
  std::vector<BackendCase> cases;
  for (const Precision precision : {Precision::kSingle, Precision::kDouble}) {
    options.precision = precision;
    cases.push_back({name + (precision == Precision::kSingle ? "Single" : "Double"), make, options});
  }
  return cases;
}

std::string case_name(const testing::TestParamInfo<BackendCase>& info) { return info.param.name; }

double BackendContract::tolerance(double depth) const {
  return single() ? 1e-5 * std::sqrt(depth + 1) : 1e-12 * (depth + 1);
}

double BackendContract::norm_tolerance() const {
  const bool by_eight = single() && backend_->info().name == "cuda" && GetParam().options.jit == Jit::kOnly;
  return kernel_norm_tolerance(by_eight ? Precision::kSingle : Precision::kDouble);
}

double difference(const std::vector<Complex>& a, const std::vector<Complex>& b, Index garbage) {
  double worst = 0;
  for (Index i = 0; i < a.size(); ++i) {
    // NaN compares false: it must count as a difference.
    if ((i & garbage) == 0 && !(std::abs(a[i] - b[i]) <= worst)) worst = std::abs(a[i] - b[i]);
  }
  return worst;
}

std::string describe(const Sweep& sweep) {
  std::ostringstream text;
  text << "active";
  for (const Bit bit : sweep.active) text << ' ' << int{bit};
  text << ", store";
  for (const Bit bit : sweep.store) text << ' ' << int{bit};
  text << ", unborn " << sweep.unborn << ", births " << sweep.births.size() << ", reads " << sweep.reads << '\n';
  for (const PlanOp& op : sweep.ops) {
    text << "  form " << static_cast<int>(op.form) << " targets";
    for (int j = 0; j < op.target_count; ++j) text << ' ' << int{op.targets[static_cast<std::size_t>(j)]};
    text << " controls " << op.control_mask << " = " << op.control_value << '\n';
  }
  return text.str();
}

}  // namespace qsim::test
