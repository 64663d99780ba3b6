// The threads of a block as coroutines of one thread: each runs until it waits at a barrier. What one leaves for others
// without a barrier between is not there yet, or has gone, every time.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace qsim::test {

class HostBlock {
 public:
  explicit HostBlock(unsigned threads);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  /// Runs `body` as every thread; `number` is the running one's at any time. Throws std::runtime_error when threads
  /// wait for others that do not come.
  void run(unsigned& number, const std::function<void()>& body);

  /// Called by the running thread: waits for all threads of the block, or of its warp of 32.
  void wait_for_block() { wait(State::kAtBlock); }
  void wait_for_warp() { wait(State::kAtWarp); }

 private:
  enum class State { kReady, kAtBlock, kAtWarp, kDone };
  static void enter(unsigned low, unsigned high);
  void wait(State state);
  /// Lets go who need not wait any longer; false when that is nobody.
  bool release();

  std::vector<State> state_;
  std::vector<ucontext_t> context_;
  ucontext_t scheduler_{};
  const std::function<void()>* body_ = nullptr;
  unsigned running_ = 0;
  std::byte* stacks_ = nullptr;
};

}  // namespace qsim::test
