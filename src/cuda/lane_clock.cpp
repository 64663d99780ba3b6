// Elapsed times are those between two events, to half a microsecond.
#include "cuda/lane_clock.h"

namespace qsim::cuda {

void StreamClock::restart() {
  check(cudaSetDevice(device_), "cudaSetDevice");
  used_ = 0;
  check(cudaEventRecord(zero_.get(), streams_.front().get()), "cudaEventRecord of a time line's beginning");
  check(cudaEventSynchronize(zero_.get()), "cudaEventSynchronize with a time line's beginning");
}

std::uint32_t StreamClock::mark(int lane) {
  check(cudaSetDevice(device_), "cudaSetDevice");
  if (used_ == marks_.size()) marks_.emplace_back(Event::Use::kTime);
  const cudaStream_t stream = streams_.at(static_cast<std::size_t>(lane)).get();
  check(cudaEventRecord(marks_[used_].get(), stream), "cudaEventRecord of a time line");
  return used_++;
}

double StreamClock::seconds(std::uint32_t mark) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, zero_.get(), marks_.at(mark).get()), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace qsim::cuda
