// Times of streams, by events.
#pragma once

#include <deque>
#include <vector>

#include "cuda/device.h"
#include "device/backend.h"

namespace qsim::cuda {

/// Marks are timed events; they are made when they are first needed and used again after restart().
class StreamClock final : public LaneClock {
 public:
  StreamClock(int device, const std::vector<Stream>& streams) : device_(device), streams_(streams) {}
  void restart() override;
  std::uint32_t mark(int lane) override;
  double seconds(std::uint32_t mark) override;

 private:
  int device_;
  const std::vector<Stream>& streams_;
  Event zero_{Event::Use::kTime};
  std::deque<Event> marks_;
  std::uint32_t used_ = 0;
};

}  // namespace qsim::cuda
