// An event is a pair of counters, what was recorded and what of it is done; a wait remembers what was recorded when it
// was asked for.
#include "peer/host_streams.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "comm/gpu/driver.h"
#include "kernels/cuda/state.h"

namespace {

std::atomic<std::uint32_t> longest_pause{0};
std::atomic<std::uint64_t> pause_seed{1};
std::atomic<std::uint64_t> copies{0}, kernels{0};

std::atomic<std::uint64_t> calls{0}, failing_call{0};
// How long transports wait for a device that does nothing, once a call has failed.
constexpr std::chrono::milliseconds kPatienceAfterFaults{100};

bool fails() { return qsim::test::call_fails(); }

/// Kept for ever, so that one that is named after its end is seen, as the runtime sees it.
struct HostEvent {
  std::atomic<bool> destroyed{false};
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t recorded = 0, done = 0;
};

class HostStream {
 public:
  HostStream() : random_(pause_seed++), thread_([this] { run(); }) {}
  ~HostStream() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void add(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  bool idle() {
    const std::lock_guard lock(mutex_);
    return work_.empty() && !busy_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return work_.empty() && !busy_; });
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !work_.empty(); });
      if (work_.empty()) return;
      const std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      busy_ = true;
      lock.unlock();
      if (const std::uint32_t most = longest_pause; most > 0 && random_() % 3 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random_() % most));
      }
      work();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool busy_ = false, ends_ = false;
  std::mt19937_64 random_;
  std::thread thread_;
};

HostStream& stream_of(cudaStream_t stream) { return *reinterpret_cast<HostStream*>(stream); }
HostEvent& event_of(cudaEvent_t event) { return *reinterpret_cast<HostEvent*>(event); }

/// In pieces, so that whoever reads or writes beside it sees half of it.
void copy_rows(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch, std::size_t width,
               std::size_t rows) {
  ++copies;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t half = width / 2;
    std::memcpy(to + row * to_pitch, from + row * from_pitch, half);
    if (row % 64 == 0) std::this_thread::yield();
    std::memcpy(to + row * to_pitch + half, from + row * from_pitch + half, width - half);
  }
}

std::uint64_t place_of(const qsim::cuda::ViewMap& map, std::uint64_t i) {
  std::uint64_t place = 0;
  for (std::uint32_t run = 0; run < map.runs; ++run) place |= (i & map.run_mask[run]) << map.run_shift[run];
  return place;
}

}  // namespace

namespace qsim::test {

cudaStream_t make_host_stream() { return reinterpret_cast<cudaStream_t>(new HostStream); }
void end_host_stream(cudaStream_t stream) { delete &stream_of(stream); }
void enqueue(cudaStream_t stream, std::function<void()> work) { stream_of(stream).add(std::move(work)); }
void set_pauses(std::uint32_t most, std::uint64_t seed) {
  longest_pause = most;
  pause_seed = seed;
}
void fail_call(std::uint64_t nth) {
  calls = 0;
  failing_call = nth;
}
bool call_fails() { return ++calls == failing_call; }
bool call_has_failed() { return failing_call != 0 && calls >= failing_call; }
CopyCounts copy_counts() { return {copies, kernels}; }

}  // namespace qsim::test

namespace qsim {

std::pair<std::byte*, std::size_t> device_allocation(const void* address) {
  return {static_cast<std::byte*>(const_cast<void*>(address)), 0};
}
void check_cuda(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw std::runtime_error(call);
}
bool AskAgain::pause() {
  std::this_thread::sleep_for(std::chrono::microseconds(20));
  const std::chrono::milliseconds patience = test::call_has_failed() ? kPatienceAfterFaults : patience_;
  return std::chrono::steady_clock::now() - start_ <= patience;
}

namespace cuda {

cudaError_t launch_swap(void* mine, void* theirs, std::size_t element_bytes, const ViewMap& map,
                        std::uint64_t their_value, std::uint64_t begin, std::uint64_t end, cudaStream_t stream) {
  if (fails()) return cudaErrorUnknown;
  test::enqueue(stream, [=] {
    ++kernels;
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::uint64_t place = place_of(map, i);
      std::byte* const here = static_cast<std::byte*>(mine) + (place | map.value) * element_bytes;
      std::swap_ranges(here, here + element_bytes,
                       static_cast<std::byte*>(theirs) + (place | their_value) * element_bytes);
      if (i % 256 == 0) std::this_thread::yield();
    }
  });
  return cudaSuccess;
}

template <class Real>
cudaError_t launch_pack(std::conditional_t<sizeof(Real) == 8, double2, float2>* state,
                        std::conditional_t<sizeof(Real) == 8, double2, float2>* packed, const ViewMap& map,
                        std::uint64_t count, bool unpack, cudaStream_t stream) {
  if (fails()) return cudaErrorUnknown;
  test::enqueue(stream, [=] {
    ++kernels;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto& there = state[place_of(map, i) | map.value];
      (unpack ? there : packed[i]) = unpack ? packed[i] : there;
    }
  });
  return cudaSuccess;
}
template cudaError_t launch_pack<float>(float2*, float2*, const ViewMap&, std::uint64_t, bool, cudaStream_t);
template cudaError_t launch_pack<double>(double2*, double2*, const ViewMap&, std::uint64_t, bool, cudaStream_t);

}  // namespace cuda
}  // namespace qsim

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  if (fails()) return cudaErrorUnknown;
  *event = reinterpret_cast<cudaEvent_t>(new HostEvent);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (fails()) return cudaErrorUnknown;
  return event_of(event).destroyed.exchange(true) ? cudaErrorInvalidResourceHandle : cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (fails()) return cudaErrorUnknown;
  if (event_of(event).destroyed) return cudaErrorInvalidResourceHandle;
  HostEvent& of = event_of(event);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(of.mutex);
    number = ++of.recorded;
  }
  stream_of(stream).add([&of, number] {
    {
      const std::lock_guard lock(of.mutex);
      of.done = std::max(of.done, number);
    }
    of.changed.notify_all();
  });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  if (fails()) return cudaErrorUnknown;
  if (event_of(event).destroyed) return cudaErrorInvalidResourceHandle;
  HostEvent& of = event_of(event);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(of.mutex);
    number = of.recorded;
  }
  stream_of(stream).add([&of, number] {
    std::unique_lock lock(of.mutex);
    of.changed.wait(lock, [&] { return of.done >= number; });
  });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (fails()) return cudaErrorUnknown;
  if (event_of(event).destroyed) return cudaErrorInvalidResourceHandle;
  HostEvent& of = event_of(event);
  const std::lock_guard lock(of.mutex);
  return of.done >= of.recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (fails()) return cudaErrorUnknown;
  return stream_of(stream).idle() ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (fails()) return cudaErrorUnknown;
  stream_of(stream).wait();
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, cudaMemcpyDefault, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind, cudaStream_t stream) {
  if (fails()) return cudaErrorUnknown;
  stream_of(stream).add([=] {
    copy_rows(static_cast<std::byte*>(to), to_pitch, static_cast<const std::byte*>(from), from_pitch, width, height);
  });
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in"; }
cudaError_t cudaGetLastError() { return cudaSuccess; }
// Between processes; ranks are threads here.
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return cudaErrorInvalidDevice; }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) { return cudaErrorInvalidValue; }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) { return cudaErrorInvalidValue; }
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return cudaErrorInvalidValue; }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) { return cudaErrorInvalidValue; }
cudaError_t cudaIpcCloseMemHandle(void*) { return cudaErrorInvalidValue; }

}  // extern "C"
